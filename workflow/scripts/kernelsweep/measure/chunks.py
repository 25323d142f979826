"""A long kernel's sweep in chunks, a job each, that several GPUs can measure side by side.

The points are dealt to the chunks in random order, so that each chunk has some of every variant and array size, and
what differs from GPU to GPU or drifts with time falls on no variant alone. A chunk leaves its points in a journal of
its own, and in a file those that failed, which no journal keeps; the kernel's own job makes the rows of all of them.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from kernelsweep.measure.outcome import Outcome, read_outcome
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.points import Point


def most_points(sweeps: Iterable[Axes]) -> int:
    """How many points the axes of a kernel's sweeps span; those that two of them have in common count twice."""
    return sum(math.prod(map(len, axes.values())) for axes in sweeps)


def chunk_count(points: int, points_per_job: int) -> int:
    """How many chunks so many points are cut into, none with more than points_per_job of them."""
    return max(1, math.ceil(points / points_per_job))


def dealt(points: Sequence[Point], chunk: int, chunks: int, seed: int) -> set[Point]:
    """The points of one of a kernel's chunks, which count from 1: as many as any other has, or one more or less."""
    order = list(points)
    random.Random(f"{seed} chunks").shuffle(order)
    return set(order[chunk - 1 :: chunks])


def write_failures(path: Path, outcomes: Mapping[Point, Outcome]) -> None:
    """Write those of a chunk's outcomes that no journal has."""
    failures = [
        {"point": dict(point), "outcome": asdict(outcome)}
        for point, outcome in outcomes.items()
        if outcome.status != "ok"
    ]
    path.write_text(json.dumps(failures, indent=1) + "\n", encoding="utf-8")


def read_failures(paths: Iterable[Path]) -> dict[Point, Outcome]:
    """The outcomes that the chunks of a kernel have written so."""
    return {
        Point(failure["point"]): read_outcome(failure["outcome"])
        for path in paths
        for failure in json.loads(path.read_text())
    }
