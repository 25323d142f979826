"""The sampling loop: take samples of a point until its median is known well enough."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from kernelsweep.statistics import FEWEST_SAMPLES, median_interval, timer_step

# Samples queued at once. Work that waits in the stream behind a sample delays the sample and makes it scatter. With 20
# samples queued, a kernel of 4.5 us read 0.6 us more, and its interquartile range was three times that of single
# samples. With two samples queued, neither differed (NVIDIA H200, driver 580). Single samples wait 5 us longer each.
BATCH = 2

# The stopping criterion is evaluated again after this factor more samples: it takes as long as one or two samples.
GROWTH = 1.1


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


@dataclass(frozen=True)
class Sampled:
    """A point's samples in microseconds. The other fields are as in outcome.Visit."""

    samples: list[float]
    settled: bool
    throttled: list[int]
    clean: bool


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


def sample(
    time_samples: Callable[[int], tuple[list[float], bool]],
    settings: Sampling,
    clock: Callable[[], float] = time.monotonic,
    has_enough: Callable[[Callable[[], bool]], bool] = lambda settled: settled(),
) -> Sampled:
    """Take samples of a point until their median's interval has the wanted precision.

    time_samples  takes a number of samples; returns their times, and whether the device was throttled meanwhile
    clock         seconds, for the time limit
    has_enough    whether to end, given a function that says whether the samples are settled, which takes its time

    Ends when has_enough(), after at least min_samples, and at the latest after max_samples or max_seconds. Throttled
    samples don't count, unless there are too few others at the end: then all do.
    """
    started = clock()
    samples: list[float] = []
    throttled: list[int] = []
    unthrottled: list[float] = []
    asked_at = settings.min_samples
    while True:
        times, held_back = time_samples(min(BATCH, settings.max_samples - len(samples)))
        if held_back:
            throttled += range(len(samples), len(samples) + len(times))
        else:
            unthrottled += times
        samples += times
        at_ceiling = len(samples) >= settings.max_samples or clock() - started >= settings.max_seconds
        clean = not at_ceiling or len(unthrottled) >= min(settings.min_samples, len(samples))
        counted = unthrottled if clean else samples
        are_few = len(counted) < settings.min_samples
        if are_few and (len(counted) < settings.fewest_samples or sum(counted) < LONG_US):
            continue
        if at_ceiling or are_few or len(counted) >= asked_at:
            settled = partial(is_settled, counted, settings.relative_precision)
            if has_enough(settled) or at_ceiling:
                return Sampled(samples, settled(), throttled, clean)
            asked_at = max(settings.min_samples, math.ceil(GROWTH * len(counted)))
