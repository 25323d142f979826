"""Ratios of two versions of a point that ran alternately, sample by sample, in each of several processes.

The samples of a pair share the process, the memory and the moment, so that what scatters between processes and days
cancels: the ratio of a pair tells more than the ratio of two medians. Kalibera and Jones, "Rigorous benchmarking in
reasonable time", ISMM 2013, section 6, have the reason to repeat at each level that varies: pairs, and processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist, median

from kernelsweep.intervals import Interval
from kernelsweep.judge.comparison.scatter import RATIO_CONFIDENCE, Scatter, estimate, range_squared
from kernelsweep.measure.outcome import Outcome
from kernelsweep.statistics import median_ranks

# The quantile of an interval of RATIO_CONFIDENCE. The scatter of a pair's ratio between processes is that of the pairs
# themselves, and all points of a sweep tell it.
_QUANTILE = NormalDist().inv_cdf((1 + RATIO_CONFIDENCE) / 2)


@dataclass(frozen=True)
class Pairs:
    """Ratios of a point's versions, after over before.

    time_us  a median time of the version after
    visits   the logarithm of each pair's ratio, by process
    """

    time_us: float
    visits: Sequence[Sequence[float]]

    @property
    def count(self) -> int:
        """The number of pairs."""
        return sum(map(len, self.visits))

    @property
    def spread(self) -> float | None:
        """The difference between the largest and the smallest median of a process; None for one process."""
        medians = [median(visit) for visit in self.visits]
        return max(medians) - min(medians) if len(medians) > 1 else None


def pairs_of(outcome: Outcome, before: str, inverted: bool = False) -> Pairs | None:
    """The pairs that an outcome has with a version of some machine code; None without any.

    before    the SHA-256 of that version's machine code
    inverted  whether that version is the one after
    """
    visits = [(visit.samples, visit.before) for visit in outcome.visits if visit.before]
    if not visits or outcome.before_binary != before:
        return None
    sign = -1 if inverted else 1
    after = visits[0][1 if inverted else 0]
    logs = [[sign * log(now / then) for now, then in zip(*both, strict=True)] for both in visits]
    return Pairs(median(after), logs)


def scatter_of(paired: Sequence[Pairs]) -> Scatter | None:
    """How the processes' medians of points scatter; None where no point was visited by several processes."""
    return estimate(
        [
            {"study": "", "kernel": "", "time_us": pairs.time_us, "visits": len(pairs.visits), "visit_spread": spread}
            for pairs in paired
            if (spread := pairs.spread)
        ]
    )


def ratio_of(pairs: Pairs, scatter: Scatter | None) -> Interval | None:
    """The median ratio in an interval of RATIO_CONFIDENCE; None for fewer pairs than give one.

    The interval is the wider of two: that of the median of all pairs, by their ranks, and that of the processes'
    medians, whose variance is the larger of all points' (`scatter`) and the point's own.
    """
    logs = sorted(value for visit in pairs.visits for value in visit)
    try:
        low, high = median_ranks(len(logs), RATIO_CONFIDENCE)
    except ValueError:
        return None
    middle, count = median(logs), len(pairs.visits)
    own = (pairs.spread or 0.0) ** 2 / range_squared(count) if count > 1 else 0.0
    variance = max(own, scatter.variance(pairs.time_us) if scatter else 0.0)
    reach = _QUANTILE * sqrt(variance / count)
    return Interval(exp(middle), exp(min(logs[low], middle - reach)), exp(max(logs[high], middle + reach)))
