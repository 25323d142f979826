"""The ratio of two versions' times, from pairs of samples that ran side by side; and when pairs are enough.

The samples of a pair share the process, the memory and the moment, so that what scatters between processes and days
cancels: the ratio of a pair tells more than the ratio of two medians. Which version runs first alternates, in the order
ABBA, so that this cancels, too, as does a drift. The middle of a visit's ratios is their 10% trimmed mean, with the
interval of Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61 (1974), 165-170, for one
sample: a disturbed sample here and there does not move it, and it needs two thirds of the pairs that a median needs.

Pairs are taken until the interval says whether the ratio is inside or outside of the margin. Whoever looks several
times is wrong more often than who looks once. So the interval is wider than that of a single look, and holds at all
looks at once: Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach", Journal of the
Royal Statistical Society B 51 (1989), 305-361.

Each visit is another process, and visits may scatter by more than their pairs say: Kalibera and Jones, "Rigorous
benchmarking in reasonable time", ISMM 2013, section 6, repeat at each level that varies. As in a meta-analysis of
studies that differ (DerSimonian and Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7 (1986),
177-188), that is the part of the variance of visits' means that their pairs don't explain. Some points tell it for all
(scatter.py): they are visited by all processes, and the number of their pairs does not depend on what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, hypot, log, sqrt
from statistics import NormalDist, fmean, median, variance
from typing import Any

from kernelsweep.measure.outcome import Outcome, combined
from kernelsweep.scatter import Scatter, fitted
from kernelsweep.statistics import Interval, student_quantile

FASTER, SLOWER, SAME, UNDECIDED = "faster", "slower", "same", "undecided"

MOST_PAIRS = 200  # of a visit
# Of a visit's pairs: whether the version now runs first (1) or second (-1).
ORDER = (1, -1, -1, 1)
_GROWTH = 1.4  # A visit's pairs are looked at again after so many times as many.
_TRIMMED = 0.1  # of the ratios at either end
FEWEST_PAIRS = 4  # Fewer give no interval that is worth a look.
_NEGLIGIBLE = 0.5  # of what processes scatter by: fewer pairs than more processes would have to tell
_LEAST_VARIANCE = 1e-14  # of a mean: pairs that a coarse timer finds all alike differ a little

# So many standard errors to either side have 99% of all looks at once: at 6, 9, 13, 19, 27, 38, 54, 76, 107, 150 and
# 200 pairs of a visit, and after two more visits (from 200,000 random walks).
_STANDARD_ERRORS = 3.26
_PROBABILITY = NormalDist().cdf(_STANDARD_ERRORS)


@dataclass(frozen=True)
class Mean:
    """The mean of logarithms of ratios: its value, the square of its standard error, and its degrees of freedom."""

    value: float
    variance: float
    degrees: int

    @property
    def reach(self) -> float:
        """How far the interval reaches to either side."""
        return sqrt(self.variance) * student_quantile(_PROBABILITY, self.degrees)


def mean_of(logs: Sequence[float]) -> Mean | None:
    """The trimmed mean of the pairs of one visit; None for too few."""
    count = len(logs)
    if count < FEWEST_PAIRS:
        return None
    ordered, cut = sorted(logs), int(_TRIMMED * count)
    kept = ordered[cut : count - cut]
    winsorized = [kept[0]] * cut + kept + [kept[-1]] * cut
    centre = sum(winsorized) / count
    squares = sum((value - centre) ** 2 for value in winsorized)
    degrees = len(kept) - 1
    return Mean(sum(kept) / len(kept), max(squares / (len(kept) * degrees), _LEAST_VARIANCE), degrees)


@dataclass(frozen=True)
class Pairs:
    """A point's ratios, after over before.

    time_us    a median time of the version after
    visits     the logarithm of each pair's ratio, by visit
    fixed      by visit, whether the number of pairs was set before
    processes  the number of each visit's process
    """

    time_us: float
    visits: Sequence[Sequence[float]]
    fixed: Sequence[bool]
    processes: Sequence[int] = (0,)

    def ratio(self, scatter: Scatter | None = None) -> Ratio | None:
        """The ratio; None for too few pairs. `scatter` is that of processes, where it is known."""
        means = [found for logs in self.visits if (found := mean_of(logs))]
        if not means:
            return None
        weights = [1 / mean.variance for mean in means]
        middle = fmean((mean.value for mean in means), weights)
        pairs = Mean(middle, 1 / sum(weights), sum(mean.degrees for mean in means))
        return Ratio(middle, pairs.reach, _reach_of_processes(scatter, self.time_us) / sqrt(len(means)))


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, all as logarithms.

    pairs      how far the interval would reach if only pairs scattered
    processes  and how far if only processes did
    """

    middle: float
    pairs: float
    processes: float

    @property
    def interval(self) -> Interval:
        """The ratio in its interval."""
        reach = hypot(self.pairs, self.processes)
        return Interval(exp(self.middle), exp(self.middle - reach), exp(self.middle + reach))


def _reach_of_processes(scatter: Scatter | None, time_us: float) -> float:
    return scatter.quantile * sqrt(scatter.variance(time_us)) if scatter else 0.0


