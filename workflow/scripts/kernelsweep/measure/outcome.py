"""What became of a point: its status, what its check showed, and what every visit to it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class Visit:
    """What one visit to a point measured; None for what the platform doesn't tell.

    samples           microseconds, in the order in which they were taken
    settled           whether sampling reached the precision asked for
    throttled         the numbers, from 0, of the samples during which the device's clock was held back
    clean             whether enough samples could be had at the full clock; then the throttled ones don't count
    throttle_reasons  why the clock was held back, as platforms.Conditions has it
    clock_mhz         the multiprocessors' lowest clock while sampling; temperature_c the highest temperature,
                      power_w the board's power at the end
    other_processes   whether processes besides ours were on the device
    device_uuid       the device's, for two of one model differ
    energy_mj         of one run of the launch plan, millijoules; None where that wasn't asked for
    seconds           what the visit took, checking included; busy_seconds of that, the device was at work
    """

    samples: list[float]
    settled: bool = True
    throttled: list[int] = field(default_factory=list)
    clean: bool = True
    throttle_reasons: list[str] = field(default_factory=list)
    clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    other_processes: bool = False
    device_uuid: str = ""
    energy_mj: float | None = None
    seconds: float = 0.0
    busy_seconds: float = 0.0

    @property
    def counted(self) -> list[float]:
        """The samples that the point's time is made of."""
        if not self.clean:
            return self.samples
        set_aside = set(self.throttled)
        return [time_us for number, time_us in enumerate(self.samples) if number not in set_aside]


@dataclass
class Outcome:
    """A point's outcome: a status of results.STATUSES with its message.

    visits          empty where nothing was timed
    relative_error  of a floating-point sum, see problems.problem.Judgement; so is output
    bit_identical   whether repeated runs of a floating-point point left the same bits; None where that wasn't tried
    updates_input   whether the run that was checked left another input than it got; it is restored before every other
    """

    status: str
    message: str = ""
    visits: list[Visit] = field(default_factory=list)
    occupancy: float | None = None
    relative_error: float | None = None
    bit_identical: bool | None = None
    output: str = ""
    updates_input: bool = False

    @property
    def samples(self) -> list[float]:
        """The samples that count, of all visits."""
        return [time_us for visit in self.visits for time_us in visit.counted]


def read_outcome(values: Mapping[str, Any]) -> Outcome:
    """The outcome that dataclasses.asdict() made `values` of, as after a way through JSON."""
    return Outcome(**{**values, "visits": [Visit(**visit) for visit in values["visits"]]})


def combined(outcomes: Sequence[Outcome]) -> Outcome:
    """What became of a point that was visited several times: the first failure, or the first with all visits."""
    failure = next((outcome for outcome in outcomes if outcome.status != "ok"), None)
    return failure or replace(outcomes[0], visits=[visit for outcome in outcomes for visit in outcome.visits])


def flags_of(outcome: Outcome, undefined_behaviour: bool) -> list[str]:
    """The remarks on a point, in the order in which results.MEASUREMENT_COLUMNS explains them.

    undefined_behaviour  whether the kernel has some
    """
    remarks = {
        "noisy": any(not visit.settled for visit in outcome.visits),
        "undefined_behaviour": undefined_behaviour,
        "throttled": any(not visit.clean for visit in outcome.visits),
        "other_processes": any(visit.other_processes for visit in outcome.visits),
    }
    return [name for name, holds in remarks.items() if holds]
