"""The sampling loop: take samples of a point until a criterion is finished, such as: its median is known well enough.

A criterion has two methods, as in NVBench, and four limits: it is told each sample, and asked whether they are enough.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from kernelsweep.device.outcome import Timing
from kernelsweep.statistics import FEWEST_SAMPLES, median_interval, timer_step

# Samples queued at once. Work that waits in the stream behind a sample delays the sample and makes it scatter. With 20
# samples queued, a kernel of 4.5 us read 0.6 us more, and its interquartile range was three times that of single
# samples. With two samples queued, neither differed (NVIDIA H200, driver 580). Single samples wait 5 us longer each.
BATCH = 2

# The stopping criterion is evaluated again after this factor more samples: it takes as long as one or two samples.
GROWTH = 1.1

# Seconds of samples, however long a check has taken before.
_LEAST_SECONDS = 0.004

# Where few samples add up to so many microseconds, what scatters beside each is little.
LONG_US = 20_000.0


@dataclass(frozen=True)
class Sampling:
    """When sampling ends. The fields are keys of config.yaml's `measuring`, which explains each, but for the last.

    fewest_samples  so few suffice in place of min_samples where they add up to LONG_US and agree as well as is wanted
    """

    relative_precision: float
    min_samples: int
    max_samples: int
    max_seconds: float
    fewest_samples: int = FEWEST_SAMPLES


class Criterion(Protocol):
    """When a visit to a point has samples enough: it is told each sample, and asked. A sampling needs a new one.

    fewest_samples  no fewer are taken, however long they take
    most_samples    no more are taken
    most_seconds    nor any after so many seconds
    with_check      whether these seconds are those of the whole visit, its check included

    One that a Protocol has needs a repr() with all its settings: the journal tells visits apart by it.
    """

    @property
    def fewest_samples(self) -> int: ...  # noqa: D102
    @property
    def most_samples(self) -> int: ...  # noqa: D102
    @property
    def most_seconds(self) -> float: ...  # noqa: D102
    @property
    def with_check(self) -> bool: ...  # noqa: D102

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a sample; with that of an earlier version that ran beside it, where one did."""

    def is_finished(self) -> bool:
        """Whether the samples so far are enough. Called once there are fewest_samples."""


class MedianKnown:
    """Ends once the median's 95% interval has the wanted precision, by samples at the full clock."""

    with_check = False

    def __init__(self, settings: Sampling) -> None:
        self._settings = settings
        self._times: list[float] = []
        self._sum_us = 0.0
        self._look_at = settings.min_samples
        self.most_samples, self.most_seconds = settings.max_samples, settings.max_seconds

    @property
    def fewest_samples(self) -> int:
        """The protocol's min_samples; fewer where these are long."""
        settings = self._settings
        return settings.fewest_samples if self._sum_us >= LONG_US else settings.min_samples

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a sample, unless the device was throttled."""
        if not throttled:
            self._times.append(time_us)
            self._sum_us += time_us

    def is_finished(self) -> bool:
        """Whether the median is known well enough. It is looked at again after GROWTH times as many samples."""
        count, least = len(self._times), self._settings.min_samples
        if least <= count < self._look_at or count < self.fewest_samples:
            return False
        self._look_at = max(least, math.ceil(GROWTH * count))
        return is_settled(self._times, self._settings.relative_precision)


class FixedCount:
    """Ends after a fixed number of samples at the full clock, however they scatter; at most twice as many are taken.

    Samples are taken in pairs: of an odd number, one more.
    """

    with_check = False
    most_seconds = math.inf

    def __init__(self, count: int) -> None:
        self.fewest_samples, self.most_samples = count, 2 * count
        self._count = 0

    def __repr__(self) -> str:
        """What the journal tells criteria apart by."""
        return f"FixedCount({self.fewest_samples})"

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a sample, unless the device was throttled."""
        self._count += not throttled

    def is_finished(self) -> bool:
        """Whether there are so many."""
        return self._count >= self.fewest_samples


class Both:
    """Ends once two criteria do, within the limits of the first."""

    def __init__(self, first: Criterion, second: Criterion) -> None:
        self._first, self._second = first, second
        self.most_samples, self.most_seconds, self.with_check = first.most_samples, first.most_seconds, first.with_check

    @property
    def fewest_samples(self) -> int:
        """As many as each of the two needs."""
        return max(self._first.fewest_samples, self._second.fewest_samples)

    def add(self, time_us: float, before_us: float | None = None, throttled: bool = False) -> None:
        """Note a sample in both."""
        self._first.add(time_us, before_us, throttled)
        self._second.add(time_us, before_us, throttled)

    def is_finished(self) -> bool:
        """Whether both are finished."""
        return self._first.is_finished() and self._second.is_finished()


def sampling_settings(measuring: Mapping[str, Any]) -> Sampling:
    """The sampling settings in config.yaml's `measuring`."""
    return Sampling(**{field.name: measuring[field.name] for field in fields(Sampling) if field.name in measuring})


def per_visit(settings: Sampling, visits: int) -> Sampling:
    """The settings for one of several visits to a point, such that the visits' samples together meet `settings`."""
    return Sampling(
        relative_precision=settings.relative_precision * math.sqrt(visits),
        min_samples=max(FEWEST_SAMPLES, math.ceil(settings.min_samples / visits)),
        max_samples=max(FEWEST_SAMPLES, math.ceil(settings.max_samples / visits)),
        max_seconds=settings.max_seconds / visits,
        fewest_samples=math.ceil(FEWEST_SAMPLES / visits),
    )


def is_settled(times: Sequence[float], relative_precision: float) -> bool:
    """Whether the 95% confidence interval of the median is within +- relative_precision, or within a timer step."""
    median, low, high = median_interval(times)
    half_width = round(max(high - median, median - low), 3)
    return half_width <= relative_precision * median or half_width <= timer_step(times)


# A sample's microseconds, and those of an earlier version that ran beside it, or None.
Taken = tuple[float, float | None]


def sample(
    take: Callable[[int], tuple[list[Taken], bool]],
    criterion: Criterion,
    relative_precision: float,
    spent: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> Timing:
    """Take samples of a point until a criterion is finished.

    take                takes at most so many samples; returns them, and whether the device was throttled meanwhile
    criterion           a new one
    relative_precision  of the median, by which the samples count as settled
    spent               the seconds of the visit so far
    clock               seconds, for the time limit

    Throttled samples don't count, unless there are too few others at the end: then all do.
    """
    seconds = criterion.most_seconds
    if criterion.with_check:
        seconds = max(_LEAST_SECONDS, seconds - spent)
    started = clock()
    samples: list[float] = []
    throttled: list[int] = []
    while True:
        taken, is_throttled = take(min(BATCH, criterion.most_samples - len(samples)))
        if is_throttled:
            throttled += range(len(samples), len(samples) + len(taken))
        for time_us, before_us in taken:
            samples.append(time_us)
            criterion.add(time_us, before_us, is_throttled)
        at_limit = len(samples) >= criterion.most_samples or clock() - started >= seconds
        if len(samples) >= criterion.fewest_samples and (at_limit or criterion.is_finished()):
            break
    clean = len(samples) - len(throttled) >= min(criterion.fewest_samples, len(samples))
    timing = Timing(samples, throttled=throttled, clean=clean)
    timing.settled = is_settled(timing.counted, relative_precision)
    return timing
