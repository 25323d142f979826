"""Statistics of a point's samples that assume no distribution: median, its confidence interval, noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import comb
from statistics import median

import numpy as np

CONFIDENCE = 0.95
FEWEST_SAMPLES = 6  # Fewer give no 95% interval of a median.

# What CUDA's documentation gives as an event's resolution. Samples of only two values that are further apart are two
# speeds of the kernel, not two readings of the timer.
LARGEST_TIMER_STEP_US = 0.5


@dataclass(frozen=True)
class Summary:
    """Of samples in microseconds: median, its 95% confidence interval, and interquartile range over median.

    spread  of several visits' medians, the largest less the smallest, over the median of all samples; else None
    """

    median: float
    low: float
    high: float
    noise: float
    spread: float | None = None


@cache
def median_ranks(count: int) -> tuple[int, int]:
    """Ranks (from 0) of the ordered samples between which the median lies with at least 95% confidence.

    How many of `count` samples lie below the median is binomial with p = 1/2, whatever the distribution: Conover,
    "Practical Nonparametric Statistics", 3rd edition, section 3.2. Raises ValueError below 6 samples, where no pair of
    ranks reaches that confidence.
    """
    tail = 0.0
    rank = 0
    while tail + comb(count, rank) / 2**count <= (1 - CONFIDENCE) / 2:
        tail += comb(count, rank) / 2**count
        rank += 1
    if rank == 0:
        raise ValueError(f"{count} samples give no 95% confidence interval of the median; 6 or more do")
    return rank - 1, count - rank


def median_interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """The median of at least 6 samples, and the lower and upper end of its 95% confidence interval."""
    ordered = sorted(samples)
    low, high = median_ranks(len(ordered))
    return median(ordered), ordered[low], ordered[high]


def summarise(samples: Sequence[float]) -> Summary:
    """Median, confidence interval and noise of at least 6 samples."""
    middle, low, high = median_interval(samples)
    quarter, three_quarters = np.quantile(samples, [0.25, 0.75])
    return Summary(middle, low, high, float((three_quarters - quarter) / middle))


def timer_step(times: Sequence[float]) -> float:
    """The timer's resolution as the samples show it: the smallest difference between two (32 ns on an H200).

    Samples are whole nanoseconds, so differences are rounded to these as well.
    """
    steps = (later - earlier for earlier, later in pairwise(sorted(times)))
    return round(min((step for step in steps if 0 < step < LARGEST_TIMER_STEP_US + 5e-4), default=0.0), 3)


def summarise_visits(visits: Sequence[Sequence[float]]) -> Summary:
    """The samples of several visits to a point, taken together; each visit has at least 6.

    Samples of one visit share what differs from visit to visit, so that their interval alone would promise too much:
    it is widened to span the visits' medians, and by half a step of the timer to either side.
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
