"""Confidence intervals and their ratios: how much faster one point is than another, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, hypot, log
from typing import Any


@dataclass(frozen=True)
class Interval:
    """A positive quantity with the ends of its 95% confidence interval, which contains it."""

    value: float
    low: float
    high: float


def time_interval(row: Mapping[Any, Any]) -> Interval:
    """The time of a row of measurements.csv that has one, in microseconds."""
    return Interval(float(row["time_us"]), float(row["time_low_us"]), float(row["time_high_us"]))


def ratio(over: Interval, under: Interval) -> Interval:
    """`over` / `under`, for two independently measured quantities.

    The ends follow from the two intervals by the method of variance estimates recovery, applied to the logarithms:
    Zou and Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
    Medicine 27 (2008), 1693-1702. It assumes no distribution, and preserves asymmetric intervals.
    Raises ValueError if an end isn't positive.
    """
    for interval in (over, under):
        if not 0 < interval.low <= interval.value <= interval.high:
            raise ValueError(f"{interval}: a ratio needs positive quantities inside their intervals")
    middle = log(over.value / under.value)
    below = hypot(log(over.value / over.low), log(under.high / under.value))
    above = hypot(log(over.high / over.value), log(under.value / under.low))
    return Interval(exp(middle), exp(middle - below), exp(middle + above))


def ratio_text(found: Interval, unit: str = "") -> str:
    """A ratio of two versions' times with its interval: `1.062× (1.057 to 1.067)`, with a unit such as `×`."""
    return f"{found.value:.3f}{unit} ({found.low:.3f} to {found.high:.3f})"
