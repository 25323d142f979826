"""Mistakes that the check must find, or mend, each planted in a kernel that is right but for it. On the emulator."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_clock import Timed
from planted import BLOCK_LOOP, CONST, RIGHT, ROOT, built, kernel_in, point, run
from reductions import DTYPES, OPERATIONS, REDUCTION

from kernelsweep.compile import nvcc
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of

LAST_BLOCK_WRITES_NOTHING = "if (blockIdx.x + 1 < gridDim.x) partials[blockIdx.x] = result;"

EVERY_TYPE_AND_OPERATION = list(itertools.product(DTYPES, OPERATIONS))


def kernel_with(folder: Path, ending: str, parameter: str = CONST, plan: str = "block_partials") -> KernelSource:
    path = folder / "planted.cu"
    path.write_text(BLOCK_LOOP.format(name="planted", ending=ending, parameter=parameter))
    return kernel_in(path, plan=plan)


# Writes outside of arrays


class Guarded(EmulatorPlatform):
    """A device on which a kernel may write before and behind an array unnoticed, as on a GPU."""

    guard_bytes = (256, 256)

    def upload(self, memory: Any, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        memory[offset : offset + array.nbytes] = array.view(np.uint8)

    def copy(self, target: Any, source: Any, size: int, offset: int = 0) -> None:
        target[offset : offset + size] = source[:size]

    def fill(self, memory: Any, size: int, word: int) -> None:
        memory[: -(-size // 4) * 4].view(np.uint32)[:] = word


# The element that a kernel writes besides its right results, by the array's size.
OUTSIDE = {1000: "-1", 1001: "int(gridDim.x)", 1002: "int(gridDim.x) + 60"}


def test_a_write_outside_of_an_array_that_leaves_its_results_right_is_found(tmp_path: Path) -> None:
    planted = " ".join(f"if (array_size == {size}) partials[{place}] = 7;" for size, place in OUTSIDE.items())
    kernel, points = kernel_with(tmp_path, f"{RIGHT} {planted}"), [point(size) for size in (*OUTSIDE, 999)]
    runner = Runner(Guarded(), built(kernel, points, tmp_path)[0])
    before, behind, farther, right = (runner.run(VisitRequest(one, instantiation(kernel, one))) for one in points)
    assert "writes before the start of partials: partials[-1]" in before.message
    assert "writes past the end of partials: partials[32]" in behind.message
    assert "writes past the end of partials: partials[92]" in farther.message
    assert [one.status for one in (before, behind, farther, right)] == ["wrong_result"] * 3 + ["ok"]


# Results that are never written


@pytest.mark.parametrize("plan", ["block_partials", "until_one_value"])
def test_a_partial_that_is_never_written_is_found_for_every_type_and_operation(plan: str, tmp_path: Path) -> None:
    # Partials are combined by the host in one plan, by the kernel itself in the other.
    kernel = kernel_with(tmp_path, LAST_BLOCK_WRITES_NOTHING, plan=plan)
    points = [point(97, dtype=dtype, operation=operation) for dtype, operation in EVERY_TYPE_AND_OPERATION]
    outcomes = run(kernel, points, tmp_path, second_input=True)
    passed = [(one["dtype"], one["operation"]) for one, outcome in outcomes.items() if outcome.status != "wrong_result"]
    assert not passed


# Inputs that a kernel changes

IN_PLACE = f"data[first] = result; {RIGHT}"


def test_a_kernel_that_updates_its_input_finds_it_restored_at_every_run(tmp_path: Path) -> None:
    kernel = kernel_with(tmp_path, IN_PLACE, "Element *data")
    points = [point(size, block, dtype="float64") for size in (64, 1000) for block in (32, 64)]
    outcomes = run(kernel, points, tmp_path)
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 4
    assert all(outcome.bit_identical for outcome in outcomes.values())


def test_a_kernel_that_updates_an_input_without_saying_so_is_wrong(tmp_path: Path) -> None:
    kernel = kernel_with(tmp_path, f"const_cast<Element *>(data)[first] = result; {RIGHT}")
    outcome = run(kernel, [point(1000)], tmp_path)[point(1000)]
    assert outcome.status == "wrong_result" and "name it in its updates" in outcome.message


class Copies(Timed):
    """Notes whether the launches of each sample found the input."""

    def __init__(self, inputs: Mapping[int, np.ndarray[Any, Any]]) -> None:
        """`inputs`: the input by its size."""
        super().__init__()
        self.inputs = inputs
        self.found_input: list[bool] = []

    def launch(self, launch: Launch, arguments: Any) -> None:
        right = self.inputs[int(arguments[2])]
        self.found_input.append(np.array_equal(arguments[0].view(right.dtype)[: right.size], right))
        super().launch(launch, arguments)


def runner_on_tiles(
    kernel: KernelSource, points: list[Point], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Runner, Copies]:
    """A runner on an input that repeats a tile of 97 elements, of a seed that no other test keeps inputs of."""
    # The module that the runner loads: after enough other problem files, it is no longer REDUCTION's.
    problem = problem_of(REDUCTION.named, ROOT)
    monkeypatch.setitem(problem.module.names, "TILE_LENGTH", 97)
    task, report = built(kernel, points, folder, seed=97)
    assert report["status"] == "ok", report["message"]
    inputs = {}
    for one in points:
        array = problem.instance("", one, 97).arrays()["data"]
        assert array.contents is not None and array.contents.size == 97
        inputs[one["array_size"]] = np.resize(array.contents, array.size)
    platform = Copies(inputs)
    return Runner(platform, task), platform


# The element that a kernel changes, by the array's size: at both ends of the tile and next to them, in the middle, and
# at the array's end.
CHANGED = {1000: 0, 1001: 96, 1002: 97, 1003: 98, 1004: 500, 1005: 1003, 1006: 1005}


def test_a_change_of_one_element_is_found_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: looking at the first repetition of the tile only, or at whole ones; and blaming the points after this one.
    planted = "".join(
        f"if (array_size == {size} && first <= {changed} && {changed} < first + blockDim.x) written[{changed}] += 1;\n"
        for size, changed in CHANGED.items()
    )
    kernel = kernel_with(tmp_path, f"{RIGHT} Element *written = const_cast<Element *>(data); {planted}")
    right = point(999)
    points = [one for size in CHANGED for one in (point(size), right, point(size, 64), right)]
    runner, platform = runner_on_tiles(kernel, points, tmp_path, monkeypatch)
    outcomes = [runner.run(VisitRequest(one, instantiation(kernel, one))) for one in points]
    assert [outcome.status for outcome in outcomes] == ["ok" if one == right else "wrong_result" for one in points]
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
    failed, right = (runner.run(VisitRequest(one, instantiation(kernel, one))) for one in points)
    assert failed.status in ("wrong_result", "launch_failed")
    assert right.status == "ok"
    assert all(platform.found_input)


@pytest.mark.nvcc
@pytest.mark.parametrize("name", ["compare", "within"])
def test_the_comparisons_on_a_gpu_compile(name: str, tmp_path: Path) -> None:
    ptxas = Path(nvcc.find()).with_name("ptxas")
    source = ROOT / f"workflow/scripts/kernelsweep/device/{name}.ptx"
    subprocess.run([ptxas, "-arch=sm_90", source, "-o", tmp_path / f"{name}.cubin"], check=True)
