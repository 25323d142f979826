"""The sampling loop: take samples of a point until its median is known well enough."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kernelsweep.statistics import FEWEST_SAMPLES, median_interval, timer_step

# Samples queued at once. What waits in the stream behind a sample slows its start and makes it scatter: of 20 samples
# queued at once, those of a kernel of 4.5 us read 0.6 us more and had three times the interquartile range of one sample
# alone; of two, neither differed (NVIDIA H200, driver 580). One alone costs 5 us of waiting more.
BATCH = 2

# The stopping criterion is asked again once there are this many times as many samples, for asking costs as much time as
# taking one or two.
GROWTH = 1.1


# Pauses for a throttled device at one point. What three don't help is no passing heat, but the device's limit.
MOST_PAUSES = 3


@dataclass(frozen=True)
class Sampling:
    """When sampling ends; the keys of config.yaml's `measuring`, which explains each."""

    relative_precision: float
    min_samples: int
    max_samples: int
    max_seconds: float
    pause_seconds: float = 0.0
    max_pause_seconds: float = 0.0
    energy_seconds: float = 0.0


@dataclass(frozen=True)
class Sampled:
    """A point's samples, microseconds; the other fields are those of outcome.Visit."""

    samples: list[float]
    settled: bool
    throttled: list[int]
    clean: bool


class Pauses:
    """Waits for a throttled device to recover: so many seconds each time, and in all."""

    def __init__(self, seconds: float, seconds_in_all: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._seconds = seconds
        self._left = seconds_in_all
        self._sleep = sleep

    def of_point(self) -> Callable[[], bool]:
        """A function that pauses once; False, without a pause, where this point or all of them had enough."""
        pauses = itertools.count(1)

        def pause() -> bool:
            if not self._seconds or self._left < self._seconds or next(pauses) > MOST_PAUSES:
                return False
            self._left -= self._seconds
            self._sleep(self._seconds)
            return True

        return pause


def never() -> bool:
    """Of a device that is never throttled: no pause."""
    return False


def sampling(measuring: Mapping[str, Any]) -> Sampling:
    """The settings of sampling among those of config.yaml's `measuring`."""
    return Sampling(**{field.name: measuring[field.name] for field in fields(Sampling)})


def share(settings: Sampling, visits: int) -> Sampling:
    """The settings for one of several visits to a point, such that all their samples together meet `settings`."""
    return Sampling(
        relative_precision=settings.relative_precision * math.sqrt(visits),
        min_samples=max(FEWEST_SAMPLES, math.ceil(settings.min_samples / visits)),
        max_samples=max(FEWEST_SAMPLES, math.ceil(settings.max_samples / visits)),
        max_seconds=settings.max_seconds / visits,
        pause_seconds=settings.pause_seconds,
        max_pause_seconds=settings.max_pause_seconds / visits,
        energy_seconds=settings.energy_seconds,
    )


def is_settled(times: Sequence[float], relative_precision: float) -> bool:
    """Whether the 95% confidence interval of the median is within +- relative_precision of it, or as narrow as the
    timer can tell.
    """
    median, low, high = median_interval(times)
    half_width = round(max(high - median, median - low), 3)
    return half_width <= relative_precision * median or half_width <= timer_step(times)


def sample(
    time_samples: Callable[[int], tuple[list[float], bool]],
    settings: Sampling,
    pause: Callable[[], bool] = never,
    clock: Callable[[], float] = time.monotonic,
) -> Sampled:
    """Samples of a point, until their median's interval has the precision asked for.

    time_samples  takes a number of samples; returns their times, and whether the device was throttled meanwhile
    pause         waits for a throttled device; False where it won't (any more)
    clock         seconds, for the ceiling of time

    Ends when is_settled(), after at least min_samples, and at the latest after max_samples or max_seconds. Throttled
    samples don't count, unless there is no pause left to have others; then all do.
    """
    started = clock()
    samples: list[float] = []
    throttled: list[int] = []
    counted: list[float] = []
    clean = True
    asked_at = settings.min_samples
    while True:
        times, held_back = time_samples(min(BATCH, settings.max_samples - len(counted)))
        if held_back:
            throttled += range(len(samples), len(samples) + len(times))
        samples += times
        if held_back and clean:
            paused_at = clock()
            if pause():
                started += clock() - paused_at
                continue
            clean, counted = False, list(samples)
        else:
            counted += times
        if len(counted) < settings.min_samples:
            continue
        at_ceiling = len(counted) >= settings.max_samples or clock() - started >= settings.max_seconds
        if at_ceiling or len(counted) >= asked_at:
            if is_settled(counted, settings.relative_precision):
                return Sampled(samples, True, throttled, clean)
            asked_at = math.ceil(GROWTH * len(counted))
        if at_ceiling:
            return Sampled(samples, False, throttled, clean)
