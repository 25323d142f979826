"""The timing of a point: samples, and the device's conditions meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from statistics import stdev

from kernelsweep.measure.outcome import Visit
from kernelsweep.measure.pairs import FEWEST_PAIRS, FEWEST_TRIMMED, MOST_PAIRS, Enough, PairRule
from kernelsweep.measure.point.point_run import PairedSamples, PointRun, Samples
from kernelsweep.measure.sampling import Sampling, sample
from kernelsweep.platforms.platform import Conditions

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
