"""The ratio of two versions' times, from pairs of samples that ran side by side; and when pairs are enough.

The samples of a pair share the process, the memory and the moment, so that what scatters between processes and days
cancels: the ratio of a pair tells more than the ratio of two medians. The middle of the ratios is their 10% trimmed
mean, with the interval of Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61 (1974),
165-170, for one sample: a disturbed sample here and there does not move it, and it needs two thirds of the pairs that a
median needs.

Pairs are taken until the interval says whether the ratio is inside or outside of the margin. Whoever looks several
times is wrong more often than who looks once. So the interval is wider than that of a single look, and holds at all
looks at once: Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach", Journal of the
Royal Statistical Society B 51 (1989), 305-361.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, log, sqrt
from statistics import NormalDist

from kernelsweep.intervals import Interval
from kernelsweep.measure.outcome import Outcome
from kernelsweep.statistics import student_quantile

FASTER, SLOWER, SAME, UNDECIDED = "faster", "slower", "same", "undecided"

MOST_PAIRS = 100  # of a visit
_GROWTH = 1.4  # A visit's pairs are looked at again after so many times as many.
_TRIMMED = 0.1  # of the ratios at either end
_FEWEST = 4  # Fewer give no interval that is worth a look.

# So many standard errors to either side have 99% of all looks at once: at 7, 10, 14, 20, 28, 40, 56, 79 and 100 pairs
# of a visit, and after two more visits (from a million random walks). docs/measured/comparing.md has how often it errs.
_STANDARD_ERRORS = 3.21
_PROBABILITY = NormalDist().cdf(_STANDARD_ERRORS)


def log_interval(logs: Sequence[float]) -> tuple[float, float] | None:
    """The middle of logarithms of ratios, and how far the interval reaches to either side; None for too few."""
    count = len(logs)
    if count < _FEWEST:
        return None
    ordered, cut = sorted(logs), int(_TRIMMED * count)
    kept = ordered[cut : count - cut]
    middle = sum(kept) / len(kept)
    winsorized = [kept[0]] * cut + kept + [kept[-1]] * cut
    centre = sum(winsorized) / count
    squares = sum((value - centre) ** 2 for value in winsorized)
    error = sqrt(squares / (len(kept) * (len(kept) - 1)))
    return middle, error * student_quantile(_PROBABILITY, len(kept) - 1)


def ratio_of_pairs(logs: Sequence[float]) -> Interval | None:
    """The ratio, from the logarithms of pairs' ratios; None for too few."""
    found = log_interval(logs)
    return Interval(exp(found[0]), exp(found[0] - found[1]), exp(found[0] + found[1])) if found else None


def verdict(found: Interval, margin: float) -> str:
    """The verdict on a ratio of times, after over before; `margin` is the smallest difference that matters."""
    upper, lower = 1 + margin, 1 / (1 + margin)
    if found.low > upper:
        return SLOWER
    if found.high < lower:
        return FASTER
    return SAME if lower <= found.low and found.high <= upper else UNDECIDED


class PairRule:
    """Whether a visit has pairs enough: they decide on the margin, or there are MOST_PAIRS."""

    def __init__(self, margin: float) -> None:
        self._margin = margin
        self._look_at = 0
        self._is_met = False

    def is_met(self, logs: Sequence[float]) -> bool:
        """Look at the pairs so far, if there are enough more than at the last look."""
        if len(logs) >= self._look_at:
            self._look_at = min(MOST_PAIRS, ceil(_GROWTH * len(logs)))
            found = ratio_of_pairs(logs)
            self._is_met = found is not None and verdict(found, self._margin) != UNDECIDED
        return self._is_met or len(logs) >= MOST_PAIRS


def paired_logs(outcome: Outcome) -> list[list[float]]:
    """The logarithm of each pair's ratio, now over before, by visit; empty where no earlier version ran."""
    return [
        [log(now / before) for now, before in zip(visit.samples, visit.before, strict=True)]
        for visit in outcome.visits
        if visit.before
    ]


def paired_ratio(outcomes: Iterable[Outcome]) -> Interval | None:
    """The ratio of all pairs of a point's visits; None where no earlier version ran."""
    return ratio_of_pairs([value for outcome in outcomes for visit in paired_logs(outcome) for value in visit])
