"""A long kernel's sweep in chunks, a job each, that several GPUs can measure side by side.

The points go to the chunks in random order. So each chunk has points of every variant and array size, and a difference
between GPUs, or a drift, affects all variants alike. A chunk's job leaves its points in its own journal, and the points
that failed in a file, because what failed once is run again. The kernel's own job makes the rows of all chunks.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.device.outcome import Outcome, outcome_values, read_outcome
from kernelsweep.study.point import Point


def points_of_chunk(points: Sequence[Point], chunk: int, chunks: int, seed: int) -> set[Point]:
    """The points of a chunk. Chunks count from 1, and their numbers of points differ by at most one."""
    order = list(points)
    random.Random(f"{seed} chunks").shuffle(order)
    return set(order[chunk - 1 :: chunks])


def write_failures(path: Path, outcomes: Mapping[Point, Outcome]) -> None:
    """Write a chunk's failed outcomes, for the job that makes the kernel's rows."""
    failures = [
        {"point": dict(point), "outcome": outcome_values(outcome)}
        for point, outcome in outcomes.items()
        if outcome.status != "ok"
    ]
    write_json(path, failures)


def read_failures(paths: Iterable[Path]) -> dict[Point, Outcome]:
    """The failed outcomes that a kernel's chunks have written."""
    return {
        Point(failure["point"]): read_outcome(failure["outcome"])
        for path in paths
        for failure in json.loads(path.read_text(encoding="utf-8"))
    }
