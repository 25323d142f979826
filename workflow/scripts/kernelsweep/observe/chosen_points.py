"""Select the points of a kernel that are observed: profiled, counted, drawn, proven, or run under compute-sanitizer.

Any axis of a kernel may be a size.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.results import with_parameters
from kernelsweep.study.axes import grid_on_device
from kernelsweep.study.kernel_sweep import KernelSweep, PlannedPoint, instantiation, skip_reason
from kernelsweep.study.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import restrictions_of
from kernelsweep.study.settings import ProfiledPoint, StudySettings
from kernelsweep.study.spaces import ValidPoints, valid_points
from kernelsweep.study.study import Study


def searched_points(rows: Iterable[Mapping[str, str]], candidates: ValidPoints, timed: bool) -> list[Point]:
    """The points that a search has run: the fastest first, and last those that failed.

    rows        of the kernel's points
    candidates  the points that the search could measure
    timed       whether points that failed are left out
    """
    ran = [row for row in rows if (row["time_us"] if timed else row["status"] not in ("skipped", "build_failed"))]
    value_of = {
        axis: {"" if value is None else str(value): value for value in values}
        for axis, values in candidates.values.items()
    }
    return [
        Point({axis: of[texts[axis]] for axis, of in value_of.items()})
        for row in sorted(ran, key=lambda row: float(row["time_us"] or inf))
        for texts in [with_parameters(row)]
    ]


# Profiled and counted: the steps of the story at the reference point


def nearest_point(reference: Mapping[str, Any], sweep: KernelSweep) -> Point | None:
    """The point that runs with the most values of the reference point; of several, the first with the most data.

    Where a search has measured, it is the fastest point at the nearest problem size and condition.

    None if no point of the sweep runs.
    """
    data, axes = sweep.kernel.problem.instance_axes, sweep.kernel.problem.axes
    compared = {axis: value for axis, value in reference.items() if sweep.measured is None or not axes[axis].of_kernel}

    def nearness(point: Point) -> tuple[int, float]:
        return sum(point[axis] == value for axis, value in compared.items()), _amount(point, data)

    def nearest(among: KernelSweep) -> Point | None:
        by_nearness = sorted(among.points(), key=nearness, reverse=True)
        return next((point for point in by_nearness if not among.skip_reason(point)), None)

    # Of a million points, most often one has all values of the reference point that there are.
    if sweep.measured is None and not sweep.searched and len(sweep.axes) == 1 and not sweep.tied:
        there = {axis: [value] for axis, value in compared.items() if value in sweep.axes[0].get(axis, [])}
        if found := nearest(replace(sweep, axes=[{**sweep.axes[0], **there}])):
            return found
    return nearest(sweep)


def points_to_profile(study: StudySettings, sweep: KernelSweep) -> list[PlannedPoint]:
    """A kernel's points to profile.

    In a study with steps, these are the kernel's steps at the reference point, and the points that `profiled` names. An
    axis that neither says has its largest number with which the point can run, or its first text. In other studies,
    it is the point that is nearest to the reference point.
    """
    if not study.steps:
        nearest = nearest_point(study.reference, sweep)
        return sweep.planned([nearest]) if nearest else []
    axes, *_ = sweep.axes
    chosen: dict[Point, PlannedPoint] = {}
    for step in (*study.steps, *study.profiled):
        if step.kernel != sweep.kernel.name:
            continue
        values = {**study.reference, **(step.at if isinstance(step, ProfiledPoint) else {})}
        of_step = {**step.axes, GRID_SIZE: step.grid_size}
        values |= {axis: value for axis, value in of_step.items() if axis in axes}
        if values.get(GRID_SIZE) is not None:
            values[GRID_SIZE] = grid_on_device(values[GRID_SIZE], sweep.multiprocessors, values["block_size"])
        tried = {axis: [values[axis]] if axis in values else _in_turn(swept) for axis, swept in axes.items()}
        # Restrictions are reasons here: a step that can't run is a row that says why.
        planned = sweep.planned(valid_points([tried], [], sweep.tied))
        found = next((each for each in planned if not each.skipped), planned[-1])
        chosen[found.point] = found
    return list(chosen.values())


def _in_turn(values: Sequence[Any]) -> list[Any]:
    """The values of an axis to try in turn: numbers from the largest, or the first text."""
    return list(values[:1]) if any(isinstance(value, str) for value in values) else sorted(values, reverse=True)


# Drawn: one block of each step

# Four warps: whole warps fall idle in a tree's second step and third, and its few steps fit into the picture.
DRAWN_BLOCK = 128


@dataclass(frozen=True)
class PicturedStep:
    """A step with a picture.

    place  its place in the story, from 0: in the ladder, or among the kernels of a study without one
    name   of the picture, as `unrolled_x4`; steps that differ in their grid alone have the same one
    """

    place: int
    name: str
    kernel: str
    point: Point


def pictured_steps(study: Study, counted: Mapping[str, Sequence[Point]]) -> list[PicturedStep]:
    """The study's steps, or else its kernels; without those that can't run, and none where outputs are compared.

    counted  the points of each kernel that are counted on the emulator
    """
    if study.settings.compares == "outputs":
        return []
    steps = study.settings.steps
    pictured = []
    shown: list[tuple[str, Mapping[str, Any]]] = [(step.kernel, step.axes) for step in steps]
    for place, (kernel, axes) in enumerate(shown or [(kernel, {}) for kernel in study.kernels]):
        point = next((point for point in counted[kernel] if axes.items() <= point.items()), None)
        if point is not None and steps:
            point = _one_block(study.kernels[kernel], point, restrictions_of(study, kernel))
        if point is not None:
            words = [f"_x{value}" if axis == "unroll" else f"_{axis}{value}" for axis, value in axes.items()]
            name = kernel + "".join(word for word in words if word != "_x1")
            pictured.append(PicturedStep(place, name, kernel, point))
    return pictured


def _one_block(kernel: KernelSource, point: Point, restrictions: Sequence[str]) -> Point | None:
    """The point with one block of four warps in its first launch, or of eight, where it has these axes.

    None where it can't run with either.
    """
    if not {"array_size", "block_size", "unroll"} <= {*point}:
        return point
    grid = {GRID_SIZE: 1} if kernel.chooses_grid else {}
    turns = (4 if kernel.chooses_grid else 1) * point["unroll"]
    small = (point.at(block_size=block, array_size=block * turns, **grid) for block in (DRAWN_BLOCK, 2 * DRAWN_BLOCK))
    return next((each for each in small if not skip_reason(each, kernel, restrictions, EMULATOR)), None)


# Proven, or run under compute-sanitizer: corners of the smallest problems

# The most points of a proof: where the study has axes for the emulator, and where it has none, since axes that were
# chosen for a GPU take long there.
_MOST_PROVEN, _FEW_PROVEN = 64, 8

# Points of one kernel under compute-sanitizer. Each costs up to a few seconds under racecheck, the slowest tool.
MOST_CHECKED_POINTS = 24

# Threads of a launch there. On an H200, racecheck took 13 s for 16 points of `cascaded_volatile`, half of which launch
# 540,672 threads, and 5 s for 12 points that launch at most 2^18.
MOST_THREADS = 2**18

# The axes by which corners are told apart; more would double the number of corners each.
_MOST_AXES = 6


def proven_points(sweep: KernelSweep, has_own_axes: bool) -> Sequence[Point]:
    """The points of a kernel's proof beside a GPU, of the emulator's sweep; all of them if they are few.

    has_own_axes  whether the study has axes for the emulator
    """
    most = _MOST_PROVEN if has_own_axes else _FEW_PROVEN
    runs = [point for point in sweep.points() if not sweep.skip_reason(point)]
    return runs if len(runs) <= most else _corner_points(replace(sweep, measured=runs), most, lambda point: True)


def points_to_check(
    sweep: KernelSweep, variants: Container[str] | None, small: KernelSweep | None = None
) -> list[PlannedPoint]:
    """A few points for compute-sanitizer, of the smallest problems, with corners of the axes that say how they launch.

    variants  the C++ names of the compiled variants, and points of others are left out; None if all can be compiled
    small     the kernel's sweep on the emulator. Its sizes replace the sweep's if any point runs at them: racecheck
              takes minutes for 12 products of 4,096 x 4,096 matrices

    A point that launches more than MOST_THREADS threads is left out where the kernel has others.
    """

    def runs(point: Point) -> bool:
        is_compiled = variants is None or instantiation(sweep.kernel, point) in variants
        return is_compiled and not sweep.skip_reason(point)

    def runs_quickly(point: Point) -> bool:
        launches = sweep.kernel.plan(point).launches if runs(point) else []
        return bool(launches) and max(launch.blocks * launch.threads for launch in launches) <= MOST_THREADS

    found = _at_sizes_of(small, sweep, runs) if small else None
    chosen = replace(sweep, measured=found) if found else sweep
    points = _corner_points(chosen, MOST_CHECKED_POINTS, runs_quickly)
    return sweep.planned(points or _corner_points(chosen, MOST_CHECKED_POINTS, runs))


def _at_sizes_of(small: KernelSweep, sweep: KernelSweep, runs: Callable[[Point], bool]) -> list[Point]:
    """The sweep's points with the data of another sweep of the kernel in place of their own, each once, if they run.

    A point keeps its own value of one axis where it runs only then, as of one by which a macro is set.
    """
    data = sweep.kernel.problem.instance_axes
    sizes = list(dict.fromkeys(tuple((axis, point[axis]) for axis in data) for point in small.points()))
    chosen: dict[Point, None] = {}
    for point, size in itertools.product(sweep.points(), sizes):
        changes = [dict(size), *(dict(pair for pair in size if pair[0] != axis) for axis in data)]
        chosen |= dict.fromkeys(itertools.islice(filter(runs, (point.at(**change) for change in changes)), 1))
    return list(chosen)


def _corner_points(sweep: KernelSweep, most: int, runs: Callable[[Point], bool]) -> list[Point]:
    """Up to `most` of the points that run: the smallest data first, each with corners of the other axes in turn.

    At first every amount of data gets one corner, then each a second one, and so on.
    """
    data = sweep.kernel.problem.instance_axes
    swept = [point for point in sweep.points() if runs(point)]
    # Nothing is timed, so hot and cold are the same.
    of_one_cache = (point for point in swept if point["cache"] == swept[0]["cache"])
    of_data = grouped(of_one_cache, lambda point: tuple(point[axis] for axis in data))
    groups = sorted(of_data.values(), key=lambda group: _amount(group[0], data))[:most]
    turned = []
    for number, group in enumerate(groups):
        corners = _corners_of(
            group, [axis for axis, v in group[0].items() if axis not in data and not isinstance(v, str)]
        )
        # Rotate the corners by group, so that a small sample still covers all of them.
        start = number % len(corners)
        turned.append([*corners[start:], *corners[:start]])
    return [point for rank in itertools.zip_longest(*turned) for point in rank if point is not None][:most]


def _corners_of(among: Sequence[Point], axes: Sequence[str]) -> list[Point]:
    """The points with the extreme values on these axes: first all smallest, then all largest, then the mixed ones."""
    signs_of_corners: Iterable[Sequence[int]] = itertools.product((1, -1), repeat=min(len(axes), _MOST_AXES))

    def corner(signs: Sequence[int]) -> Point:
        return min(among, key=lambda p: [sign * (p[axis] or 0) for axis, sign in zip(axes, signs, strict=False)])

    return list(dict.fromkeys(map(corner, sorted(signs_of_corners, key=lambda signs: -abs(sum(signs))))))


def _amount(point: Point, data: Sequence[str]) -> float:
    """How much data a point has, for comparison with others: the product of its sizes."""
    return prod(value for axis in data if isinstance(value := point[axis], int | float))
