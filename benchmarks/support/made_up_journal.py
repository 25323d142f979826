"""A kernel's journal of made-up points: written, read back, or read back and made into rows, for growth.py.

    uv run python benchmarks/support/made_up_journal.py write kernel.jsonl 10000 500

The numbers are the number of points, each with three visits, and the number of samples of each point.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

import made_up
from made_up import DEVICE

from kernelsweep.measure.identity import identity_sha256
from kernelsweep.measure.journal import VERSION, Journal
from kernelsweep.measure.outcome import Outcome, Visit, combined, read_outcome
from kernelsweep.measure.rows import measurement_rows, sample_rows
from kernelsweep.results import MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.sweep.point import Point

VISITS = 3


def made_up_points(count: int) -> list[Point]:
    """So many points: the made-up kernels' axes, with as many array sizes as it takes."""
    sizes = -(-count * len(made_up.AXES["array_size"]) // made_up.POINTS)
    return made_up.points(sizes)[:count]


def key(point: Point, visit: int) -> str:
    """The key of a visit, of as many parts as in a sweep."""
    return identity_sha256({"binary": "0" * 64, "point": dict(point), "visit": visit, "device": DEVICE["name"]})


def write(path: Path, every: list[Point], samples: int) -> None:
    """A journal as a sweep leaves it, but for the waiting for the disk at each of its lines."""
    generator = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for point in every:
            for number in range(VISITS):
                times = [round(generator.uniform(20, 21), 3) for _ in range(samples // VISITS)]
                outcome = asdict(Outcome("ok", visits=[Visit(times)]))
                of = {"binary": "0" * 64, "point": dict(point), "sampling": {}, "visit": number}
                value = {"measured": "2026-01-01T00:00:00Z", "outcome": outcome, "of": of, "source_sha256": "0" * 64}
                file.write(json.dumps({"journal": VERSION, "key": key(point, number), "value": value}) + "\n")


def main() -> None:
    """Run the requested command."""
    what, name, count, samples = sys.argv[1:]
    path, every = Path(name), made_up_points(int(count))
    if what == "write":
        write(path, every, int(samples))
        return
    with Journal(path) as journal:
        outcomes = {
            point: combined([read_outcome(journal.get(key(point, number))["outcome"]) for number in range(VISITS)])
            for point in every
        }
    assert sum(len(outcome.visits) for outcome in outcomes.values()) == VISITS * len(every)
    if what == "rows":
        kernel = made_up.kernel()
        known = {"study": "made_up", "kernel": kernel.name}
        rows = measurement_rows(kernel, {"variants": {}}, outcomes, DEVICE, known, 0.005)
        write_rows(path.with_suffix(".points.csv"), MEASUREMENT_COLUMNS, rows)
        write_rows(path.with_suffix(".samples.csv"), SAMPLE_COLUMNS, sample_rows(kernel, outcomes))


if __name__ == "__main__":
    main()
