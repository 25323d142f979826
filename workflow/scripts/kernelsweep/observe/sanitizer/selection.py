"""Select a few points of a kernel's sweep for compute-sanitizer, which makes a kernel many times slower."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.launch_plans import round_elements
from kernelsweep.sweep.points import Point, instantiation

# Points of one kernel. Each costs up to a few seconds under racecheck, the slowest tool.
MOST_CHECKED_POINTS = 24

# An exchange runs the sweep's own sizes up to this one, since its boundaries are those of lane groups, not of blocks.
LARGEST_EXCHANGE = 1000


def points_to_check(sweep: KernelSweep, variants: Container[str]) -> list[PlannedPoint]:
    """Points around block boundaries: at most MOST_CHECKED_POINTS, but at least one of each group.

    variants  the C++ names of the compiled variants; points of others are left out

    A group is an element type with an operation, or an exchange's width with its arguments. The first group gets every
    corner of the sweep (the smallest and the largest block size, unroll factor and grid) at every size, up to the
    limit; each other group gets one point, at the corners in turn.
    """
    swept = sweep.points()

    def runs(point: Point) -> bool:
        return instantiation(sweep.kernel, point) in variants and not sweep.skip_reason(point)

    groups: dict[tuple[Any, ...], dict[Point, list[int]]] = {}
    for point in swept:
        # The cache state makes no difference, since nothing is timed.
        shape = point.at(array_size=1, cache=swept[0]["cache"])
        group = groups.setdefault((point["dtype"], point["operation"], point["width"], point["arguments"]), {})
        group.setdefault(shape, []).append(point["array_size"])
    by_rank = [ranked for shapes in groups.values() if (ranked := _by_rank(shapes, sweep.kernel.plan, runs))]
    if not by_rank:
        return []
    first, *others = by_rank
    thorough = list(dict.fromkeys(point for corners in first for point in corners))
    chosen = thorough[: max(MOST_CHECKED_POINTS - len(others), 1)]
    chosen += [corners[number % len(corners)] for number, (corners, *_) in enumerate(others)]
    return [PlannedPoint(point, instantiation(sweep.kernel, point)) for point in chosen]


def _by_rank(shapes: Mapping[Point, Sequence[int]], plan: str, runs: Callable[[Point], bool]) -> list[list[Point]]:
    """A group's points: the corners at each shape's most important size, then at its next one, and so on."""
    sized = [[shape.at(array_size=size) for size in _sizes(shape, swept, plan)] for shape, swept in shapes.items()]
    ranks = ([point for point in rank if point is not None and runs(point)] for rank in itertools.zip_longest(*sized))
    return [_corners(rank) for rank in ranks if rank]


def _sizes(shape: Point, swept: Sequence[int], plan: str) -> list[int]:
    """Array sizes for a shape, the one that executes most code first."""
    if shape["width"] is not None:
        small = sorted({size for size in swept if size <= LARGEST_EXCHANGE}, reverse=True)
        if small:
            return small
    span = round_elements(plan, shape.at(grid_size=None))
    # If the sweep sets the grid size, this size has every thread loop a second time for the last elements.
    largest = 3 * span + 7 if shape["grid_size"] is None else round_elements(plan, shape) + 7
    return [size for size in dict.fromkeys((largest, span - 1, span + 1, 1)) if size > 0]


def _corners(among: Sequence[Point]) -> list[Point]:
    """The points with extreme block sizes, unroll factors and grids, beginning with all smallest and all largest."""
    signs = sorted(itertools.product((1, -1), repeat=3), key=lambda sign: -abs(sum(sign)))

    def corner(block: int, unroll: int, grid: int) -> Point:
        return min(among, key=lambda p: (block * p["block_size"], unroll * p["unroll"], grid * (p["grid_size"] or 0)))

    return list(dict.fromkeys(corner(*sign) for sign in signs))
