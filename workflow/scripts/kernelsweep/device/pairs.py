"""The ratio of two versions' times, from pairs of samples that ran side by side; and when pairs are enough.

The samples of a pair share the process, the memory and the moment, so that what scatters between processes and days
cancels: the ratio of a pair tells more than the ratio of two medians. Which version runs first alternates, in the order
ABBA, so that this cancels, too, as does a drift. The middle of a visit's ratios is their 20% trimmed mean, with the
interval of Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61 (1974), 165-170, for one
sample: a disturbed sample here and there does not move it. With 10% trimmed, kernels of 10 to 25 us need twice as many
pairs, and other kernels as many (NVIDIA H200). The variance of a mean of several such means has the degrees of freedom
of Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946),
110-114.

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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, hypot, inf, log, sqrt
from statistics import NormalDist, fmean, median, stdev, variance

from kernelsweep.device.outcome import Outcome
from kernelsweep.scatter import Scatter, fitted
from kernelsweep.statistics import LARGEST_TIMER_STEP_US, Interval, student_quantile, timer_step

FASTER, SLOWER, SAME, UNDECIDED = "faster", "slower", "same", "undecided"

MOST_PAIRS = 200  # of a visit
# Of a visit's pairs: whether the version now runs first (1) or second (-1).
ORDER = (1, -1, -1, 1)
_GROWTH = 1.4  # After so many times as many pairs, they are looked at again.
_TRIMMED = 0.2  # of the ratios at either end, from FEWEST_TRIMMED of them on
FEWEST_TRIMMED = 10
FEWEST_PAIRS = 2  # One has no variance.
_NEGLIGIBLE = 0.5  # of what processes scatter by: fewer pairs than more processes would have to tell
_LEAST_VARIANCE = 1e-14  # of a mean: pairs that a coarse timer finds all alike differ a little

# So many standard errors to either side have 99% of all looks at once: at 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 79, 111,
# 156 and 200 pairs of a visit, and after two more visits (from 400,000 random walks).
_STANDARD_ERRORS = 3.32
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


def _mean_of_means(means: Sequence[Mean], weights: Sequence[float]) -> Mean:
    """Their weighted mean, with Satterthwaite's degrees of freedom."""
    parts = [weight / sum(weights) for weight in weights]
    variances = [part**2 * mean.variance for part, mean in zip(parts, means, strict=True)]
    squares = sum(one**2 / mean.degrees for one, mean in zip(variances, means, strict=True))
    degrees = int(sum(variances) ** 2 / squares) if squares else 1
    return Mean(fmean((mean.value for mean in means), weights), sum(variances), degrees)


def mean_of(logs: Sequence[float]) -> Mean | None:
    """The trimmed mean of the pairs of one visit; None for too few."""
    count = len(logs)
    if count < FEWEST_PAIRS:
        return None
    ordered, cut = sorted(logs), int(_TRIMMED * count) if count >= FEWEST_TRIMMED else 0
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
    step_us    the timer's step; 0 for one that does not matter
    """

    time_us: float
    visits: Sequence[Sequence[float]]
    fixed: Sequence[bool]
    processes: Sequence[int] = (0,)
    step_us: float = 0.0

    def ratio(self, scatter: Scatter | None = None) -> Ratio | None:
        """The ratio; None for too few pairs. `scatter` is that of processes, where it is known."""
        found = [(self._not_rounded(mean, len(logs)), len(logs)) for logs in self.visits if (mean := mean_of(logs))]
        if not found:
            return None
        count = sum(pairs for _, pairs in found)
        shares = [len(logs) / count if len(logs) >= FEWEST_PAIRS else 0.0 for logs in self.visits]
        of_process = scatter.quantile() * sqrt(scatter.variance(self.time_us)) if scatter else 0.0
        return Ratio(_mean_of_means(*zip(*found, strict=True)), of_process, tuple(shares))

    def _not_rounded(self, mean: Mean, count: int) -> Mean:
        """A visit's mean. Where its pairs scatter by less than a step of the timer, most are rounded to one side."""
        step = (self.step_us / self.time_us) ** 2
        if count * mean.variance > step:
            return mean
        return replace(mean, variance=max(mean.variance, step / 6))  # of two times, each within half a step


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, all as logarithms.

    pairs    the mean of its pairs
    process  how far the interval of one visit would reach if only processes scattered
    shares   each visit's weight in the mean
    """

    pairs: Mean
    process: float
    shares: Sequence[float] = (1.0,)

    @property
    def processes(self) -> float:
        """How far the interval would reach if only processes scattered."""
        return self.process * hypot(*self.shares)

    @property
    def interval(self) -> Interval:
        """The ratio in its interval."""
        middle, reach = self.pairs.value, hypot(self.pairs.reach, self.processes)
        return Interval(exp(middle), exp(middle - reach), exp(middle + reach))


def pairs_of(outcome: Outcome) -> Pairs | None:
    """The pairs of an outcome; None where no earlier version ran."""
    visits = [visit for visit in outcome.visits if visit.before]
    if not visits:
        return None
    logs = [[log(now / old) for now, old in zip(one.samples, one.before, strict=True)] for one in visits]
    step = _step([time_us for one in visits for time_us in (*one.samples, *one.before)])
    fixed, processes = [visit.fixed for visit in visits], [visit.process for visit in visits]
    return Pairs(median(visits[0].samples), logs, fixed, processes, step)


def _step(times: Sequence[float]) -> float:
    """The timer's step, as far as times tell."""
    return timer_step(times) or LARGEST_TIMER_STEP_US


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


