"""A sweep's live progress: a kernel's part of the run's line on a terminal, and failed points in the log."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from kernelsweep.base.logs import LINE_FILE
from kernelsweep.device.outcome import Outcome, combined
from kernelsweep.device.pairs import FASTER, SAME, SLOWER, UNDECIDED, pairs_of, verdict
from kernelsweep.statistics import Interval
from kernelsweep.study.point import Point

SECONDS_BETWEEN_UPDATES = 0.1


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

    def add(self, point: Point, outcome: Outcome) -> None:
        """Note a visit; tell the first verdict, if it is time for that."""
        if not outcome.before_binary:
            return
        before, visits = len(self), self._visits.setdefault(point, [])
        visits.append(outcome)
        if (pairs := pairs_of(combined(visits))) and (found := pairs.ratio()):
            self._ratios[point] = found.interval
        if before < len(self) == self._first:
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
    """One kernel's progress.

    line  the file for the kernel's part of the run's line (logs.py); None without a terminal
    """

    def __init__(self, name: str, line: Path | None, early: EarlyVerdict | None, log: TextIO | None) -> None:
        self._name, self._line, self._early, self._log = name, line, early, log
        self._next = 0.0
        self._write(name)

    def show(self, done: int, count: int, point: Point, outcome: Outcome) -> None:
        """Count a point that was run; `done` of `count` are done now. A failed point is also printed, for the log."""
        if outcome.status != "ok":
            print(f"{outcome.status}: {point}: {outcome.message}", file=self._log, flush=True)
        if self._early is not None:
            self._early.add(point, outcome)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SECONDS_BETWEEN_UPDATES
            self._write(f"{self._name} {done}/{count}")

    def _write(self, line: str) -> None:
        if self._line:
            with suppress(OSError):
                self._line.write_text(line, encoding="utf-8")


@contextmanager
def progress(name: str, early: EarlyVerdict | None = None, log: TextIO | None = None) -> Iterator[Progress]:
    """Show a kernel's progress during the block, on a terminal on which the run draws its line.

    name     of the study and the kernel, such as unrolling/unrolled
    early    the verdict on an edit
    log      gets failed points; left out: standard output
    """
    line = Path(os.environ[LINE_FILE]) if os.environ.get(LINE_FILE) else None
    yield Progress(name, line, early, log)
    if line:
        line.unlink(missing_ok=True)
