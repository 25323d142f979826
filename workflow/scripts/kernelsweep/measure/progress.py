"""A sweep's live progress: one line on the terminal while a kernel runs, and failed points in the log."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import numpy as np
from tqdm import tqdm

from kernelsweep.measure.outcome import Outcome
from kernelsweep.sweep.points import Point

MOST_COLUMNS = 80
SECONDS_BETWEEN_UPDATES = 0.1
FEWEST_NAME_COLUMNS = 12  # The name keeps this many however long the rest is.

_LINE = "{desc} {n_fmt}/{total_fmt}, {remaining} left{postfix}"
_LONGEST_TIME_LEFT = "99:59:59"


class Progress:
    """One kernel's progress."""

    def __init__(self, name: str, columns: int, bar: tqdm[Any]) -> None:
        self._name = name
        self._columns = columns
        self._bar = bar
        self._best: tuple[float, list[str]] | None = None

    def show(self, done: int, count: int, point: Point, outcome: Outcome) -> None:
        """Count a point that was run; `done` of `count` are done now. A failed point is also printed, for the log."""
        if outcome.status != "ok":
            print(f"{outcome.status}: {point}: {outcome.message}", flush=True)
        elif outcome.samples:
            merit, text = _merit(point, outcome)
            if self._best is None or merit > self._best[0]:
                self._best = merit, [f"best {text}:", *_words(point)]
        if self._bar.disable:
            return
        counts = f" {done}/{count}, {_LONGEST_TIME_LEFT} left, "
        words = list(self._best[1]) if self._best else []
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
        self._bar.update(done - self._bar.n)


@contextmanager
def progress(name: str, stream: TextIO) -> Iterator[Progress]:
    """Show a kernel's progress on `stream` during the block: points done, time left, the best point so far.

    name  of the study and the kernel, such as unrolling/unrolled; shortened at the front if the line is too short

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
        yield Progress(name, columns, bar)


def _columns(stream: TextIO) -> int:
    """The line's width: the terminal's if it is known, but at most MOST_COLUMNS."""
    with suppress(OSError):
        return min(MOST_COLUMNS, os.get_terminal_size(stream.fileno()).columns or MOST_COLUMNS)
    return MOST_COLUMNS


def _shortened(name: str, room: int) -> str:
    """`name`, without its beginning if it has more than `room` letters. Its end names the kernel."""
    return name if len(name) <= room else f"…{name[len(name) - room + 1 :]}"


def _merit(point: Point, outcome: Outcome) -> tuple[float, str]:
    """How good a timed point is (more is better), and the same in words: bandwidth, or the time of an exchange."""
    time_us = statistics.median(outcome.samples)
    if point["width"] is not None:
        return -time_us, f"{time_us:.2f} µs"
    bandwidth_gbs = point["array_size"] * np.dtype(point["dtype"]).itemsize / time_us / 1e3
    return bandwidth_gbs, f"{bandwidth_gbs:.0f} GB/s"


def _words(point: Point) -> list[str]:
    """The values that a point's bandwidth depends on most: 2^24, int32, block 256, ×8."""
    power = point["array_size"].bit_length() - 1
    return [
        f"2^{power}" if point["array_size"] == 2**power else f"{point['array_size']:,}",
        point["dtype"],
        *(["hot"] if point["cache"] == "hot" else []),
        f"block {point['block_size']}",
        *([f"×{point['unroll']}"] if point["unroll"] > 1 else []),
        *([f"grid {point['grid_size']}"] if point["grid_size"] is not None else []),
        *([f"width {point['width']}"] if point["width"] is not None else []),
    ]
