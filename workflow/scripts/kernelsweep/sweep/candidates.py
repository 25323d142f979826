"""The points of a study with a search: those that the search may measure, and a selection where there are no times."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.kernels.build_targets import target_named
from kernelsweep.sweep.points import Point

# From a larger space, a search draws this many configurations at random: each start lists them all.
# The best of 4,000 is, on average, among the best 0.025% of all.
MOST_CONFIGURATIONS = 4_000

# Without times nothing can be searched. Then so many points with each value of each axis are checked.
CHECKED_PER_VALUE = 2

_SEED = "candidates"  # The same points whatever the configuration's seed, since builds depend on them.


def considered(points: Sequence[Point], problem: Problem, target: str | None) -> list[Point]:
    """The points that a search may measure; on a target without times, a selection of points to check.

    target  what is compiled for, as build_targets names it, or the platform of that name

    Both in the order of `points`.
    """
    return _selection(points) if target_named(target).is_emulator else _candidates(points, problem)


def place_of(point: Point, problem: Problem) -> tuple[Any, ...]:
    """What a point says of the problem: its size and its condition. Each place is searched by itself."""
    return tuple(value for axis, value in point.items() if not problem.axes[axis].of_kernel)


def configuration_of(point: Point, problem: Problem) -> Mapping[str, Any]:
    """What a point says of the kernel, by axis."""
    return {axis: value for axis, value in point.items() if problem.axes[axis].of_kernel}


def _candidates(points: Sequence[Point], problem: Problem) -> list[Point]:
    configurations = list(dict.fromkeys(tuple(configuration_of(point, problem).values()) for point in points))
    if len(configurations) <= MOST_CONFIGURATIONS:
        return list(points)
    drawn = set(random.Random(_SEED).sample(configurations, MOST_CONFIGURATIONS))
    return [point for point in points if tuple(configuration_of(point, problem).values()) in drawn]


def _selection(points: Sequence[Point]) -> list[Point]:
    """Points in which each value of each axis occurs CHECKED_PER_VALUE times or more, if there are as many."""
    shuffled = random.Random(_SEED).sample(points, len(points))
    seen: Counter[tuple[str, Any]] = Counter()
    chosen = set()
    for point in shuffled:
        if any(seen[item] < CHECKED_PER_VALUE for item in point.items()):
            chosen.add(point)
            seen.update(point.items())
    return [point for point in points if point in chosen]


def searched_count(candidates: Sequence[Point], problem: Problem, budget: int) -> int:
    """How many of the candidates a search measures: `budget` of each place, or all if a place has fewer."""
    at_place = Counter(place_of(point, problem) for point in candidates)
    return sum(min(budget, count) for count in at_place.values())
