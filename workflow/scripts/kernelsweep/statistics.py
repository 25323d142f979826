"""Distribution-free statistics of a point's samples: median, its confidence interval, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import comb, exp, hypot, log, sqrt
from statistics import median, quantiles
from typing import Any

import numpy as np

CONFIDENCE = 0.95
FEWEST_SAMPLES = 6  # Fewer give no 95% interval of a median.

# The resolution of CUDA events in the documentation. Two values further apart are two speeds of the kernel, not two
# readings of the timer.
LARGEST_TIMER_STEP_US = 0.5

# The steps of an integral over the angles of a t distribution.
_ANGLES = 20_001


@dataclass(frozen=True)
class Summary:
    """The median of samples in microseconds, its 95% confidence interval, and noise: interquartile range over median.

    spread  the difference between the largest and the smallest median of a visit, over the median of all samples;
            None for a single visit
    """

    median: float
    low: float
    high: float
    noise: float
    spread: float | None = None


@cache
def median_ranks(count: int) -> tuple[int, int]:
    """Ranks (from 0) of the ordered samples between which the median lies with at least CONFIDENCE.

    The number of samples below the median has a binomial distribution with p = 1/2 for any distribution of samples:
    Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.2. Raises ValueError for too few samples:
    for fewer than 6, no pair of ranks has a confidence of 95%.
    """
    tail = 0.0
    rank = 0
    while tail + comb(count, rank) / 2**count <= (1 - CONFIDENCE) / 2:
        tail += comb(count, rank) / 2**count
        rank += 1
    if rank == 0:
        raise ValueError(f"{count} samples give no {CONFIDENCE:.0%} confidence interval of the median")
    return rank - 1, count - rank


def median_interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """The median, and the lower and upper end of its 95% confidence interval; of fewer than 6 samples, of all."""
    ordered = sorted(samples)
    low, high = median_ranks(len(ordered)) if len(ordered) >= FEWEST_SAMPLES else (0, -1)
    return median(ordered), ordered[low], ordered[high]


def summarise(samples: Sequence[float]) -> Summary:
    """Median, interval as median_interval(), and noise, of at least 2 samples."""
    middle, low, high = median_interval(samples)
    quarter, _, three_quarters = quantiles(samples, method="inclusive")  # numpy's take 30 times as long
    return Summary(middle, low, high, float((three_quarters - quarter) / middle))


def timer_step(times: Sequence[float]) -> float:
    """The timer's resolution, estimated as the smallest difference between two samples (32 ns on an H200).

    Samples are whole nanoseconds, so differences are rounded to nanoseconds.
    """
    steps = [later - earlier for earlier, later in pairwise(sorted({*times}))]
    return round(min((step for step in steps if step < LARGEST_TIMER_STEP_US + 5e-4), default=0.0), 3)


def summarise_visits(visits: Sequence[Sequence[float]]) -> Summary:
    """The summary of several visits to a point, each with at least 2 samples.

    The samples of one visit share the deviation of that visit, so that their interval alone would be too narrow: it is
    widened to contain the visits' medians, and by half a step of the timer to either side.
    """
    samples = [time for visit in visits for time in visit]
    summary = summarise(samples)
    medians = [float(np.median(visit)) for visit in visits]
    half_step = timer_step(samples) / 2
    return replace(
        summary,
        low=min(summary.low, *medians) - half_step,
        high=max(summary.high, *medians) + half_step,
        spread=(max(medians) - min(medians)) / summary.median if len(visits) > 1 else None,
    )


@cache
def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution, from its angle atan(t / sqrt(degrees)), whose density is a power of its
    cosine.
    """
    angles = np.linspace(-np.pi / 2, np.pi / 2, _ANGLES)
    density = np.cos(angles) ** (degrees - 1)
    cumulated = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    angle = np.interp(probability, cumulated / cumulated[-1], angles)
    return float(np.tan(angle) * sqrt(degrees))


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
    Every end has to be positive.
    """
    middle = log(over.value / under.value)
    below = hypot(log(over.value / over.low), log(under.high / under.value))
    above = hypot(log(over.high / over.value), log(under.value / under.low))
    return Interval(exp(middle), exp(middle - below), exp(middle + above))


def ratio_text(found: Interval, unit: str = "") -> str:
    """A ratio of two versions' times with its interval: `1.062× (1.057 to 1.067)`, with a unit such as `×`."""
    return f"{found.value:.3f}{unit} ({found.low:.3f} to {found.high:.3f})"


def three_digits(value: float) -> str:
    """A number of up to 1,000 for readers, with three digits, as zeros say how far it is known: 1.90, 17.0, 156."""
    return f"{value:#.3g}".rstrip(".")