def pairs_of(outcome: Outcome, inverted: bool = False) -> Pairs | None:
    """The pairs of an outcome; None where no earlier version ran. `inverted`: whether that version is the one after."""
    visits = [visit for visit in outcome.visits if visit.before]
    if not visits:
        return None
    logs = [[log(now / old) for now, old in zip(one.samples, one.before, strict=True)] for one in visits]
    if inverted:
        logs = [[-value for value in visit] for visit in logs]
    time_us = median(visits[0].before if inverted else visits[0].samples)
    return Pairs(time_us, logs, [visit.fixed for visit in visits], [visit.process for visit in visits])


def scatter_of(paired: Iterable[Pairs]) -> Scatter | None:
    """How processes scatter beyond what their pairs say; None where no point was visited by several.

    Points whose number of pairs was set before tell it; where there are none, all do. Its degrees of freedom are those
    of these points: what processes have in common cancels in pairs.
    """
    several = [pairs for pairs in paired if len(pairs.visits) > 1]
    several = [pairs for pairs in several if all(pairs.fixed)] or several
    of_points = [[mean for logs in pairs.visits if (mean := mean_of(logs))] for pairs in several]
    kept = [(pairs.time_us, means) for pairs, means in zip(several, of_points, strict=True) if len(means) > 1]
    return fitted(
        [time_us for time_us, _ in kept],
        [variance(mean.value for mean in means) for _, means in kept],
        [len(means) for _, means in kept],
        sum(len(means) - 1 for _, means in kept),
        [fmean(mean.variance for mean in means) for _, means in kept],
    )


def decide(points: Sequence[tuple[Pairs, str]], margin: float, scatter: Scatter | None) -> bool:
    """Whether the mean ratio of points decides on a margin; each has its pairs and the name of its machine code."""
    found = [(ratio, code, pairs.processes) for pairs, code in points if (ratio := pairs.ratio(scatter))]
    if not found:
        return False
    alone = sqrt(sum(ratio.pairs**2 for ratio, _, _ in found)) / len(found)
    shared = in_common([(ratio.processes, code, processes) for ratio, code, processes in found])
    mean = Ratio(fmean(ratio.middle for ratio, _, _ in found), alone, shared)
    return verdict(mean.interval, margin) != UNDECIDED


def in_common(reaches: Sequence[tuple[float, str, Sequence[int]]]) -> float:
    """How far the interval of ratios' mean reaches by processes: each adds one deviation to all with one machine code.

    reaches  of each ratio: how far its own interval reaches by them, its machine code's name, and its processes, if any
    """
    of_cause: dict[tuple[str, int], float] = {}
    for reach, code, processes in reaches:
        for cause in [(code, process) for process in processes] or [("", 0)]:
            part = reach / sqrt(max(1, len(processes))) / len(reaches)
            of_cause[cause] = of_cause.get(cause, 0.0) + part
    return sqrt(sum(part**2 for part in of_cause.values()))


def verdict(found: Interval, margin: float) -> str:
    """The verdict on a ratio of times, after over before; `margin` is the smallest difference that matters."""
    upper, lower = 1 + margin, 1 / (1 + margin)
    if found.low > upper:
        return SLOWER
    if found.high < lower:
        return FASTER
    return SAME if lower <= found.low and found.high <= upper else UNDECIDED


@dataclass(frozen=True)
class Enough:
    """When a visit has pairs enough.

    margin   they decide on this, the smallest difference that matters, as a fraction; or there are MOST_PAIRS; or more
             would tell nothing beside how processes scatter
    scatter  how they do, where it is known
    seconds  that is enough, however well the time itself is known, and the visit takes no longer than this, if a few
             milliseconds are left for pairs; 0 where the time is wanted, too
    fixed    whether pairs alone take so many seconds, whatever they say
    """

    margin: float
    scatter: Scatter | None = None
    seconds: float = 0.0
    fixed: bool = False


def read_enough(values: Mapping[str, Any]) -> Enough:
    """The Enough whose dataclasses.asdict() `values` are, after their way through JSON."""
    return Enough(**{**values, "scatter": Scatter(**values["scatter"]) if values["scatter"] else None})


class PairRule:
    """Whether the margin is decided on, as in Enough."""

    def __init__(self, enough: Enough) -> None:
        self._margin, self._scatter = enough.margin, enough.scatter
        self._look_at = 0
        self._is_met = False

    def is_met(self, logs: Sequence[float], time_us: float) -> bool:
        """Look at the pairs so far, if there are enough more than at the last look; `time_us` is the point's."""
        if len(logs) >= self._look_at:
            self._look_at = min(MOST_PAIRS, ceil(_GROWTH * len(logs)))
            found = Pairs(time_us, [logs], [False]).ratio(self._scatter)
            self._is_met = found is not None and (
                verdict(found.interval, self._margin) != UNDECIDED or found.pairs < _NEGLIGIBLE * found.processes
            )
        return self._is_met or len(logs) >= MOST_PAIRS


def paired_ratio(outcomes: Iterable[Outcome], scatter: Scatter | None = None) -> Interval | None:
    """The ratio of all pairs of a point's visits; None where no earlier version ran."""
    every = [*outcomes]
    pairs = pairs_of(combined(every)) if every else None
    found = pairs.ratio(scatter) if pairs else None
    return found.interval if found else None
