"""A point with arrays of several types, scalars of every width and two kernels, checked and timed on the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from kernelsweep.build import gcc
from kernelsweep.measure.outcome import flags_of
from kernelsweep.measure.point.checking import check_point
from kernelsweep.measure.point.memory import KernelMemory
from kernelsweep.measure.point.point_run import PointRun
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.problems.problem import Array, Elements, Judgement, RightValues
from kernelsweep.problems.problem import Point as Values
from kernelsweep.sweep.kernels.plan import Launch, Plan
from kernelsweep.sweep.point import Point

COUNT = 1003  # No multiple of a word's elements.
NONE, CHANGES_INPUT, CHANGES_WEIGHTS, LEAVES_SCRATCH, LEAVES_TOTAL = range(5)


@dataclass(frozen=True)
class Weighted:
    """Images of bytes times weights: repeated contents, an updated array, an output with an initial value, scratch."""

    weights_updated: bool = False
    image = np.arange(3, 10, dtype=np.uint8)  # 7 bytes, which repeat
    weights = np.linspace(0, 1, COUNT)
    state = np.linspace(-1, 1, COUNT, dtype=np.float32)

    def arrays(self, point: Values) -> Mapping[str, Array]:
        uints, doubles = np.dtype(np.uint32), np.dtype(np.float64)
        return {
            "image": Array(self.image.dtype, COUNT, self.image),
            "weights": Array(doubles, COUNT, self.weights, updated=self.weights_updated),
            "scratch": Array(np.dtype(np.int16), COUNT),
            "state": Array(self.state.dtype, COUNT, self.state, updated=True, is_result=True),
            "histogram": Array(uints, 4, np.array([7], np.uint32), updated=True, is_result=True),
            "totals": Array(doubles, COUNT + 1, is_result=True),
        }

    def scalars(self, point: Values) -> Mapping[str, np.generic]:
        return {"negative": np.bool_(True), "shift": np.int8(-3), "factor": np.uint16(101), "bias": np.float64(0.1)}

    def right_values(self) -> Mapping[str, RightValues]:
        return {}

    def judge(self, point: Values, results: Mapping[str, Elements], depth: int) -> Judgement:
        image = np.resize(self.image, COUNT)
        products = -(image * 101.0 - 3) * self.weights * 0.5
        assert np.isnan(results["totals"][COUNT]), "no kernel writes it"
        expected = {
            "state": self.state + products.astype(np.float32),
            "histogram": 7 + np.bincount(image % 4, minlength=4),
            "totals": products + 0.1,
        }
        wrong = [name for name, right in expected.items() if not np.array_equal(results[name][: len(right)], right)]
        return Judgement(f"wrong: {', '.join(wrong)}" if wrong else None)


def plan(fault: int) -> Plan:
    tail = ("bias", np.int32(fault), np.uint64(COUNT))
    weigh = ("negative", "image", "scratch", "shift", "histogram", "factor", *tail[1:])
    add = ("state", "scratch", "weights", "totals", np.float32(0.5), *tail)
    return Plan(
        (
            Launch((2, 3, 4), (5, 3, 3), weigh, "weigh"),
            Launch((16, 1, 1), (64, 1, 1), add, "add", shared_bytes=64 * 8),
        )
    )


class Timed(EmulatorPlatform):
    """The emulator with a clock that stands still."""

    has_clock = True

    def time(self, sample: Any, count: int) -> list[float]:
        for _ in range(count):
            sample(lambda: None, lambda: None)
        return [20.0] * count


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Timed:
    folder = tmp_path_factory.mktemp("arrays")
    unit = write_unit(folder / "unit.cpp", [KERNELS / "arrays.cu"], ["weigh", "add"])
    assert gcc.compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE) == ""
    timed = Timed()
    timed.load(folder / "unit.so", {name: {"unit": 0, "entry": n} for n, name in enumerate(("weigh", "add"))})
    return timed


def prepared(memory: KernelMemory, platform: Timed, fault: int, instance: Weighted) -> PointRun:
    run = PointRun(platform, memory, Point({"fault": fault, "cache": "hot"}), plan(fault))
    memory.prepare(run.point, run.plan, instance)
    return run


def test_a_point_of_several_arrays_is_checked_and_restored_before_every_run(platform: Timed) -> None:
    memory, instance = KernelMemory(platform, own_pages=True), Weighted()
    run = prepared(memory, platform, NONE, instance)
    outcome = check_point(run, instance, 1, repeated_runs=3)
    assert (outcome.status, outcome.message, outcome.bit_identical) == ("ok", "", True)
    assert outcome.partial_barrier.endswith(line_of("arrays", "partial barrier")), "some threads leave early"
    assert flags_of(outcome, undefined_behaviour=False) == ["partial_barrier"]
    places = memory.prepare_places(run.point, run.plan)
    assert places == 8
    platform.time(run.samples(places), 2 * places)
    for place in range(places):
        run.preparation(place)()
        run.launches(place)()
        run.check_run()
        for name, right in memory.fetched_results().items():
            found = memory.argument(name, place)[: right.nbytes].view(right.dtype)
            np.testing.assert_array_equal(found[~np.isnan(right)], right[~np.isnan(right)])


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (CHANGES_INPUT, "the result is right, but image is not left as it was"),
        (CHANGES_WEIGHTS, "or among the problem's outputs"),
        (LEAVES_SCRATCH, "wrong: state, totals"),
        (LEAVES_TOTAL, "wrong: totals"),
    ],
)
def test_a_fault_is_found_and_costs_no_other_point(platform: Timed, fault: int, found: str) -> None:
    memory, instance = KernelMemory(platform, own_pages=False), Weighted()
    outcome = check_point(prepared(memory, platform, fault, instance), instance, 1, repeated_runs=1)
    assert outcome.status == "wrong_result" and found in outcome.message
    assert check_point(prepared(memory, platform, NONE, instance), instance, 1, repeated_runs=1).status == "ok"


def test_an_array_that_a_kernel_updates_is_restored_before_every_run(platform: Timed) -> None:
    memory, instance = KernelMemory(platform, own_pages=False), Weighted(weights_updated=True)
    run = prepared(memory, platform, CHANGES_WEIGHTS, instance)
    assert check_point(run, instance, 1, repeated_runs=3).status == "ok"
    run.check_run()
    assert instance.judge(run.point, memory.fetched_results(), 1).mistake is None
