"""The quantities of measured rows, and the costs by which configurations are compared: a study's objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas

from kernelsweep.intervals import Interval, time_interval
from kernelsweep.results import INTERVAL, read_parameters
from kernelsweep.sweep.settings import StudySettings
from kernelsweep.sweep.study_quantities import ENERGY, TIME, Quantity, objective_of

# The columns of with_costs(): the less, the better.
COST = ("cost_low", "cost", "cost_high")

ENERGIES = ("energy_mj", "energy_low_mj", "energy_high_mj")

# The unit of a row's work that is no count, but the kind of its flops.
_KIND_OF_FLOPS = "arithmetic"


def quantity_of_row(quantity: Quantity, row: Mapping[Any, Any], settings: StudySettings) -> Interval | None:
    """A quantity of a row of measurements.csv that has a time; None where the row lacks what it is computed from.

    settings  the study's
    """
    known = {axis: row[axis] for axis in settings.kinds if not pandas.isna(row.get(axis))}
    measured = {TIME: time_interval(row), ENERGY: _energy(row)}
    counts = {unit: float(count) for unit, count in read_parameters(row["work"]).items() if unit != _KIND_OF_FLOPS}
    return quantity.interval({**known, **counts}, measured)


def arithmetic_of(row: Mapping[Any, Any]) -> str | None:
    """The kind of arithmetic of a row's work; None where it names none."""
    return read_parameters(row["work"]).get(_KIND_OF_FLOPS)


def arithmetic_kinds(rows: pandas.DataFrame) -> list[str]:
    """The kinds of arithmetic of rows of measurements.csv, sorted."""
    return sorted({kind for work in rows["work"].unique() if (kind := arithmetic_of({"work": work}))})


def _energy(row: Mapping[Any, Any]) -> Interval | None:
    ends = [float(row.get(column, math.nan)) for column in ENERGIES]
    return None if any(map(math.isnan, ends)) else Interval(*ends)


def with_costs(rows: pandas.DataFrame, settings: StudySettings) -> pandas.DataFrame:
    """The rows with a time that have the study's objective, with the columns COST."""
    quantity = objective_of(settings)
    if quantity.name == TIME:
        return rows.assign(**{column: rows[of_time] for column, of_time in zip(COST, INTERVAL, strict=True)})
    found = [quantity_of_row(quantity, row, settings) for row in rows.to_dict("records")]
    costs = [quantity.cost(interval) if interval else None for interval in found]
    ends = [(cost.low, cost.value, cost.high) if cost else (float("nan"),) * 3 for cost in costs]
    columns = pandas.DataFrame(ends, columns=list(COST), index=rows.index, dtype="float64")
    return rows.join(columns)[columns["cost"].notna()]


def cost_interval(row: Mapping[Any, Any]) -> Interval:
    """The cost of a row of with_costs()."""
    low, value, high = (float(row[column]) for column in COST)
    return Interval(value, low, high)
