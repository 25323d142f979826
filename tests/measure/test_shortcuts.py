"""Work that a kernel leaves out once it has been checked is found. On the emulator, with a clock that stands still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planted import ROOT, built, kernel_in, point, run

from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.point.runner import Runner
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation


class Clocked(EmulatorPlatform):
    """The emulator with a clock that stands still."""

    has_clock = True

    def time(self, sample: Any, count: int) -> list[float]:
        for _ in range(count):
            sample(lambda: None, lambda: None)
        return [20.0] * count


def timed(name: str, points: list[Point], folder: Path, second_input: bool = True) -> list[Outcome]:
    """The outcomes of a planted kernel's points, one after another in one process."""
    kernel = kernel_in(ROOT / f"tests/planted/{name}.cu")
    task, report = built(kernel, points, folder, second_input=second_input)
    assert report["status"] == "ok", report["message"]
    on_clock = Runner(Clocked(), task)
    return [on_clock.run(one, instantiation(kernel, one)) for one in points]


def test_work_that_is_left_out_when_it_is_timed_is_found(tmp_path: Path) -> None:
    (outcome,) = timed("skips_what_is_there", [point(1000)], tmp_path)
    assert outcome.status == "wrong_result" and not outcome.samples
    assert outcome.message.startswith("right when it was checked, but not when it was timed: value: expected ")


def test_a_result_that_is_kept_by_address_is_found(tmp_path: Path) -> None:
    points = [point(1000), point(1000, dtype="float64"), point(1000)]
    outcomes = timed("cached_by_address", points, tmp_path)
    assert [outcome.status for outcome in outcomes] == ["wrong_result"] * 3
    assert "right for the first input, but not for a second, of another seed: value: expected" in outcomes[0].message
    # Without the second input nobody would know.
    again = tmp_path / "again"  # A library that is loaded once more from its place would still know its results.
    again.mkdir()
    assert timed("cached_by_address", points[:1], again, second_input=False)[0].status == "ok"


def test_points_after_a_second_input_find_the_first_again(tmp_path: Path) -> None:
    points = [point(size, dtype=dtype) for size in (100, 1000, 64) for dtype in ("int32", "float64")]
    assert [outcome.status for outcome in timed("right", points, tmp_path)] == ["ok"] * 6


def test_without_a_clock_only_small_points_have_a_second_input(tmp_path: Path) -> None:
    kernel = kernel_in(ROOT / "tests/planted/cached_by_address.cu")
    points = [point(1000), point(2**16, 64)]
    outcomes = run(kernel, points, tmp_path, second_input=True)
    assert [outcomes[one].status for one in points] == ["wrong_result", "ok"]
