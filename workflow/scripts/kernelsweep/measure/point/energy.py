"""The energy of one run of a launch plan, by the device's own counter.

The counter moves in steps (every 100 ms on an H200). So runs are repeated for seconds, and the power between two steps
is multiplied by the time of one run. A run's preparation, such as a cache flush, is repeated on its own as well, and
its energy is subtracted.

A step is seen at the next read, at most one interval between reads late. So the seconds between two steps are known to
that interval, which is the error of the energy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kernelsweep.platforms.platform import Platform

# Seconds of work that are queued between two reads of the counter. A read takes up to 19 ms on an H200, and the device
# must stay busy meanwhile.
QUEUED_SECONDS = 0.05

# These runs fit into any stream's queue, so that queueing them does not wait for the device.
FEW_RUNS = 16

# If queueing takes a larger part of a run's time, the device waits for the host, and its energy isn't the run's.
LARGEST_QUEUEING_SHARE = 0.8

# The counter counts as stopped if it hasn't moved twice in this many times the wanted seconds.
PATIENCE = 10


@dataclass(frozen=True)
class Energy:
    """The energy of one run, and how far the true one may lie to either side, in millijoules."""

    value_mj: float
    error_mj: float


def energy_of_run(
    platform: Platform,
    run: Callable[[], None],
    prepare: Callable[[], None] | None,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Energy | None:
    """The energy of one run; None if the device has no counter, or runs faster than the host can queue.

    run      queues one run
    prepare  queues a run's preparation; None if it needs none
    seconds  how long to repeat the run, and then its preparation
    """

    def prepared() -> None:
        if prepare:
            prepare()
        run()

    with_run = _energy(platform, prepared, seconds, clock)
    if with_run is None or prepare is None:
        return with_run
    without = _energy(platform, prepare, seconds, clock)
    if without is None:
        return None
    return Energy(with_run.value_mj - without.value_mj, with_run.error_mj + without.error_mj)


def _energy(platform: Platform, queue: Callable[[], None], seconds: float, clock: Callable[[], float]) -> Energy | None:
    """The mean energy of what one call of `queue` queues."""
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
    last_read, longest_wait = started, 0.0
    while len(moved) < 2 or moved[-1][0] - moved[0][0] < seconds:
        for _ in range(count):
            queue()
        energy, now = platform.energy_mj(), clock()
        last_read, longest_wait = now, max(longest_wait, now - last_read)
        platform.synchronize()
        runs += count
        if energy is None or now - started > PATIENCE * seconds:
            return None
        if energy != before:
            moved.append((now, energy))
            before = energy
    run_seconds = (clock() - started) / runs
    (first, first_mj), (last, last_mj) = moved[0], moved[-1]
    value_mj = (last_mj - first_mj) / (last - first) * run_seconds
    return Energy(value_mj, value_mj * longest_wait / (last - first))


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
