"""A quantity of a point that was run, from its outcome."""

from __future__ import annotations

from kernelsweep.intervals import Interval
from kernelsweep.measure.outcome import Outcome
from kernelsweep.problems.problem_file import Problem
from kernelsweep.statistics import summarise_visits
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.study_quantities import ENERGY, TIME, Quantity


def quantity_of_outcome(quantity: Quantity, point: Point, outcome: Outcome, problem: Problem) -> Interval | None:
    """The quantity with its interval; None for a point without a time, or where the device doesn't tell its energy."""
    if outcome.status != "ok" or not outcome.visits:
        return None
    summary = summarise_visits([visit.counted for visit in outcome.visits])
    measured = {TIME: Interval(summary.median, summary.low, summary.high), ENERGY: outcome.energy}
    return quantity.interval({**point, **problem.work(point)}, measured)
