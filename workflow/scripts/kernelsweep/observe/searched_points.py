"""The points that a search has measured, and the build of some: a search has compiled nothing but what it proposed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import Path

from kernelsweep.build.build import build, gpu_source
from kernelsweep.build.build_report import Report
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.results import read_parameters
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import ValidPoints, units


def searched_points(rows: Iterable[Mapping[str, str]], candidates: ValidPoints, timed: bool) -> list[Point]:
    """The points that were run: the fastest first, and last those that failed.

    rows        of the kernel's points
    candidates  the points that the search could measure
    timed       whether points that failed are left out
    """
    ran = [row for row in rows if (row["time_us"] if timed else row["status"] not in ("skipped", "build_failed"))]
    value_of = {
        axis: {"" if value is None else str(value): value for value in values}
        for axis, values in candidates.combinations.values.items()
    }
    return [
        Point({axis: of[texts[axis]] for axis, of in value_of.items()})
        for row in sorted(ran, key=lambda row: float(row["time_us"] or inf))
        for texts in [{**row, **read_parameters(row["parameters"])}]
    ]


def build_searched(
    kernel: KernelSource,
    points: Sequence[Point],
    target: str,
    include: Sequence[str],
    store: str,
    folder: str,
    workers: int,
) -> tuple[Report, Path]:
    """The build of points that were searched, whose units the store has: its report, and its binary in `folder`.

    The other arguments are those of a job that measures.
    """
    source, binary = gpu_source(kernel.path, kernel, include), Path(folder, "searched.bin")
    return build(source, binary, target, units(kernel, points), workers, UnitStore(Path(store))), binary
