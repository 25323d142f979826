"""A kernel's sweep on a device: its points, and which of them are run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.results import Row, point_columns
from kernelsweep.study.axes import Axes, axes_on_device, grid_of_threads
from kernelsweep.study.expressions import admits, expression
from kernelsweep.study.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.study.kernels.units import EMULATOR, Unit, units_of, variant_name
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import Problem
from kernelsweep.study.spaces import ValidPoints, valid_points

# From a larger space, a search draws this many configurations at random: each proposal is moved to the nearest of them.
# The best of a million is, on average, among the best 0.0001% of all.
MOST_CONFIGURATIONS = 1_000_000

# Without times nothing can be searched. Then so many points with each value of each axis are checked.
CHECKED_PER_VALUE = 2

# The same points whatever the configuration's seed, since builds depend on them.
_SEED = 1

_AT_ONCE = 2**12


# A start of Snakemake asks several times.
@cache
def points_of_search(points: ValidPoints, problem: Problem, target: str | None) -> ValidPoints:
    """The points that a search may measure; on a target without times, a selection of points to check.

    target  what is compiled for, as Target has it, or the platform of that name

    Both in the order of `points`.
    """
    return _selection(points) if target == EMULATOR else _candidates(points, problem)


def place_of(point: Point, problem: Problem) -> tuple[Any, ...]:
    """What a point says of the problem: its size and its condition. Each place is searched by itself."""
    return tuple(value for axis, value in point.items() if not problem.axes[axis].of_kernel)


def axes_of_places(points: ValidPoints, problem: Problem) -> list[str]:
    """The axes that say something of the problem."""
    return [axis for axis in points.axes if not problem.axes[axis].of_kernel]


def _candidates(points: ValidPoints, problem: Problem) -> ValidPoints:
    if len(points) <= MOST_CONFIGURATIONS:
        return points
    keys = points.keys(axis for axis in points.values if problem.axes[axis].of_kernel)
    configurations, number = np.unique(keys, return_inverse=True)
    drawn = np.random.default_rng(_SEED).permutation(len(configurations)) < MOST_CONFIGURATIONS
    return points.at(np.flatnonzero(drawn[number]))


def _selection(points: ValidPoints) -> ValidPoints:
    """Points in which each value of each axis occurs CHECKED_PER_VALUE times or more, if there are as many."""
    places = points.places
    lacking = [np.minimum(np.bincount(column), CHECKED_PER_VALUE) for column in places]
    chosen: list[int] = []
    order = np.random.default_rng(_SEED).permutation(len(points))
    for start in range(0, len(order), _AT_ONCE):
        if not any((of > 0).any() for of in lacking):
            break
        part = order[start : start + _AT_ONCE]
        # Most points have nothing new, so that few are gone through one by one.
        is_new = np.any([of[places[axis, part]] > 0 for axis, of in enumerate(lacking)], axis=0)
        for number in part[is_new]:
            row = list(enumerate(places[:, number]))
            if any(lacking[axis][value] > 0 for axis, value in row):
                chosen.append(number)
                for axis, value in row:
                    lacking[axis][value] -= 1
    return points.at(np.sort(np.array(chosen, np.int64)))


def searched_count(candidates: ValidPoints, problem: Problem, budget: int) -> int:
    """How many of the candidates a search measures: `budget` of each place, or all if a place has fewer."""
    return sum(min(budget, len(numbers)) for numbers in candidates.groups(axes_of_places(candidates, problem)))


def skip_reason(point: Point, kernel: KernelSource, restrictions: Sequence[str], target: str | None) -> str | None:
    """The reason to skip a point of the sweep, or None to run it.

    target        the kernel's compilation target: an architecture such as sm_90, or "emulator"; None for a
                  GPU of any architecture
    """
    if reason := kernel.unsupported_on(target):
        return reason
    for restriction in restrictions:
        if not admits(restriction, point):
            return f"restriction: {restriction}"
    return None


def swept_points(
    sweeps: Iterable[Axes], multiprocessors: int, restrictions: Sequence[str], tied: Sequence[Sequence[str]]
) -> ValidPoints:
    """The points of sweeps on a device; restrictions on the grid, which only a launch tells, are left out."""
    on_device = [axes_on_device(axes, multiprocessors) for axes in sweeps]
    return valid_points(on_device, [text for text in restrictions if not names_grid(text)], tied)


def names_grid(restriction: str) -> bool:
    """Whether a restriction is about the number of blocks, which only a launch on a device tells."""
    return GRID_SIZE in expression(restriction).names


def launched_points(kernel: KernelSource, points: Iterable[Point]) -> list[Point]:
    """The points with the number of blocks that they launch on the axis grid_size, without duplicates.

    A launch that fits its grid to the array is the same for every larger value of the axis. The value may be a number
    of threads, such as "270336 threads".
    """
    if not kernel.chooses_grid:
        return list(points)
    found: dict[Point, None] = {}
    for point in points:
        with_blocks = point.at(grid_size=grid_of_threads(point[GRID_SIZE], point.get("block_size", 1)))
        found[with_blocks.at(grid_size=kernel.plan(with_blocks).launches[0].blocks)] = None
    return list(found)


def launched_columns(kernel: KernelSource, point: Point) -> Row:
    """The columns that identify a point. As in measurements.csv, grid_size is that of the first launch."""
    return {**point_columns(point), "grid_size": kernel.plan(point).launches[0].blocks}


def instantiation(kernel: KernelSource, point: Point) -> str:
    """The name of a point's variant, with C++ names as a demangler prints them: ``unrolled<int, Sum, 2>``.

    Points with equal template arguments, macros and options share a variant.
    """
    return variant_name(kernel.launches.functions(point), kernel.launches.given(point))


def units(kernel: KernelSource, run: Iterable[Point]) -> list[Unit]:
    """The translation units with the variants of these points."""
    return units_of((kernel.launches.functions(point), kernel.launches.given(point)) for point in run)


@dataclass(frozen=True)
class PlannedPoint:
    """A point, the C++ name of its variant, and why it is not run, or None."""

    point: Point
    variant: str
    skipped: str | None = None


@dataclass(frozen=True)
class KernelSweep:
    """A kernel's sweep on a device.

    axes             the axes of each of its sweeps, with grid sizes that may be counted in multiprocessors
    multiprocessors  of the device
    restrictions     expressions that every point must satisfy
    target           what the kernel is compiled for, as in points.skip_reason
    tied             groups of axes that vary together
    searched         whether the study searches: then the points are those that may be measured, or a selection to check
    measured         the points that a search has measured, in place of those; None where it doesn't matter
    """

    kernel: KernelSource
    axes: Sequence[Axes]
    multiprocessors: int
    restrictions: Sequence[str]
    target: str | None
    tied: Sequence[Sequence[str]] = ()
    searched: bool = False
    measured: Sequence[Point] | None = None

    def points(self) -> Sequence[Point]:
        """Every point of the sweep that meets the restrictions."""
        if self.measured is not None:
            return self.measured
        if self.searched:
            return self.candidates()
        launched = launched_points(self.kernel, self._valid())
        of_grid = [text for text in self.restrictions if names_grid(text)]
        return [point for point in launched if all(admits(text, point) for text in of_grid)]

    def candidates(self) -> ValidPoints:
        """The points that a search may measure, or a selection to check."""
        return points_of_search(self._valid(), self.kernel.problem, self.target)

    def _valid(self) -> ValidPoints:
        return swept_points(self.axes, self.multiprocessors, self.restrictions, self.tied)

    def skip_reason(self, point: Point) -> str | None:
        """Why a point is not run, or None."""
        return skip_reason(point, self.kernel, self.restrictions, self.target)

    def planned(self, chosen: Iterable[Point] | None = None) -> list[PlannedPoint]:
        """The points of the sweep, or these; those that differ only in a grid that no launch starts, once."""
        return [*map(self.plan, self.points() if chosen is None else launched_points(self.kernel, chosen))]

    def plan(self, point: Point) -> PlannedPoint:
        """The plan of a point that is launched with its own grid."""
        return PlannedPoint(point, instantiation(self.kernel, point), self.skip_reason(point))
