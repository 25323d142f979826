"""Mistakes that the check must find, or mend, each planted in a kernel that is right but for it. On the emulator."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import BLOCK_LOOP, CONST, RIGHT, ROOT, built, kernel_in, point, run

from kernelsweep.build import nvcc
from kernelsweep.measure.point.runner import Runner
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.exchange import Exchange, make_exchange
from kernelsweep.problems.operations import OPERATIONS, supports
from kernelsweep.problems.reduction import Reduction, combine, make_reduction
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation

LAST_BLOCK_WRITES_NOTHING = "if (blockIdx.x + 1 < gridDim.x) partials[blockIdx.x] = result;"

EVERY_TYPE_AND_OPERATION = [
    (dtype, operation) for dtype, operation in itertools.product(CXX_TYPES, OPERATIONS) if supports(operation, dtype)
]


def kernel_with(folder: Path, ending: str, parameter: str = CONST, plan: str = "block_partials") -> KernelSource:
    path = folder / "planted.cu"
    path.write_text(BLOCK_LOOP.format(name="planted", ending=ending, parameter=parameter))
    return kernel_in(path, plan=plan)


# Results that are never written


def test_one_partial_of_two_thousand_that_is_never_written_is_found(tmp_path: Path) -> None:
    # The last block has one element: less than the bound on a float32 sum's error.
    one = point(2**21 + 1, 1024, dtype="float32")
    outcome = run(kernel_with(tmp_path, LAST_BLOCK_WRITES_NOTHING), [one], tmp_path)[one]
    assert outcome.status == "wrong_result"
    assert "found nan" in outcome.message


@pytest.mark.parametrize("plan", ["block_partials", "until_one_value"])
def test_a_partial_that_is_never_written_is_found_for_every_type_and_operation(plan: str, tmp_path: Path) -> None:
    # Partials are combined by the host in one plan, by the kernel itself in the other.
    kernel = kernel_with(tmp_path, LAST_BLOCK_WRITES_NOTHING, plan=plan)
    points = [point(97, dtype=dtype, operation=operation) for dtype, operation in EVERY_TYPE_AND_OPERATION]
    outcomes = run(kernel, points, tmp_path)
    passed = [(one["dtype"], one["operation"]) for one, outcome in outcomes.items() if outcome.status != "wrong_result"]
    assert not passed


def poison(problem: Reduction | Exchange) -> np.ndarray[Any, Any]:
    """Two elements of memory that was poisoned for a problem."""
    return np.full(4, problem.poison, np.uint32).view(problem.dtype)[:2]


@pytest.mark.parametrize(("dtype", "operation"), EVERY_TYPE_AND_OPERATION)
def test_no_input_and_no_partial_reads_as_poison_does(dtype: str, operation: str) -> None:
    reduction = make_reduction(dtype, operation, 2**22, seed=2026)
    found = poison(reduction)[0]
    if reduction.dtype.kind == "f":
        assert np.isnan(found)
        return
    assert found not in reduction.tile
    partials = [combine(part, operation) for part in np.array_split(reduction.tile, 1000)]
    assert found not in partials
    # Each missing partial changes the result, and so do all that are missing together.
    expected = combine(np.array(partials, dtype), operation)
    for missing in (1, 2, 500, 1000):
        left = np.array([found] * missing + partials[missing:], dtype)
        assert combine(left, operation) != expected


@pytest.mark.parametrize("dtype", CXX_TYPES)
def test_no_element_of_an_exchange_reads_as_poison_does(dtype: str) -> None:
    exchange = make_exchange("rotate", dtype, 2**22)
    found = poison(exchange)[0]
    assert found != found or found not in exchange.tile


# Inputs that a kernel changes

IN_PLACE = f"data[first] = result; {RIGHT}"
# Declarations of a parameter through which a kernel may write, or does so whatever they say.
WRITABLE = {
    "constant pointer": ("Element * const data /* updated in place, so it is not const */", IN_PLACE),
    "cast": (CONST, f"const_cast<Element *>(data)[first] = result; {RIGHT}"),
}


@pytest.mark.parametrize("declaration", WRITABLE)
def test_a_kernel_that_updates_its_input_finds_it_restored_at_every_run(declaration: str, tmp_path: Path) -> None:
    parameter, ending = WRITABLE[declaration]
    kernel = kernel_with(tmp_path, ending, parameter)
    points = [point(size, block, dtype="float64") for size in (64, 1000) for block in (32, 64)]
    outcomes = run(kernel, points, tmp_path)
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 4
    assert all(outcome.bit_identical and outcome.updated == ["data"] for outcome in outcomes.values())


def test_a_kernel_that_leaves_its_input_as_it_was_runs_on_the_input_itself(tmp_path: Path) -> None:
    one = point(1000)
    assert not run(kernel_with(tmp_path, RIGHT, "Element *data"), [one], tmp_path)[one].updated


class Copies(EmulatorPlatform):
    """The emulator, with a clock that makes times up; notes whether the launches of each sample found the input."""

    has_clock = True

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__()
        self.array = array
        self.found_input: list[bool] = []

    def time(self, sample: Any, count: int) -> list[float]:
        for _ in range(count):
            sample(lambda: None, lambda: None)
        return [20 + 0.001 * number for number in range(count)]

    def launch(self, variant: str, grid: Any, block: Any, shared_bytes: int, arguments: Any) -> None:
        found = arguments[0].view(self.array.dtype)[: arguments[2]]
        self.found_input.append(np.array_equal(found, self.array[: arguments[2]]))
        super().launch(variant, grid, block, shared_bytes, arguments)


def runner_on_tiles(
    kernel: KernelSource, points: list[Point], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Runner, Copies]:
    """A runner on an input that repeats a tile of 97 elements."""
    monkeypatch.setattr("kernelsweep.problems.reduction.TILE_LENGTH", 97)
    task, report = built(kernel, points, folder)
    assert report["status"] == "ok", report["message"]
    tile = make_reduction("int32", "sum", 97, seed=1).tile
    platform = Copies(np.resize(tile, max(one["array_size"] for one in points)))
    return Runner(platform, task), platform


# The element that a kernel changes, by the array's size: at both ends of the tile and next to them, in the middle, and
# at the array's end.
CHANGED = {1000: 0, 1001: 96, 1002: 97, 1003: 98, 1004: 500, 1005: 1003, 1006: 1005}


def test_a_change_of_one_element_is_found_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: looking at the first repetition of the tile only, or at whole ones; and blaming the points after this one.
    planted = "".join(
        f"if (array_size == {size} && first <= {changed} && {changed} < first + blockDim.x) data[{changed}] += 1;\n"
        for size, changed in CHANGED.items()
    )
    kernel = kernel_with(tmp_path, f"{RIGHT} {planted}", "Element *data")
    right = point(999)
    points = [one for size in CHANGED for one in (point(size), right, point(size, 64), right)]
    runner, platform = runner_on_tiles(kernel, points, tmp_path, monkeypatch)
    outcomes = [runner.run(one, instantiation(kernel, one)) for one in points]
    assert [outcome.status for outcome in outcomes] == ["ok"] * len(points)
    assert [outcome.updated for outcome in outcomes] == [[] if one == right else ["data"] for one in points]
    assert all(platform.found_input)


def test_a_later_visit_restores_what_the_check_found_to_be_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_with(tmp_path, IN_PLACE, "Element *data")
    runner, platform = runner_on_tiles(kernel, [point(1000)], tmp_path, monkeypatch)
    outcome = runner.run(point(1000), instantiation(kernel, point(1000)), check=False, updated=["data"])
    assert outcome.status == "ok" and len(platform.found_input) == len(outcome.samples)
    assert all(platform.found_input)


@pytest.mark.parametrize("ending", ["partials[0] = result;", "partials = nullptr; partials[blockIdx.x] = result;"])
def test_a_point_that_fails_and_changes_the_input_costs_the_others_nothing(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_with(
        tmp_path, f"if (array_size == 1000) {{ data[1] = 77; {ending} }} else {RIGHT}", "Element *data"
    )
    points = [point(1000), point(999)]
    runner, platform = runner_on_tiles(kernel, points, tmp_path, monkeypatch)
    failed, right = (runner.run(one, instantiation(kernel, one)) for one in points)
    assert failed.status in ("wrong_result", "launch_failed")
    assert right.status == "ok"
    assert all(platform.found_input)


@pytest.mark.nvcc
@pytest.mark.parametrize("name", ["compare", "within"])
def test_the_comparisons_on_a_gpu_compile(name: str, tmp_path: Path) -> None:
    ptxas = Path(nvcc.find()).with_name("ptxas")
    source = ROOT / f"workflow/scripts/kernelsweep/platforms/{name}.ptx"
    subprocess.run([ptxas, "-arch=sm_90", source, "-o", tmp_path / f"{name}.cubin"], check=True)
