"""The sampling loop: take samples of a point until its median is known well enough."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kernelsweep.statistics import FEWEST_SAMPLES, summarise, timer_step

# Samples queued at once. What waits in the stream behind a sample slows its start and makes it scatter: of 20 samples
# queued at once, those of a kernel of 4.5 us read 0.6 us more and had three times the interquartile range of one sample
# alone; of two, neither differed (NVIDIA H200, driver 580). One alone costs 5 us of waiting more.
BATCH = 2

# The stopping criterion is asked again once there are this many times as many samples, for asking costs as much time as
# taking one or two.
GROWTH = 1.1


@dataclass(frozen=True)
class Sampling:
    """When sampling ends; the keys of config.yaml's `measuring`, which explains each."""

    relative_precision: float
    min_samples: int
    max_samples: int
    max_seconds: float


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
    )


def is_settled(times: Sequence[float], relative_precision: float) -> bool:
    """Whether the 95% confidence interval of the median is within +- relative_precision of it, or as narrow as the
    timer can tell.
    """
    summary = summarise(times)
    return round(summary.half_width, 3) <= max(relative_precision * summary.median, timer_step(times))


def sample(
    time_samples: Callable[[int], list[float]], settings: Sampling, clock: Callable[[], float] = time.monotonic
) -> tuple[list[float], bool]:
    """Samples in microseconds, and whether their median's interval reached the precision asked for.

    time_samples  takes a number of samples and returns their times
    clock         seconds, for the ceiling of time

    Ends when is_settled(), after at least min_samples, and at the latest after max_samples or max_seconds.
    """
    started = clock()
    times: list[float] = []
    asked_at = settings.min_samples
    while True:
        times += time_samples(min(BATCH, settings.max_samples - len(times)))
        if len(times) < settings.min_samples:
            continue
        at_ceiling = len(times) >= settings.max_samples or clock() - started >= settings.max_seconds
        if at_ceiling or len(times) >= asked_at:
            if is_settled(times, settings.relative_precision):
                return times, True
            asked_at = math.ceil(GROWTH * len(times))
        if at_ceiling:
            return times, False
