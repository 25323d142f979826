"""Find the fastest configuration of each kernel at each array size, and those that can't be told apart from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.intervals import ratio, time_interval
from kernelsweep.problems.registry import problem_of
from kernelsweep.results import ALL_POINT_COLUMNS

_TIMES = ("time_us", "time_low_us", "time_high_us", "bandwidth_gbs")


@dataclass(frozen=True)
class Configuration:
    """A launch configuration with its time.

    parameters  the values of the axes that say how a kernel is launched; grid_size is None if the kernel's launch plan
                sets it
    """

    parameters: Mapping[str, Any]
    time_us: float
    time_low_us: float
    time_high_us: float
    bandwidth_gbs: float


@dataclass(frozen=True)
class Best:
    """The fastest of a kernel's configurations at one point.

    undefined  whether the kernel's behaviour is undefined, so that its results may be wrong
    point      the values of the other axes: array_size, dtype, operation, cache
    compared   the number of configurations with a time
    fastest    the one with the shortest median time
    ties       others by time, whose ratio to the fastest time has an interval that contains 1
    """

    study: str
    kernel: str
    undefined: bool
    point: Mapping[str, Any]
    compared: int
    fastest: Configuration
    ties: tuple[Configuration, ...]


def find_best(name: str, data: StudyData, gridded: Collection[str]) -> list[Best]:
    """The best configurations of a study's kernels, in the kernels' order, then by point. Empty without times.

    gridded  the kernels whose grid size is an axis of the sweep
    """
    of_problem = problem_of(data.settings["problem"]).axes
    axes = [axis for axis in ALL_POINT_COLUMNS if axis in of_problem]
    parameters = [axis for axis in axes if of_problem[axis].of_kernel]
    others = [axis for axis in axes if axis not in parameters]
    rows = timed(data.kernel_rows, data.device)
    undefined = undefined_kernels(data.measurements)
    kernels = data.kernel_names
    # By time; the other columns make the order of equal times reproducible.
    ordered = rows[["kernel", *axes, *_TIMES]].sort_values(["time_us", *parameters]).to_dict("records")
    places: dict[tuple[Any, ...], list[Mapping[Any, Any]]] = {}
    for row in ordered:
        places.setdefault(tuple(row[column] for column in ("kernel", *others)), []).append(row)
    found = []
    for place in sorted(places, key=lambda place: (kernels.index(place[0]), *place[1:])):
        kernel, *point = place
        first, *slower = places[place]
        ties = [row for row in slower if is_tie(row, first)]
        fastest, *tied = (_configuration(row, parameters, kernel in gridded) for row in (first, *ties))
        found.append(
            Best(
                study=name,
                kernel=kernel,
                undefined=kernel in undefined,
                point=dict(zip(others, point, strict=True)),
                compared=len(places[place]),
                fastest=fastest,
                ties=tuple(tied),
            )
        )
    return found


def is_tie(row: Mapping[Any, Any], fastest: Mapping[Any, Any]) -> bool:
    """Whether a configuration's time can't be distinguished from the fastest time."""
    return ratio(over=time_interval(row), under=time_interval(fastest)).low <= 1


def _configuration(row: Mapping[Any, Any], parameters: Sequence[str], gridded: bool) -> Configuration:
    grid = {} if gridded else {"grid_size": None}
    values = {name: row[name] for name in parameters}
    return Configuration({**values, **grid}, *(float(row[column]) for column in _TIMES))