def mean_ratio(points: Sequence[tuple[Ratio, str, Sequence[int]]]) -> Interval:
    """The geometric mean of ratios, each with its machine code's name, and its processes, if any.

    Each process adds one deviation to all points with one machine code.
    """
    of_cause: dict[tuple[str, int], float] = {}
    for ratio, code, processes in points:
        shares = ratio.shares if processes else [hypot(*ratio.shares)]
        for cause, share in zip([(code, process) for process in processes] or [("", 0)], shares, strict=True):
            of_cause[cause] = of_cause.get(cause, 0.0) + share * ratio.process / len(points)
    pairs = _mean_of_means([ratio.pairs for ratio, _, _ in points], [1.0] * len(points))
    return Ratio(pairs, hypot(*of_cause.values())).interval


def verdict(ratio: Interval, margin: float) -> str:
    """The verdict on a ratio of times, after over before; `margin` is the smallest difference that matters."""
    upper, lower = 1 + margin, 1 / (1 + margin)
    if ratio.low > upper:
        return SLOWER
    if ratio.high < lower:
        return FASTER
    return SAME if lower <= ratio.low and ratio.high <= upper else UNDECIDED


class _OfPairs:
    """What the criteria of pairs share: at least FEWEST_PAIRS, and FEWEST_TRIMMED where these scatter."""

    most_samples = MOST_PAIRS

    def __init__(self, margin: float, seconds: float) -> None:
        self._margin = margin
        self.most_seconds = seconds
        self._logs: list[float] = []

    @property
    def fewest_samples(self) -> int:
        """A disturbed pair would count much among few. Among more, it is trimmed."""
        are_few = FEWEST_PAIRS <= len(self._logs) < FEWEST_TRIMMED
        return FEWEST_TRIMMED if are_few and stdev(self._logs) > self._margin else FEWEST_PAIRS

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a pair, whether the device was throttled or not: both of its samples were."""
        if before_us:
            self._logs.append(log(time_us / before_us))


class FixedSeconds(_OfPairs):
    """Takes pairs for so many seconds, whatever they say."""

    with_check = False

    def is_finished(self) -> bool:
        """Not before the seconds are over."""
        return False


class PairsDecide(_OfPairs):
    """Ends once pairs decide on a margin, or once more pairs would tell nothing beside how processes scatter.

    margin   the smallest difference that matters, as a fraction
    scatter  of processes, where it is known
    seconds  the visit takes no longer, if a few milliseconds are left for pairs
    """

    with_check = True

    def __init__(self, margin: float, scatter: Scatter | None = None, seconds: float = inf) -> None:
        super().__init__(margin, seconds)
        self._scatter = scatter
        self._times: list[float] = []
        self._look_at = 0
        self._is_finished = False

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a pair."""
        super().add(time_us, before_us, throttled)
        self._times += [time_us, before_us or time_us]

    def is_finished(self) -> bool:
        """Look at the pairs so far, if there are _GROWTH times as many as at the last look."""
        count = len(self._logs)
        if count >= self._look_at:
            self._look_at = min(MOST_PAIRS, ceil(_GROWTH * count))
            found = Pairs(self._times[-1], [self._logs], [False], step_us=_step(self._times)).ratio(self._scatter)
            self._is_finished = found is not None and (
                verdict(found.interval, self._margin) != UNDECIDED or found.pairs.reach < _NEGLIGIBLE * found.processes
            )
        return self._is_finished or count >= MOST_PAIRS
