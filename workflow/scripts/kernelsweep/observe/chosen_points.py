"""Points of a kernel to observe: any of its axes may be a size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.point import Point


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
        return max((point for point in among.points() if not among.skip_reason(point)), key=nearness, default=None)

    # Of a million points, most often one has all values of the reference point that there are.
    if sweep.measured is None and not sweep.searched and len(sweep.axes) == 1 and not sweep.tied:
        there = {axis: [value] for axis, value in compared.items() if value in sweep.axes[0].get(axis, [])}
        if found := nearest(replace(sweep, axes=[{**sweep.axes[0], **there}])):
            return found
    return nearest(sweep)


def corner_points(sweep: KernelSweep, most: int, runs: Callable[[Point], bool]) -> list[Point]:
    """Up to `most` of the points that run: the smallest data first, each with corners of the other axes in turn.

    At first every amount of data gets one corner, then each a second one, and so on.
    """
    data = sweep.kernel.problem.instance_axes
    swept = [point for point in sweep.points() if runs(point)]
    if not swept:
        return []
    of_data: dict[tuple[Any, ...], list[Point]] = {}
    for point in swept:
        if point["cache"] == swept[0]["cache"]:  # Nothing is timed, so hot and cold are the same.
            of_data.setdefault(tuple(point[axis] for axis in data), []).append(point)
    groups = sorted(of_data.values(), key=lambda group: _amount(group[0], data))[:most]
    numbers = [axis for axis, value in swept[0].items() if axis not in data and not isinstance(value, str)]
    # Rotate the corners by group, so that a small sample still covers all of them.
    turned = [_turned(corners_of(group, numbers), number) for number, group in enumerate(groups)]
    ranks = itertools.zip_longest(*turned)
    return [point for rank in ranks for point in rank if point is not None][:most]


def at_sizes_of(small: KernelSweep, sweep: KernelSweep, runs: Callable[[Point], bool]) -> list[Point]:
    """The sweep's points with the data of another sweep of the kernel in place of their own, each once, if they run.

    A point keeps its own value of one axis where it runs only then, as of one by which a macro is set.
    """
    data = sweep.kernel.problem.instance_axes
    sizes = list(dict.fromkeys(tuple((axis, point[axis]) for axis in data) for point in small.points()))
    found: dict[Point, None] = {}
    for point, size in itertools.product(sweep.points(), sizes):
        changes = [dict(size), *(dict(pair for pair in size if pair[0] != axis) for axis in data)]
        found |= dict.fromkeys(itertools.islice(filter(runs, (point.at(**change) for change in changes)), 1))
    return list(found)


# The most points of a proof: where the study has axes for the emulator, and where it has none, since axes that were
# chosen for a GPU take long there.
_MOST_PROVEN, _FEW_PROVEN = 64, 8


def proven_points(sweep: KernelSweep, has_own_axes: bool) -> Sequence[Point]:
    """The points of a kernel's proof beside a GPU, of the emulator's sweep; all of them if they are few.

    has_own_axes  whether the study has axes for the emulator
    """
    most = _MOST_PROVEN if has_own_axes else _FEW_PROVEN
    runs = [point for point in sweep.points() if not sweep.skip_reason(point)]
    return runs if len(runs) <= most else corner_points(replace(sweep, measured=runs), most, lambda point: True)


def corners_of(among: Sequence[Point], axes: Sequence[str]) -> list[Point]:
    """The points with the extreme values on these axes: first all smallest, then all largest, then the mixed ones."""
    every: Iterable[Sequence[int]] = itertools.product((1, -1), repeat=min(len(axes), _MOST_AXES))

    def corner(signs: Sequence[int]) -> Point:
        return min(among, key=lambda p: [sign * (p[axis] or 0) for axis, sign in zip(axes, signs, strict=False)])

    return list(dict.fromkeys(map(corner, sorted(every, key=lambda signs: -abs(sum(signs))))))


# The axes by which corners are told apart; more would double the number of corners each.
_MOST_AXES = 6


def _amount(point: Point, data: Sequence[str]) -> float:
    """How much data a point has, for comparison with others: the product of its sizes."""
    return prod(value for axis in data if isinstance(value := point[axis], int | float))


def _turned(points: Sequence[Point], places: int) -> list[Point]:
    start = places % len(points)
    return [*points[start:], *points[:start]]
