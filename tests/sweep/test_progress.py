"""The progress line on the terminal while a kernel runs, and the progress lines in the log."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from planted import point

from kernelsweep.device.outcome import Outcome, Timing
from kernelsweep.sweep.progress import EarlyVerdict, progress

SIZE = 2**24


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


def test_an_edited_kernel_shows_its_verdict_and_tells_the_first_in_a_line(clock: Clock) -> None:
    terminal, told = Terminal(), list[str]()
    early = EarlyVerdict(0.01, 2, told.append)
    slower = Outcome("ok", visits=[Timing([10.3] * 7, before=[10.0] * 7)], before_binary="b")
    with progress("s/k", terminal, early=early) as shown:
        shown.show(1, 3, point(SIZE), slower)
        assert told == []
        shown.show(2, 3, point(2 * SIZE), slower)
        assert told == ["1.030 times the time: 2 slower (the first 2 points, one a size)"]
        clock.seconds += 1
        same = replace(slower, visits=[Timing([10.0] * 7, before=[10.0] * 7)])
        shown.show(3, 3, point(4 * SIZE), same)
    assert len(told) == 1 and terminal.lines[-1].endswith("left, 1.020 times the time: 2 slower, 1 same")
