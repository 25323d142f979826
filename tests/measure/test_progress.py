"""The progress line on the terminal while a kernel runs, and the progress lines in the log."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from planted import point
from reductions import REDUCTION

from kernelsweep.measure.outcome import Outcome, Visit
from kernelsweep.measure.progress import EarlyVerdict, progress

NAME = "unrolling/completely_unrolled_template"
SIZE = 2**24
BYTES = 4 * SIZE


class Terminal(io.StringIO):
    """A terminal that keeps its output. Its width is given by the test, or unknown."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """The states of its one line, in order, without the blanks that overwrite the state before."""
        return [line.rstrip() for line in self.getvalue().split("\r") if line.strip()]


class Clock:
    """tqdm's clock, moved by the tests."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tqdm.std.time", clock)
    return clock


def timed(bandwidth_gbs: float, status: str = "ok") -> Outcome:
    """The outcome of a point of SIZE 4-byte elements at this bandwidth."""
    return Outcome(status, visits=[Visit([BYTES / bandwidth_gbs / 1e3] * 7)])


def test_counts_time_left_and_the_best_with_its_point(clock: Clock) -> None:
    terminal = Terminal()
    with progress("staged/unrolled", REDUCTION, terminal) as shown:
        clock.seconds += 30  # A slow start of the worker must not count as every point's.
        for done, (bandwidth_gbs, unroll) in enumerate([(1000, 2), (3000, 8), (2000, 4)], start=1):
            shown.show(done, 100, point(SIZE, 256, unroll=unroll, cache="cold"), timed(bandwidth_gbs))
            clock.seconds += 1
    assert terminal.lines == [
        "staged/unrolled",
        "…ed/unrolled 1/100, ? left, best 1000 GB/s: array 2^24 block 256 unroll 2",
        "…ed/unrolled 2/100, 01:38 left, best 3000 GB/s: array 2^24 block 256 unroll 8",
        "…ed/unrolled 3/100, 01:37 left, best 3000 GB/s: array 2^24 block 256 unroll 8",
    ]


def test_the_line_is_gone_in_the_end(clock: Clock) -> None:
    terminal = Terminal()
    with progress("a/b", REDUCTION, terminal) as shown:
        shown.show(1, 1, point(SIZE), timed(1000))
    assert re.search(r"\r +\r$", terminal.getvalue())
    assert "\n" not in terminal.getvalue()


def test_outcomes_that_are_not_ok_go_to_the_log_and_are_never_the_best(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    with progress("a/b", REDUCTION, terminal) as shown:
        shown.show(1, 3, point(SIZE), timed(1000))
        clock.seconds += 1
        wrong = timed(9000, "wrong_result")
        wrong.message = "1 instead of 2"
        shown.show(2, 3, point(SIZE), wrong)
    assert capsys.readouterr().out == f"wrong_result: {point(SIZE)}: 1 instead of 2\n"
    assert "best 1000 GB/s" in terminal.lines[-1]


def test_the_best_needs_no_bytes(clock: Clock) -> None:
    without_bytes: Any = SimpleNamespace(work=lambda _: {"elements": 1000})
    terminal = Terminal()
    with progress("a/b", without_bytes, terminal) as shown:
        for done, time_us in enumerate((3.0, 2.0, 4.0), start=1):
            shown.show(done, 3, point(1000), Outcome("ok", visits=[Visit([time_us] * 7)]))
            clock.seconds += 1
    assert "best 2.00 µs:" in terminal.lines[-1]


@pytest.mark.parametrize(
    ("others", "end"),
    [
        ({}, "array 1,048,579 block 1024"),
        # No half words: they would be wrong.
        ({"grid_size": 4224, "unroll": 16, "dtype": "float64"}, "array 1,048,579 block 1024"),
    ],
)
def test_the_line_fits_into_80_columns(clock: Clock, others: dict[str, Any], end: str) -> None:
    terminal = Terminal()
    with progress(NAME, REDUCTION, terminal) as shown:
        for done in (1, 2):
            shown.show(done, 12345, point(2**20 + 3, 1024, **others), timed(4321))
            clock.seconds += 5
    assert all(len(line) <= 80 for line in terminal.lines)
    assert "template 2/12345, " in terminal.lines[-1], "the name's end is the kernel's, and the counts are all there"
    assert terminal.lines[-1].endswith(end)


def test_an_edited_kernel_shows_its_verdict_and_tells_the_first_in_a_line(clock: Clock) -> None:
    terminal, told = Terminal(), list[str]()
    early = EarlyVerdict(0.01, 2, told.append)
    slower = Outcome("ok", visits=[Visit([10.3] * 7, before=[10.0] * 7)], before_binary="b")
    with progress("s/k", REDUCTION, terminal, early=early) as shown:
        shown.show(1, 3, point(SIZE), slower)
        assert told == []
        shown.show(2, 3, point(2 * SIZE), slower)
        assert told == ["1.030 times the time: 2 slower (the first 2 points, one a size)"]
        clock.seconds += 1
        same = replace(slower, visits=[Visit([10.0] * 7, before=[10.0] * 7)])
        shown.show(3, 3, point(4 * SIZE), same)
    assert len(told) == 1 and terminal.lines[-1].endswith("left, 1.020 times the time: 2 slower, 1 same")
