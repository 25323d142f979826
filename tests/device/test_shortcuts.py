"""Work that a kernel leaves out once it has been checked is found. On the emulator, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from model_clock import Timed
from planted import ROOT, built, kernel_in, planted_kernel, point, replaying, run

from kernelsweep.device.outcome import Outcome
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point


class Clocked(Timed):
    """It restores no variables, as Timed does before each sample."""

    def restorations(self, variants: object) -> list[Callable[[], None]]:
        return []

    def leaves_state(self, variants: object) -> bool:
        return False


def timed(kernel: KernelSource, points: list[Point], folder: Path, platform: type[Timed] = Clocked) -> list[Outcome]:
    """The outcomes of a kernel's points, one after another in one process."""
    task, report = built(kernel, points, folder, second_input=True)
    assert report["status"] == "ok", report["message"]
    on_clock = Runner(platform(), task)
    return [on_clock.run(VisitRequest(one, instantiation(kernel, one))) for one in points]


def shipped(name: str) -> KernelSource:
    return kernel_in(ROOT / f"tests/planted/{name}.cu")


def test_work_that_is_left_out_when_it_is_timed_is_found(tmp_path: Path) -> None:
    (outcome,) = timed(shipped("skips_what_is_there"), [point(1000)], tmp_path)
    assert outcome.status == "wrong_result" and not outcome.samples
    assert outcome.message.startswith("right when it was checked, but not when it was timed: value: expected ")


FIRST, TIMED, SECOND = (
    "right at first, but run again",
    "right when it was checked, but not when it was timed",
    "right for the first input, but not for a second",
)


@pytest.mark.parametrize(
    ("by", "when_timed", "restored", "without_clock"),
    [("address", SECOND, SECOND, SECOND), ("size", TIMED, FIRST, SECOND), ("flag", TIMED, FIRST, SECOND),
     ("counter", TIMED, "", SECOND), ("content", "", "", "")],
)  # fmt: skip
def test_results_that_are_kept_are_found(
    by: str, when_timed: str, restored: str, without_clock: str, tmp_path: Path
) -> None:
    kernel, at = planted_kernel(tmp_path, replaying(by)), point(1000)
    for platform, told in ((Clocked, when_timed), (Timed, restored)):
        folder = tmp_path / platform.__name__
        folder.mkdir()
        (outcome,) = timed(kernel, [at], folder, platform)
        assert outcome.message.startswith(told) and (outcome.status == "ok") != bool(told), outcome.message
    # What knows every input gives right results. That it keeps something is seen, and a GPU restores it.
    (tmp_path / "again").mkdir()  # A library that is loaded once more from its place would still know its results.
    checked = run(kernel, [at], tmp_path / "again", second_input=True)[at]
    assert checked.message.startswith(without_clock), checked.message
    assert checked.leaves_state == (checked.status == "ok") == (not without_clock), checked


def test_points_in_one_process_know_no_other_points_input(tmp_path: Path) -> None:
    points = [point(size, dtype=dtype) for size in (100, 1000, 64) for dtype in ("int32", "float64")]
    assert [outcome.status for outcome in timed(shipped("right"), points, tmp_path)] == ["ok"] * 6
    (tmp_path / "again").mkdir()
    kept = timed(shipped("cached_by_address"), [points[3], points[2], points[3]], tmp_path / "again")
    assert [outcome.status for outcome in kept] == ["wrong_result"] * 3


def test_without_a_clock_only_small_points_have_a_second_input(tmp_path: Path) -> None:
    points = [point(1000), point(2**16, 64)]
    outcomes = run(shipped("cached_by_address"), points, tmp_path, second_input=True)
    assert [outcomes[one].status for one in points] == ["wrong_result", "ok"]
