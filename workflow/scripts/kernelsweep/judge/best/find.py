"""Find the fastest configuration of each kernel at each array size, and those that can't be told apart from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.intervals import ratio, time_interval

# The fastest configuration is looked for in each group of rows with equal values of these.
_PLACE = ("kernel", "array_size", "dtype", "operation", "cache")
_COLUMNS = (*_PLACE, "block_size", "unroll", "grid_size", "time_us", "time_low_us", "time_high_us", "bandwidth_gbs")


@dataclass(frozen=True)
class Configuration:
    """A launch configuration with its time; grid_size is None if the kernel's launch plan sets it."""

    block_size: int
    unroll: int
    grid_size: int | None
    time_us: float
    time_low_us: float
    time_high_us: float
    bandwidth_gbs: float


@dataclass(frozen=True)
class Best:
    """The fastest of a kernel's configurations at one array size.

    compared   the number of configurations with a time
    fastest    the one with the shortest median time
    ties       others by time, whose ratio to the fastest time has an interval that contains 1
    undefined  whether the kernel's behaviour is undefined, so that its results may be wrong
    """

    study: str
    kernel: str
    undefined: bool
    array_size: int
    dtype: str
    operation: str
    cache: str
    compared: int
    fastest: Configuration
    ties: tuple[Configuration, ...]


def find_best(name: str, data: StudyData, gridded: Collection[str]) -> list[Best]:
    """The best configurations of a study's kernels, in the kernels' order, then by point. Empty without times.

    gridded  the kernels whose grid size is an axis of the sweep
    """
    rows = timed(data.kernel_rows, data.device)
    undefined = undefined_kernels(data.measurements)
    kernels = data.kernel_names
    # By time; the other columns make the order of equal times reproducible.
    ordered = rows[list(_COLUMNS)].sort_values(["time_us", "block_size", "unroll", "grid_size"]).to_dict("records")
    places: dict[tuple[Any, ...], list[Mapping[Any, Any]]] = {}
    for row in ordered:
        places.setdefault(tuple(row[column] for column in _PLACE), []).append(row)
    found = []
    for place in sorted(places, key=lambda place: (kernels.index(place[0]), *place[1:])):
        kernel, array_size, dtype, operation, cache = place
        first, *others = places[place]
        ties = [row for row in others if is_tie(row, first)]
        found.append(
            Best(
                study=name,
                kernel=kernel,
                undefined=kernel in undefined,
                array_size=int(array_size),
                dtype=dtype,
                operation=operation,
                cache=cache,
                compared=len(places[place]),
                fastest=_configuration(first, kernel in gridded),
                ties=tuple(_configuration(row, kernel in gridded) for row in ties),
            )
        )
    return found


def is_tie(row: Mapping[Any, Any], fastest: Mapping[Any, Any]) -> bool:
    """Whether a configuration's time can't be distinguished from the fastest time."""
    return ratio(over=time_interval(row), under=time_interval(fastest)).low <= 1


def _configuration(row: Mapping[Any, Any], gridded: bool) -> Configuration:
    return Configuration(
        block_size=int(row["block_size"]),
        unroll=int(row["unroll"]),
        grid_size=int(row["grid_size"]) if gridded else None,
        time_us=float(row["time_us"]),
        time_low_us=float(row["time_low_us"]),
        time_high_us=float(row["time_high_us"]),
        bandwidth_gbs=float(row["bandwidth_gbs"]),
    )
