"""Select a few points of a kernel's sweep for compute-sanitizer, which makes a kernel many times slower."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernelsweep.observe.listed_points import at_sizes_of, corner_points, corners_of
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.kernels.launch_plans import edge_sizes
from kernelsweep.sweep.kernels.planner import plan_of
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation

# Points of one kernel. Each costs up to a few seconds under racecheck, the slowest tool.
MOST_CHECKED_POINTS = 24

# Threads of a launch. On an H200, racecheck took 13 s for 16 points of `cascaded_volatile`, half of which launch
# 540,672 threads, and 5 s for 12 points that launch at most 2^18.
MOST_THREADS = 2**18


def points_to_check(
    sweep: KernelSweep, variants: Container[str] | None, small: KernelSweep | None = None
) -> list[PlannedPoint]:
    """Points that show a mistake at an edge: at most MOST_CHECKED_POINTS, but at least one of each group.

    variants  the C++ names of the compiled variants, and points of others are left out; None if all can be compiled
    small     the kernel's sweep on the emulator. Where the kernel lists its own launches, its sizes replace those of
              the sweep if any point runs at them: racecheck takes minutes for 12 products of 4,096 x 4,096 matrices

    A group has one value on each axis that says what is computed, such as the element type and the operation. The first
    group gets every corner of the axes that say how the kernel is launched (the smallest and the largest block size,
    unroll factor and grid) at every size, until there are enough points; each other group gets one of the corners, in
    turn. A point that launches more than MOST_THREADS threads is left out where the kernel has others.
    """

    def runs(point: Point) -> bool:
        is_compiled = variants is None or instantiation(sweep.kernel, point) in variants
        return is_compiled and not sweep.skip_reason(point)

    def runs_quickly(point: Point) -> bool:
        return runs(point) and _threads(sweep.kernel, point) <= MOST_THREADS

    if sweep.kernel.listed and small and (found := at_sizes_of(small, sweep, runs)):
        return _selected(replace(sweep, measured=found), runs)
    return _selected(sweep, runs_quickly) or _selected(sweep, runs)


def _threads(kernel: KernelSource, point: Point) -> int:
    """The threads of a point's largest launch."""
    return max(launch.blocks * launch.threads for launch in plan_of(kernel, point).launches)


def _selected(sweep: KernelSweep, runs: Callable[[Point], bool]) -> list[PlannedPoint]:
    if sweep.kernel.listed:
        return sweep.planned(corner_points(sweep, MOST_CHECKED_POINTS, runs))
    axes = sweep.kernel.problem.axes
    of_group = [name for name, axis in axes.items() if axis.in_variant and not axis.of_kernel]
    of_corner = [name for name, axis in axes.items() if axis.of_kernel]
    swept = sweep.points()
    groups: dict[tuple[Any, ...], dict[Point, list[int]]] = {}
    for point in swept:
        # Nothing is timed, so hot and cold are the same.
        shape = point.at(array_size=1, cache=swept[0]["cache"])
        group = groups.setdefault(tuple(point[name] for name in of_group), {})
        group.setdefault(shape, []).append(point["array_size"])
    by_rank = [ranked for shapes in groups.values() if (ranked := _by_rank(shapes, sweep.kernel, of_corner, runs))]
    if not by_rank:
        return []
    first, *others = by_rank
    thorough = list(dict.fromkeys(point for corners in first for point in corners))
    chosen = thorough[: max(MOST_CHECKED_POINTS - len(others), 1)]
    chosen += [corners[number % len(corners)] for number, (corners, *_) in enumerate(others)]
    return [PlannedPoint(point, instantiation(sweep.kernel, point)) for point in chosen]


def _by_rank(
    shapes: Mapping[Point, Sequence[int]],
    kernel: KernelSource,
    of_corner: Sequence[str],
    runs: Callable[[Point], bool],
) -> list[list[Point]]:
    """A group's points: the corners at each shape's most telling size, then the corners at its next one, and so on."""
    sized = [[shape.at(array_size=size) for size in _sizes(shape, swept, kernel)] for shape, swept in shapes.items()]
    ranks = ([point for point in rank if point is not None and runs(point)] for rank in itertools.zip_longest(*sized))
    return [corners_of(rank, of_corner) for rank in ranks if rank]


def _sizes(shape: Point, swept: Sequence[int], kernel: KernelSource) -> Sequence[int]:
    own = kernel.problem.edge_sizes(swept) if kernel.problem.edge_sizes else ()
    return own or edge_sizes(kernel.plan, shape)
