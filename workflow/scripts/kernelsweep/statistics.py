"""Statistics of a point's samples that assume no distribution: median, its confidence interval, noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """Of samples in microseconds: median, its 95% confidence interval, and interquartile range over median."""

    median: float
    low: float
    high: float
    noise: float

    @property
    def half_width(self) -> float:
        """The interval's larger side, microseconds."""
        return max(self.high - self.median, self.median - self.low)


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


def summarise(samples: Sequence[float]) -> Summary:
    """Median, confidence interval and noise of at least 6 samples."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    low, high = median_ranks(len(ordered))
    quarter, median, three_quarters = np.quantile(ordered, [0.25, 0.5, 0.75])
    return Summary(float(median), float(ordered[low]), float(ordered[high]), float((three_quarters - quarter) / median))
