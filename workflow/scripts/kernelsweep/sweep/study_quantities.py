"""Quantities by which configurations are compared: expressions over a point's time, energy, work and axes.

A study may name its own, and one of all as its objective, which the best configuration has most or least of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import exp, hypot, inf, log
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.intervals import Interval
from kernelsweep.problems.problem_file import Problem
from kernelsweep.results import MEASUREMENT_COLUMNS
from kernelsweep.sweep.expressions import FUNCTIONS, NUMBER, check_kind, expression
from kernelsweep.sweep.settings import StudySettings

# The measured names of an expression: microseconds and millijoules of one run.
TIME, ENERGY = "time_us", "energy_mj"
MEASURED = (TIME, ENERGY)


@dataclass(frozen=True)
class Quantity:
    """A quantity of a point.

    text            the expression that it is computed by
    more_is_better  whether the best point has the most of it
    """

    name: str
    text: str
    unit: str
    more_is_better: bool

    @property
    def needs_energy(self) -> bool:
        """Whether it can't be computed without the energy of a run."""
        return ENERGY in expression(self.text).names

    def interval(self, known: Mapping[str, Any], measured: Mapping[str, Interval | None]) -> Interval | None:
        """The quantity with its 95% interval; None where a value that it needs is missing, or isn't positive.

        known     the point's axes and the counts of its work
        measured  MEASURED

        Each end takes the ends of what was measured, one at a time, and adds the distances in the logarithm by their
        squares, as intervals.ratio() does: for independent errors. Raises UserError for a value that isn't positive.
        """
        computed = expression(self.text)
        uncertain = {name: interval for name, interval in measured.items() if name in computed.names and interval}
        values = {**known, **{name: interval.value for name, interval in uncertain.items()}}
        if not computed.names <= set(values) or any(interval.low <= 0 for interval in uncertain.values()):
            return None

        def logarithm(**replaced: float) -> float:
            value = computed({**values, **replaced})
            if not 0 < value < inf:
                raise UserError(f"{self.text!r} is {value}. Allowed: numbers above 0.")
            return log(value)

        middle = logarithm()
        below = above = 0.0
        for name, interval in uncertain.items():
            moved = [logarithm(**{name: end}) - middle for end in (interval.low, interval.high)]
            below, above = hypot(below, min(0, *moved)), hypot(above, max(0, *moved))
        return Interval(exp(middle), exp(middle - below), exp(middle + above))

    def cost(self, interval: Interval) -> Interval:
        """What is compared, the less the better: the quantity, or what is left of 1 over it."""
        if not self.more_is_better:
            return interval
        return Interval(1 / interval.value, 1 / interval.high, 1 / interval.low)


BUILT_IN = {
    one.name: one
    for one in (
        Quantity(TIME, TIME, "µs", False),
        Quantity(ENERGY, ENERGY, "mJ", False),
        Quantity("gflops", "flops / time_us / 1000", "GFLOP/s", True),
        Quantity("bandwidth_gbs", "bytes / time_us / 1000", "GB/s", True),
    )
}


def quantities_of(settings: StudySettings) -> dict[str, Quantity]:
    """The quantities of a study by name: its own, after those that every study has."""
    return BUILT_IN | {
        name: Quantity(name, entry.value, entry.unit, entry.better == "more")
        for name, entry in settings.quantities.items()
    }


def objective_of(settings: StudySettings) -> Quantity:
    """What a study's best configuration has most or least of: the least time, unless the study says otherwise."""
    return quantities_of(settings)[settings.objective or TIME]


def check_quantities(settings: StudySettings, problem: Problem, texts: Collection[str], shown: str) -> None:
    """Raise UserError for a quantity of a study that can't be computed, and for an objective that is none.

    texts  the axes whose values are texts
    """
    objective = settings.objective
    if not settings.quantities and objective is None:
        return
    work = {unit: count for unit, count in problem.work(settings.reference).items() if unit != "arithmetic"}
    known = [*MEASURED, *work, *(axis for axis in problem.axes if axis not in work)]
    for name, entry in settings.quantities.items():
        where = f"{shown}: quantities.{name}"
        if name in (*known, *BUILT_IN, *FUNCTIONS, *MEASUREMENT_COLUMNS) or not name.isidentifier():
            raise UserError(f"{where}: this name has another meaning, or is no name. Choose another one.")
        try:
            check_kind(entry.value, known, NUMBER, texts)
            if expression(entry.value).names.isdisjoint(MEASURED):
                raise UserError(f"{entry.value!r} has neither {' nor '.join(MEASURED)}, so nothing measured is in it")
            once = dict.fromkeys(MEASURED, Interval(1, 1, 1))
            quantities_of(settings)[name].interval({**settings.reference, **work}, once)
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
    every = quantities_of(settings)
    if objective is not None and objective not in every:
        guess = nearest(objective, every) or ";"
        raise UserError(f"{shown}: objective is {objective!r}{guess} Allowed: {', '.join(every)}.")
    missing = expression(objective_of(settings).text).names - set(known)
    if missing:
        raise UserError(
            f"{shown}: objective is {objective!r}, which needs {', '.join(sorted(missing))}. The problem's work has no "
            f"such count. It has {', '.join(work) or 'none'}."
        )
