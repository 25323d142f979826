"""The variation between visits to a point in a run, as a function of the point's time.

Each process runs all its points a little faster or slower than another process, and few processes visit each point.
Three visits are close together by chance now and then, and then the point's own interval is too narrow. But all points
of a run together show the usual variation. The model for the relative variance of a visit's median at a time t is

    fixed / t^2 + accumulated / t + relative

with one term for a fixed time (a launch), one for independent contributions that accumulate while the kernel runs, and
one for a fraction of the time (a clock). The three coefficients maximise the likelihood of the points' own variances
under the gamma distribution, which variances of normal medians have. (All three are needed: without the second term,
visits to points of 50 to 300 us had twice the predicted variance; NVIDIA H200.)

A visit may be disturbed, and lie 30% from the others. Two such points among 168 made the intervals of all of them ten
times as wide (NVIDIA H200). So points whose visits lie farther apart than the model allows are left out of the fit.

Each point gets the larger of two variances: the model's at its time, and the one of its own visits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelsweep.statistics import Interval, student_quantile, time_interval

# The intervals' confidence, so that at most 1% of points with identical code are called faster or slower.
RATIO_CONFIDENCE = 0.99

# The visits of rows without that column: visit_spread is older than the column, and three was the default.
USUAL_VISITS = 3

# The chance that the fit leaves a point out though none was disturbed.
_LEFT_OUT_BY_CHANCE = 0.01

# After this many steps of the fit, the coefficients change by less than a thousandth.
_FIT_STEPS = 400

# A grid for integrals over normal distributions: ends and steps in standard deviations.
_FARTHEST, _STEP = 8.0, 0.02


@dataclass(frozen=True)
class Scatter:
    """The model of the relative variance of a visit's median, with times in microseconds.

    degrees  of freedom: the number of processes in the estimate, minus one for each kernel's sweep. A kernel's points
             share their processes, so that many points of few processes show little of the variation between
             processes.
    """

    fixed: float
    accumulated: float
    relative: float
    degrees: int

    def variance(self, time_us: Any) -> Any:
        """The relative variance of one visit's median; of an array of times, an array."""
        return self.fixed / time_us**2 + self.accumulated / time_us + self.relative

    def quantile(self, confidence: float = RATIO_CONFIDENCE) -> float:
        """The half-width of an interval in standard errors."""
        return student_quantile((1 + confidence) / 2, self.degrees)


def visits_of(row: Mapping[str, Any]) -> int:
    """The number of visits behind a row's time."""
    return int(row.get("visits") or (USUAL_VISITS if row.get("visit_spread") else 1))


def own_variance(row: Mapping[str, Any]) -> float | None:
    """The relative variance of one visit's median, from the row's own visits; None if there is only one."""
    if not row.get("visit_spread"):
        return None
    return float(row["visit_spread"]) ** 2 / range_squared(visits_of(row))


def estimate(*runs: Iterable[Mapping[str, Any]]) -> Scatter | None:
    """Fit the model to all rows of the runs with several visits; None if there are none.

    A kernel's rows in one run share their processes.
    """
    times: list[float] = []
    variances: list[float] = []
    counts: list[int] = []
    visits: dict[tuple[int, str, str], int] = {}
    for run, row in ((run, row) for run, rows in enumerate(runs) for row in rows):
        variance = own_variance(row)
        if variance is None:
            continue
        times.append(float(row["time_us"]))
        variances.append(variance)
        counts.append(visits_of(row))
        sweep = (run, row["study"], row["kernel"])
        visits[sweep] = max(visits.get(sweep, 0), visits_of(row))
    return fitted(times, variances, counts, sum(visits.values()) - len(visits))


def fitted(
    times: Sequence[float],
    variances: Sequence[float],
    counts: Sequence[int],
    degrees: int,
    known: Sequence[float] | None = None,
) -> Scatter | None:
    """Fit the model to points, by their times and the relative variances of their visits; None without points.

    counts  the visits of each point
    known   the part of each variance that is none of the model's
    """
    if not len(times):
        return None
    within = np.zeros(len(times)) if known is None else np.array(known)
    fixed, accumulated, relative = _undisturbed(np.array(times), np.array(variances), np.array(counts), within)
    return Scatter(float(fixed), float(accumulated), float(relative), degrees)


def _undisturbed(
    times: npt.NDArray[np.float64],
    variances: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    known: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """The coefficients that fit the points whose variances they allow; the others' visits were disturbed."""
    # The most that a variance is of the true one, if all are undisturbed: two of its visits lie farther apart only with
    # a probability of _LEFT_OUT_BY_CHANCE over all pairs and points.
    reach = {
        count: NormalDist().inv_cdf(1 - _LEFT_OUT_BY_CHANCE / (len(times) * count * (count - 1)))
        for count in map(int, np.unique(counts))
    }
    most = np.array([2 * reach[int(count)] ** 2 / range_squared(int(count)) for count in counts])
    kept = np.ones(len(times), bool)
    while True:
        coefficients = _fit(times[kept], variances[kept], known[kept])
        allowed = variances <= most * (coefficients @ _terms(times) + known)
        if not (kept & ~allowed).any():
            return coefficients
        kept &= allowed


def _terms(times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.stack([times**-2, times**-1, np.ones_like(times)])


def _fit(
    times: npt.NDArray[np.float64], variances: npt.NDArray[np.float64], known: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The three coefficients, which are non-negative.

    Multiplicative updates minimise the Itakura-Saito divergence, the gamma distribution's deviance: Févotte, Bertin
    and Durrieu, "Nonnegative matrix factorization with the Itakura-Saito divergence", Neural Computation 21
    (2009), 793-830.
    """
    terms = _terms(times)
    coefficients = np.array([float(np.mean(variances / term)) for term in terms]) / len(terms)
    if not variances.any():
        return coefficients
    for _ in range(_FIT_STEPS):
        expected = coefficients @ terms + known
        coefficients = coefficients * np.sqrt(terms @ (variances / expected**2) / (terms @ (1 / expected)))
    return coefficients


def widened(row: Mapping[str, Any], scatter: Scatter) -> Interval:
    """A row's time with an interval that covers run-to-run variation, no narrower than its own."""
    time = time_interval(row)
    reach = exp(reach_of(time.value, own_variance(row) or 0.0, visits_of(row), scatter, RATIO_CONFIDENCE))
    return Interval(time.value, min(time.low, time.value / reach), max(time.high, time.value * reach))


def reach_of(time_us: Any, own: Any, visits: Any, scatter: Scatter, confidence: float) -> Any:
    """How far the logarithm of a time's interval reaches, by how processes scatter; of numbers, or of arrays.

    own     the relative variance of one of its visits' medians, by these; 0 where it is not known
    visits  their number
    """
    return scatter.quantile(confidence) * np.sqrt(np.maximum(scatter.variance(time_us), own) / visits)


@cache
def range_squared(count: int) -> float:
    """The expected square of the range of `count` independent standard normal values: 2 for two, 3.65 for three.

    Raises ValueError for fewer than two, which have no range.
    """
    if count < 2:
        raise ValueError(f"{count} values have no range")
    places = np.arange(-_FARTHEST, _FARTHEST, _STEP)
    below = np.array([NormalDist().cdf(place) for place in places])
    density = np.array([NormalDist().pdf(place) for place in places])
    total = 0.0
    for step in range(len(places)):
        # The probability that all other values lie within `step` above the smallest one.
        within = np.append(below[step:], np.ones(step)) - below
        larger = 1 - count * float(np.sum(density * within ** (count - 1))) * _STEP
        total += 2 * (step * _STEP) * larger * _STEP
    return total
