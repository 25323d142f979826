"""The energy of one run of a launch plan, by the device's own counter.

The counter moves in steps (every 100 ms on an H200), so runs are repeated for seconds, and their power from one step to
another is multiplied by the time of one. What prepares a run, such as flushing the cache, is repeated by itself as
well, and its energy taken off.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kernelsweep.platforms.platform import Platform

# What is queued between two looks at the counter, seconds: more than a look takes (19 ms at most on an H200), so that
# the device has something to do meanwhile.
QUEUED_SECONDS = 0.05

# So few fit into any stream's queue, so that queueing them is not waiting for the device.
FEW_RUNS = 16

# Where queueing a run takes more of its time than this, the device waits for the host: its energy isn't the run's.
LARGEST_QUEUEING_SHARE = 0.8

# A counter that hasn't moved twice in so many times the seconds asked for doesn't move.
PATIENCE = 10


def energy_of_run(
    platform: Platform,
    run: Callable[[], None],
    prepare: Callable[[], None] | None,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> float | None:
    """Millijoules of one run; None where the device doesn't count them, or runs faster than the host can queue.

    run, prepare  each queues its part; prepare is None where a run needs none
    seconds       how long to repeat the run, and again what prepares it
    """

    def prepared() -> None:
        if prepare:
            prepare()
        run()

    with_run = _energy(platform, prepared, seconds, clock)
    if with_run is None or prepare is None:
        return with_run
    without = _energy(platform, prepare, seconds, clock)
    return None if without is None else with_run - without


def _energy(platform: Platform, queue: Callable[[], None], seconds: float, clock: Callable[[], float]) -> float | None:
    """Millijoules of what `queue` queues once, on average."""
    before = platform.energy_mj()
    if before is None:
        return None
    platform.synchronize()
    queueing = _seconds_to_queue(queue, FEW_RUNS, clock) / FEW_RUNS
    platform.synchronize()
    count = FEW_RUNS
    while (elapsed := _seconds_to_run(platform, queue, count, clock)) < QUEUED_SECONDS:
        count *= 2
    if queueing > LARGEST_QUEUEING_SHARE * elapsed / count:
        return None
    moved: list[tuple[float, int]] = []
    runs, started = 0, clock()
    while len(moved) < 2 or moved[-1][0] - moved[0][0] < seconds:
        for _ in range(count):
            queue()
        energy, now = platform.energy_mj(), clock()
        platform.synchronize()
        runs += count
        if energy is None or now - started > PATIENCE * seconds:
            return None
        if energy != before:
            moved.append((now, energy))
            before = energy
    run_seconds = (clock() - started) / runs
    (first, first_mj), (last, last_mj) = moved[0], moved[-1]
    return (last_mj - first_mj) / (last - first) * run_seconds


def _seconds_to_queue(queue: Callable[[], None], count: int, clock: Callable[[], float]) -> float:
    started = clock()
    for _ in range(count):
        queue()
    return clock() - started


def _seconds_to_run(platform: Platform, queue: Callable[[], None], count: int, clock: Callable[[], float]) -> float:
    started = clock()
    _seconds_to_queue(queue, count, clock)
    platform.synchronize()
    return clock() - started
