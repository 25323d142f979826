"""The sampling loop: take samples of a point until its median is known well enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernelsweep.statistics import summarise

# Samples queued at once. More would save nothing, and the stopping criterion would be asked too seldom.
BATCH = 32

# A GPU's stream holds about a thousand queued operations before the host has to wait, which would never end while the
# stream itself waits for the host. A sample queues its launches and 4 operations besides.
MOST_QUEUED = 800
QUEUED_BESIDES_LAUNCHES = 4

# What CUDA's documentation gives as an event's resolution. Samples of only two values that are further apart are two
# speeds of the kernel, not two readings of the timer.
LARGEST_TIMER_STEP_US = 0.5


@dataclass(frozen=True)
class Sampling:
    """When sampling ends; the keys of config.yaml's `measuring`, which explains each."""

    relative_precision: float
    min_samples: int
    max_samples: int
    max_seconds: float


def timer_step(times: Sequence[float]) -> float:
    """The timer's resolution as the samples show it: the smallest difference between two (32 ns on an H200).

    Samples are whole nanoseconds, so differences are rounded to these as well.
    """
    distinct = sorted(set(times))
    steps = (round(later - earlier, 3) for earlier, later in pairwise(distinct))
    return min((step for step in steps if step <= LARGEST_TIMER_STEP_US), default=0.0)


def sample(
    time_samples: Callable[[int], list[float]],
    settings: Sampling,
    clock: Callable[[], float] = time.monotonic,
    launches: int = 1,
) -> tuple[list[float], bool]:
    """Samples in microseconds, and whether their median's interval reached the precision asked for.

    time_samples  takes a number of samples and returns their times
    clock         seconds, for the ceiling of time
    launches      of one sample, which limit how many samples can be queued at once

    Ends when the 95% confidence interval of the median is within +- relative_precision of it, or within what the timer
    can tell apart, after at least min_samples, and at the latest after max_samples or max_seconds.
    """
    started = clock()
    times: list[float] = []
    most = max(1, min(BATCH, MOST_QUEUED // (launches + QUEUED_BESIDES_LAUNCHES)))
    batch = min(settings.min_samples, most)
    while True:
        times += time_samples(batch)
        elapsed = clock() - started
        if len(times) >= settings.min_samples:
            summary = summarise(times)
            if round(summary.half_width, 3) <= max(settings.relative_precision * summary.median, timer_step(times)):
                return times, True
            if len(times) >= settings.max_samples or elapsed >= settings.max_seconds:
                return times, False
        affordable = int((settings.max_seconds - elapsed) / (elapsed / len(times))) if elapsed > 0 else most
        missing = settings.min_samples - len(times)
        batch = max(1, min(most, settings.max_samples - len(times), max(missing, affordable)))
