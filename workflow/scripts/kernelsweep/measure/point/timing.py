"""The timing of a point: samples, the device's conditions meanwhile, and the energy of a run.

Energy is what the device's own counter says, which moves in steps (every 100 ms on an H200). So runs are repeated for
seconds, and the power between two steps is multiplied by the time of one run. A run's preparation, such as a cache
flush, is repeated on its own as well, and its energy is subtracted. A step is seen at the next read, at most one
interval between reads late: that interval is the error of the seconds between two steps, and so of the energy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log
from statistics import stdev

from kernelsweep.measure.outcome import Visit
from kernelsweep.measure.pairs import FEWEST_PAIRS, FEWEST_TRIMMED, MOST_PAIRS, Enough, PairRule
from kernelsweep.measure.point.point_run import PairedSamples, PointRun, Samples
from kernelsweep.measure.sampling import Sampling, sample
from kernelsweep.platforms.platform import Conditions, Platform

_LEAST_SECONDS = 0.004  # of pairs, however long the visit has taken before


def take_samples(
    run: PointRun,
    timed: Samples,
    sampling: Sampling,
    pairs: PairedSamples | None = None,
    enough: Enough | None = None,
    spent: float = 0.0,
) -> Visit:
    """Time a point that was found right.

    pairs   samples of it and of its earlier version, to be taken in place of its own until there are `enough`
    spent   the seconds of the visit so far

    Raises LaunchError and ContextLost.
    """
    conditions: list[Conditions] = []
    logs: list[float] = []
    before: list[float] = []

    def time_samples(count: int) -> tuple[list[float], bool]:
        if pairs and enough:
            times: list[float] = []
            # A disturbed pair would count much among few. Among more, it is trimmed.
            while not times or (FEWEST_PAIRS <= len(logs) < FEWEST_TRIMMED and stdev(logs) > enough.margin):
                now, old = pairs.time()
                times.append(now)
                before.append(old)
                logs.append(log(now / old))
        else:
            times = run.platform.time(timed, count)
        conditions.append(run.platform.conditions())
        return times, bool(conditions[-1].throttle_reasons)

    if pairs and enough:
        rule = PairRule(enough)
        if enough.seconds:
            seconds = enough.seconds if enough.fixed else max(_LEAST_SECONDS, enough.seconds - spent)
            sampling = replace(sampling, min_samples=FEWEST_PAIRS, max_samples=MOST_PAIRS, max_seconds=seconds)

        def has_enough(is_settled: Callable[[], bool]) -> bool:
            return (bool(enough.seconds) or is_settled()) and not enough.fixed and rule.is_met(logs, before[-1])

        sampled = sample(time_samples, sampling, has_enough=has_enough)
    else:
        sampled = sample(time_samples, sampling)
    return Visit(
        **vars(sampled),
        before=before,
        fixed=bool(enough and enough.fixed),
        throttle_reasons=sorted({reason for seen in conditions for reason in seen.throttle_reasons}),
        clocks_are_set=any(seen.clocks_are_set for seen in conditions),
        device_uuid=run.platform.uuid,
        clock_mhz=min((seen.clock_mhz for seen in conditions if seen.clock_mhz is not None), default=None),
        temperature_c=max((seen.temperature_c for seen in conditions if seen.temperature_c is not None), default=None),
        power_w=conditions[-1].power_w,
    )


def measure_energy(run: PointRun, seconds: float) -> Energy | None:
    """The energy of one run of a point, repeated for `seconds`; None if the device does not tell."""
    needs_preparation = run.memory.needs_restoring or run.is_cold or run.has_variables
    return energy_of_run(run.platform, run.launches(), run.preparation() if needs_preparation else None, seconds)


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
    queueing = _seconds_of(queue, FEW_RUNS, clock) / FEW_RUNS
    platform.synchronize()
    count = FEW_RUNS
    while (elapsed := _seconds_of(queue, count, clock, platform.synchronize)) < QUEUED_SECONDS:
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


def _seconds_of(
    queue: Callable[[], None], count: int, clock: Callable[[], float], wait: Callable[[], None] = lambda: None
) -> float:
    started = clock()
    for _ in range(count):
        queue()
    wait()
    return clock() - started
