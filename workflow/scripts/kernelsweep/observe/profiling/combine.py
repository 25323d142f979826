"""Combine the launches of one point to one value a metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.errors import UserError
from kernelsweep.observe.profiling.capture import CapturedLaunch
from kernelsweep.observe.profiling.definitions import Counter, Definition


@dataclass(frozen=True)
class Value:
    """A metric of a point in its configured unit, or None with the reason."""

    value: float | None
    message: str = ""


def combine_launches(
    definition: Definition, launches: Sequence[CapturedLaunch], units: Mapping[str, str], kernel: str
) -> Value:
    """The metric over all launches of a point.

    units  ncu's units by metric

    If this GPU or this ncu has no such metric, the Value says so. Raises UserError if ncu's unit is not the configured
    one: its numbers would have another meaning.
    """
    missing = [name for name in definition.needs if name not in units]
    if missing:
        return Value(
            None,
            f"Nsight Compute gave no {missing[0]}: this GPU or this release has no such metric. Look for it in "
            f"`ncu --query-metrics`, and change metrics.{definition.name} (config/metrics.yaml).",
        )
    for counter in filter(None, (definition.ncu, definition.over)):
        _check_unit(counter, units[counter.name], definition, kernel)
    values = [launch.number(definition.ncu.name) for launch in launches]
    if definition.weight is None:
        return _result(_quotient(values, definition, launches), definition)
    weights = [launch.number(definition.weight) for launch in launches]
    counted = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight != 0]
    if not counted:
        return Value(None, f"There is nothing to take it of: {definition.weight} is 0.")
    if len(counted) == 1:  # The given value, without the rounding errors of a mean.
        return _result(counted[0][0], definition)
    total = sum(weight for _, weight in counted)
    return _result(sum(value * weight for value, weight in counted) / total, definition)


def _check_unit(counter: Counter, found: str, definition: Definition, kernel: str) -> None:
    if found != counter.unit:
        raise UserError(
            f"{kernel}: Nsight Compute gives {counter.name} in {found or 'no unit'}, but metrics.{definition.name} "
            f"(config/metrics.yaml) says {counter.unit or 'none'}. Write [{found}] there, and a unit that follows from "
            "it."
        )


def _quotient(values: Sequence[float], definition: Definition, launches: Sequence[CapturedLaunch]) -> float | None:
    """The sum; for a quotient, divided by the sum of its denominator, or None if that is 0."""
    if definition.over is None:
        return sum(values)
    below = sum(launch.number(definition.over.name) for launch in launches)
    return sum(values) / below if below else None


def _result(value: float | None, definition: Definition) -> Value:
    if value is None:
        assert definition.over is not None
        return Value(None, f"There is nothing to take it of: {definition.over.name} is 0.")
    if not math.isfinite(value):
        return Value(None, f"Nsight Compute gave no number for {definition.ncu.name}.")
    return Value(value * definition.factor)
