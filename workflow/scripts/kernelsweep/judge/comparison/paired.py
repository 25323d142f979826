"""Ratios of two versions of a point that ran alternately, sample by sample, in each of several processes.

measure/pairs.py has the statistics of the pairs. Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM
2013, section 6, have the reason to repeat at each level that varies: pairs, and processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from statistics import fmean, median

from kernelsweep.intervals import Interval
from kernelsweep.judge.comparison.scatter import Scatter, estimate, range_squared
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.pairs import log_interval, paired_logs


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
        """The difference between the largest and the smallest mean of a process; None for one process."""
        found = [log_interval(visit) for visit in self.visits]
        means = [one[0] if one else fmean(visit) for one, visit in zip(found, self.visits, strict=True)]
        return max(means) - min(means) if len(means) > 1 else None


def pairs_of(outcome: Outcome, before: str, inverted: bool = False) -> Pairs | None:
    """The pairs that an outcome has with a version of some machine code; None without any.

    before    the SHA-256 of that version's machine code
    inverted  whether that version is the one after
    """
    logs = paired_logs(outcome)
    if not logs or outcome.before_binary != before:
        return None
    timed = next(visit for visit in outcome.visits if visit.before)
    if inverted:
        return Pairs(median(timed.before), [[-value for value in visit] for visit in logs])
    return Pairs(median(timed.samples), logs)


def scatter_of(paired: Sequence[Pairs]) -> Scatter | None:
    """How the processes' means of points scatter; None where no point was visited by several processes.

    Its degrees of freedom are those of all points: what processes have in common cancels in pairs.
    """
    rows = [
        {"study": "", "kernel": "", "time_us": pairs.time_us, "visits": len(pairs.visits), "visit_spread": spread}
        for pairs in paired
        if (spread := pairs.spread)
    ]
    found = estimate(rows)
    degrees = sum(len(pairs.visits) - 1 for pairs in paired if pairs.spread)
    return replace(found, degrees=degrees) if found else None


def ratio_of(pairs: Pairs, scatter: Scatter | None) -> Interval | None:
    """The mean ratio in a 99% interval; None for fewer pairs than give one.

    The interval is the wider of two: that of all pairs, and that of the processes' means, whose variance is the larger
    of all points' (`scatter`) and the point's own.
    """
    found = log_interval([value for visit in pairs.visits for value in visit])
    if found is None:
        return None
    middle, reach = found
    count = len(pairs.visits)
    if scatter:
        own = (pairs.spread or 0.0) ** 2 / range_squared(count) if count > 1 else 0.0
        reach = max(reach, scatter.quantile * sqrt(max(own, scatter.variance(pairs.time_us)) / count))
    return Interval(exp(middle), exp(middle - reach), exp(middle + reach))
