"""A sweep's live progress: one line on the terminal while a kernel runs, and failed points in the log."""

from __future__ import annotations

import io
import math
import os
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from kernelsweep.base.logs import LINE_FILE
from kernelsweep.device.outcome import Outcome, combined
from kernelsweep.device.pairs import FASTER, SAME, SLOWER, UNDECIDED, pairs_of, verdict
from kernelsweep.statistics import Interval
from kernelsweep.study.point import Point

SECONDS_BETWEEN_UPDATES = 0.1

_LINE = "{desc} {n_fmt}/{total_fmt}, {remaining} left{postfix}"


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
        if (pairs := pairs_of(combined(visits))) and (found := pairs.ratio()):
            self._ratios[point] = found.interval
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

    def __init__(self, bar: tqdm[Any], early: EarlyVerdict | None, log: TextIO | None = None) -> None:
        self._early, self._bar, self._log = early, bar, log

    def show(self, done: int, count: int, point: Point, outcome: Outcome) -> None:
        """Count a point that was run; `done` of `count` are done now. A failed point is also printed, for the log."""
        if outcome.status != "ok":
            print(f"{outcome.status}: {point}: {outcome.message}", file=self._log, flush=True)
        if self._early is not None:
            self._early.add(point, outcome, self._bar)
        if self._bar.disable:
            return
        self._bar.set_postfix_str(str(self._early) if self._early else "", refresh=False)
        if self._bar.total is None:
            # The remaining time is estimated from here on: the first point mostly waits for its worker's start.
            self._bar.bar_format, self._bar.total = _LINE, count
            self._bar.n = self._bar.initial = self._bar.last_print_n = done
            self._bar.unpause()
            self._bar.refresh()
        self._bar.total = count  # Fewer, once points need no further visit.
        self._bar.update(done - self._bar.n)


class _LineFile(io.StringIO):
    """A terminal's line as a file, which another process draws."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if line := text.strip():
            with suppress(OSError):
                self._path.write_text(line, encoding="utf-8")
        return len(text)


class _Bar(tqdm):  # type: ignore[type-arg]
    """A line without tqdm's thread: workers are forks only of a process that has one thread."""

    monitor_interval = 0


@contextmanager
def progress(
    name: str, stream: TextIO, early: EarlyVerdict | None = None, log: TextIO | None = None
) -> Iterator[Progress]:
    """Show a kernel's progress on `stream` during the block: points done, and time left.

    name     of the study and the kernel, such as unrolling/unrolled
    early    the verdict on an edit
    log      gets failed points; left out: standard output

    The line is erased when the block ends. Nothing is written to a stream that is no terminal.
    """
    path = os.environ.get(LINE_FILE)
    stream = _LineFile(Path(path)) if path else stream
    with _Bar(
        desc=name,
        bar_format="{desc}",  # until the first point is there
        file=stream,
        disable=not stream.isatty(),
        dynamic_ncols=True,
        leave=False,
        mininterval=SECONDS_BETWEEN_UPDATES,
        miniters=1,
        smoothing=0,  # Points come in random order, so the mean of all predicts best.
    ) as bar:
        yield Progress(bar, early, log)
    if path:
        Path(path).unlink(missing_ok=True)
