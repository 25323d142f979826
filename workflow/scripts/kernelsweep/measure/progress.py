"""A sweep's live progress: one line on the terminal while a kernel runs, and failed points in the log."""

from __future__ import annotations

import math
import os
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from tqdm import tqdm

from kernelsweep.intervals import Interval
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.pairs import FASTER, SAME, SLOWER, UNDECIDED, paired_ratio, verdict
from kernelsweep.problems.problem_file import Problem
from kernelsweep.sweep.point import Point

MOST_COLUMNS = 80
SECONDS_BETWEEN_UPDATES = 0.1
FEWEST_NAME_COLUMNS = 12  # The name keeps this many however long the rest is.

_LINE = "{desc} {n_fmt}/{total_fmt}, {remaining} left{postfix}"
_LONGEST_TIME_LEFT = "99:59:59"


class EarlyVerdict:
    """The verdict so far on an edited kernel.

    margin  the smallest difference between two versions that matters, as a fraction
    first   a line tells of so many points, which run first
    tell    gets that line
    """

    def __init__(self, margin: float, first: int, tell: Callable[[str], None]) -> None:
        self._margin = margin
        self._first = first
        self._tell = tell
        self._visits: dict[Point, list[Outcome]] = {}
        self._ratios: dict[Point, Interval] = {}

    def add(self, point: Point, outcome: Outcome, bar: tqdm[Any]) -> None:
        """Note a visit; tell the first verdict in place of a bar's line, if it is time for that."""
        if not outcome.before_binary:
            return
        before, visits = len(self), self._visits.setdefault(point, [])
        visits.append(outcome)
        if found := paired_ratio(visits):
            self._ratios[point] = found
        if before < len(self) == self._first:
            bar.clear()
            self._tell(f"{self} (the first {self._first} points, one a size)")

    def __len__(self) -> int:
        """The number of points."""
        return len(self._ratios)

    def __str__(self) -> str:
        """The verdict in words: `1.021 times the time: 12 slower, 3 undecided`."""
        counts = Counter(verdict(found, self._margin) for found in self._ratios.values())
        words = ", ".join(f"{counts[name]} {name}" for name in (SLOWER, FASTER, UNDECIDED, SAME) if counts[name])
        mean = math.exp(statistics.fmean(math.log(found.value) for found in self._ratios.values()))
        return f"{mean:.3f} times the time: {words}"


class Progress:
    """One kernel's progress."""

    def __init__(self, name: str, problem: Problem, columns: int, bar: tqdm[Any], early: EarlyVerdict | None) -> None:
        self._name = name
        self._early = early
        self._problem = problem
        self._columns = columns
        self._bar = bar
        self._best: tuple[float, list[str]] | None = None

    def show(self, done: int, count: int, point: Point, outcome: Outcome) -> None:
        """Count a point that was run; `done` of `count` are done now. A failed point is also printed, for the log."""
        if outcome.status != "ok":
            print(f"{outcome.status}: {point}: {outcome.message}", flush=True)
        elif outcome.samples:
            merit = _merit(self._problem, point, outcome)
            if self._best is None or merit[0] > self._best[0]:
                self._best = merit[0], [f"best {merit[1]}:", *_words(point)]
        if self._early is not None:
            self._early.add(point, outcome, self._bar)
        if self._bar.disable:
            return
        words = str(self._early).split(" ") if self._early else list(self._best[1]) if self._best else []
        counts = f" {done}/{count}, {_LONGEST_TIME_LEFT} left, "
        while words and len(" ".join(words)) > self._columns - FEWEST_NAME_COLUMNS - len(counts):
            words.pop()  # Half a word could be a wrong number, so whole words go.
        best = " ".join(words).removesuffix(":")
        room = max(FEWEST_NAME_COLUMNS, self._columns - len(counts) - len(best))
        self._bar.set_description_str(_shortened(self._name, room), refresh=False)
        self._bar.set_postfix_str(best, refresh=False)
        if self._bar.total is None:
            # The remaining time is estimated from here on: the first point mostly waits for its worker's start.
            self._bar.bar_format, self._bar.total = _LINE, count
            self._bar.n = self._bar.initial = self._bar.last_print_n = done
            self._bar.unpause()
            self._bar.refresh()
        self._bar.total = count  # Fewer, once points need no further visit.
        self._bar.update(done - self._bar.n)


@contextmanager
def progress(name: str, problem: Problem, stream: TextIO, early: EarlyVerdict | None = None) -> Iterator[Progress]:
    """Show a kernel's progress on `stream` during the block: points done, time left, the best point so far.

    name     of the study and the kernel, such as unrolling/unrolled; shortened at the front if the line is too short
    problem  what the kernel computes
    early    the verdict on an edit, shown in place of the best point

    The line is erased when the block ends. Nothing is written to a stream that is no terminal.
    """
    columns = _columns(stream)
    with tqdm(
        desc=_shortened(name, columns),
        bar_format="{desc}",  # until the first point is there
        file=stream,
        disable=not stream.isatty(),
        ncols=columns,
        leave=False,
        mininterval=SECONDS_BETWEEN_UPDATES,
        miniters=1,
        smoothing=0,  # Points come in random order, so the mean of all predicts best.
    ) as bar:
        yield Progress(name, problem, columns, bar, early)


def _columns(stream: TextIO) -> int:
    """The line's width: the terminal's if it is known, but at most MOST_COLUMNS."""
    with suppress(OSError):
        return min(MOST_COLUMNS, os.get_terminal_size(stream.fileno()).columns or MOST_COLUMNS)
    return MOST_COLUMNS


def _shortened(name: str, room: int) -> str:
    """`name`, without its beginning if it has more than `room` letters. Its end names the kernel."""
    return name if len(name) <= room else f"…{name[len(name) - room + 1 :]}"


def _merit(problem: Problem, point: Point, outcome: Outcome) -> tuple[float, str]:
    """How good a timed point is (more is better), with the same in words.

    In place of the time, the bandwidth is shown where their work has bytes.
    """
    time_us = statistics.median(outcome.samples)
    size = problem.work(point).get("bytes")
    if size is None:
        return -time_us, f"{time_us:.2f} µs"
    bandwidth_gbs = size / time_us / 1e3
    return bandwidth_gbs, f"{bandwidth_gbs:.0f} GB/s"


def _words(point: Point) -> list[str]:
    """A point in short words, the numbers first: array 2^24, block 256, unroll 8, int32, sum, cold."""
    numbers = {axis.removesuffix("_size"): value for axis, value in point.items() if isinstance(value, int)}
    return [
        *(f"{axis} {_number(value)}" for axis, value in numbers.items()),
        *(value for value in point.values() if isinstance(value, str)),
    ]


def _number(value: int) -> str:
    """1000, 100,000, or 2^24 for a large power of two."""
    power = value.bit_length() - 1
    return f"2^{power}" if value == 2**power and power > 10 else f"{value:,}" if value >= 10_000 else str(value)
