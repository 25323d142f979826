"""The timing of a point: samples, the device's conditions meanwhile, and the energy of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from kernelsweep.measure.outcome import Visit
from kernelsweep.measure.point.energy import Energy, energy_of_run
from kernelsweep.measure.point.point_run import PairedSamples, PointRun, Samples
from kernelsweep.measure.sampling import Sampling, sample
from kernelsweep.platforms.platform import Conditions
from kernelsweep.statistics import median_interval

# Pairs are taken until the 95% interval of their median ratio is so narrow, as a fraction to either side, or this
# fraction of the distance from 1; and at most so many a visit.
_RATIO_PRECISION, _RATIO_SHARE = 0.005, 0.1
_MOST_PAIRS = 60


def take_samples(
    run: PointRun, timed: Samples, sampling: Sampling, pause: Callable[[], bool], pairs: PairedSamples | None = None
) -> Visit:
    """Time a point that was found right.

    pairs  samples of it and of its earlier version, to be taken in place of its own
    pause  waits for a throttled device; returns False once it waits no more

    Raises LaunchError and ContextLost.
    """
    conditions: list[Conditions] = []
    ratios: list[float] = []
    before: list[float] = []

    def time_samples(count: int) -> tuple[list[float], bool]:
        if pairs:
            times, others = pairs.time(1)
            before.extend(others)
            ratios.append(times[0] / others[0])
        else:
            times = run.platform.time(timed, count)
        conditions.append(run.platform.conditions())
        return times, bool(conditions[-1].throttle_reasons)

    def ratio_is_known() -> bool:
        if not pairs or len(ratios) >= _MOST_PAIRS:
            return True
        middle, low, high = median_interval(ratios)
        return max(high - middle, middle - low) <= max(_RATIO_PRECISION, _RATIO_SHARE * abs(middle - 1))

    sampled = sample(time_samples, sampling, pause, has_enough=ratio_is_known)
    if pairs:
        run.platform.time(timed, 1)  # Its results are checked; those of the last pair may be the earlier version's.
    return Visit(
        **asdict(sampled),
        before=before,
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
