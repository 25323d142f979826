"""The timing of a point: samples, and the device's conditions meanwhile."""

from __future__ import annotations

from copy import deepcopy

from kernelsweep.device.outcome import Timing
from kernelsweep.device.pairs import FixedSeconds
from kernelsweep.device.platform import Conditions
from kernelsweep.device.point.point_run import PairedSamples, PointRun, Samples
from kernelsweep.device.sampling import Criterion, Taken, sample


def take_samples(
    run: PointRun,
    timed: Samples,
    criterion: Criterion,
    relative_precision: float,
    pairs: PairedSamples | None = None,
    spent: float = 0.0,
) -> Timing:
    """Time a point that was found right.

    criterion           when there are samples enough
    relative_precision  of the median, by which the samples count as settled
    pairs               samples of the point and of its partner, to be taken in place of its own
    spent               the seconds of the visit so far

    Raises LaunchError and ContextLost.
    """
    conditions: list[Conditions] = []
    before: list[float] = []

    def take(count: int) -> tuple[list[Taken], bool]:
        taken: list[Taken]
        if pairs:
            now, old = pairs.time()
            before.append(old)
            taken = [(now, old)]
        else:
            taken = [(time_us, None) for time_us in run.platform.time(timed, count)]
        conditions.append(run.platform.conditions())
        return taken, bool(conditions[-1].throttle_reasons)

    sampled = sample(take, deepcopy(criterion), relative_precision, spent)
    return Timing(
        **vars(sampled),
        before=before,
        fixed=isinstance(criterion, FixedSeconds),
        throttle_reasons=sorted({reason for seen in conditions for reason in seen.throttle_reasons}),
        clocks_are_set=any(seen.clocks_are_set for seen in conditions),
        device_uuid=run.platform.uuid,
        clock_mhz=min((seen.clock_mhz for seen in conditions if seen.clock_mhz is not None), default=None),
        temperature_c=max((seen.temperature_c for seen in conditions if seen.temperature_c is not None), default=None),
        power_w=conditions[-1].power_w,
    )
