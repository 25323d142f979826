"""The points of a study with a search: those that the search may measure, and a selection where there are no times."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kernelsweep.problems.problem_file import Problem
from kernelsweep.sweep.kernels.build_targets import target_named
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.spaces import ValidPoints

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
def considered(points: ValidPoints, problem: Problem, target: str | None) -> ValidPoints:
    """The points that a search may measure; on a target without times, a selection of points to check.

    target  what is compiled for, as build_targets names it, or the platform of that name

    Both in the order of `points`.
    """
    return _selection(points) if target_named(target).is_emulator else _candidates(points, problem)


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
