"""Which points need no further visit, because they can no longer be among the fastest of their problem size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.measure.outcome import Outcome, combined
from kernelsweep.problems.problem_file import Problem
from kernelsweep.statistics import summarise_visits
from kernelsweep.sweep.candidates import place_of
from kernelsweep.sweep.point import Point

# How far a point's interval has to lie above that of the fastest, as a fraction. Further visits move a median: among
# 6,637 points of an H200 that take 10 us or more, the visits' medians lay further apart than 9.3% in one of 1,000. In
# replays, 10% changed the ties of 3 in 4,490 best configurations, and 15% of none.
ALLOWANCE = 0.15


def beaten(visited: Mapping[Point, Mapping[int, Outcome]], problem: Problem) -> set[Point]:
    """The points that can't become the fastest of their problem size and condition, nor as fast.

    visited  the outcomes of the visits so far, by their number

    A point that is beaten by some of the points is beaten by all of them, too.
    """
    lows: dict[Point, float] = {}
    least: dict[tuple[Any, ...], float] = {}
    for point, of_point in visited.items():
        outcome = combined(list(of_point.values())) if of_point else None
        if outcome is None or outcome.status != "ok" or not outcome.visits:
            continue
        summary = summarise_visits([visit.counted for visit in outcome.visits])
        lows[point] = summary.low
        place = place_of(point, problem)
        least[place] = min(summary.high, least.get(place, summary.high))
    return {point for point, low in lows.items() if low > (1 + ALLOWANCE) * least[place_of(point, problem)]}
