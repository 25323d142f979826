"""The outcome of a point: its status, the result of its check, and the measurements of its visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from pydantic import ValidationError

from kernelsweep.base.json_files import adapter_of, first_mistake
from kernelsweep.device.platform import MemoryMistake
from kernelsweep.errors import readable
from kernelsweep.reasons import Reason
from kernelsweep.results import PARTIAL_BARRIER


@dataclass
class Timing:
    """The measurements of one visit to a point; None for a quantity that the platform doesn't report.

    samples           microseconds, in the order in which they were taken
    settled           whether sampling reached the wanted precision
    throttled         the numbers, from 0, of the samples during which the device was throttled
    clean             whether there are enough samples at the full clock; then the throttled ones don't count
    throttle_reasons  why the device was throttled, as in platform.Conditions
    clocks_are_set    whether the clock was held by a setting of the user's
    clock_mhz         the multiprocessors' lowest clock while sampling
    power_w           the board's power at the end
    other_processes   whether processes of others were on the device
    before            microseconds of the earlier version, each taken beside the sample of the same place; empty where
                      none ran
    fixed             whether the number of pairs was set before, whatever they say
    process           the number of the process that made the visit
    seconds           the duration of the visit, with the check
    busy_seconds      the part of it in which the device was at work
    """

    samples: list[float]
    settled: bool = True
    throttled: list[int] = field(default_factory=list)
    clean: bool = True
    throttle_reasons: list[str] = field(default_factory=list)
    clocks_are_set: bool = False
    clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    other_processes: bool = False
    device_uuid: str = ""
    before: list[float] = field(default_factory=list)
    fixed: bool = False
    process: int = 0
    seconds: float = 0.0
    busy_seconds: float = 0.0

    @property
    def counted(self) -> list[float]:
        """The samples that count for the point's time."""
        if not self.clean:
            return self.samples
        set_aside = set(self.throttled)
        return [time_us for number, time_us in enumerate(self.samples) if number not in set_aside]


def ended_early(visit: Timing) -> bool:
    """Whether a visit may have ended because pairs had decided: its time is not known as well as was wanted."""
    return bool(visit.before) and not visit.settled


_LONGEST_MESSAGE = 2_000  # characters; the end of a run shows several

# Failures that a machine may cause: another process has its memory, or ends ours.
_OF_MACHINE = ("launch_failed", "timed_out", "out_of_memory")


@dataclass
class Outcome:
    """A point's outcome: a status of results.STATUSES with its message.

    reason           of the status, for programs
    visits           empty if nothing was timed
    relative_error   of a floating-point sum, as in problems.problem.Judgement
    error_share      the largest error as a share of its bound, as in problems.problem.Judgement
    bit_identical    whether repeated runs of a floating-point point left the same bits; None if that was not tried
    output           as in problems.problem.Judgement
    leaves_state     whether a run leaves something in a variable in global memory, where the next one may find it
    mistakes         in the use of memory, where the platform watches
    once_wrong       the message of an earlier run with the same identity whose result was wrong; "" without one
    is_repeated      whether an earlier run with the same identity failed with the same words
    before_binary    the SHA-256 of the machine code of the earlier version, which visits' `before` are of; "" without
    counts           metrics of one run by name, where the platform counts
    touched          the elements of each array up to the last one that was accessed, where the platform watches
    seconds          how long the last visit took, as a process of ours saw it
    """

    status: str
    message: str = ""
    visits: list[Timing] = field(default_factory=list)
    occupancy: float | None = None
    relative_error: float | None = None
    error_share: float | None = None
    bit_identical: bool | None = None
    output: str = ""
    leaves_state: bool = False
    mistakes: list[MemoryMistake] = field(default_factory=list)
    once_wrong: str = ""
    is_repeated: bool = False
    before_binary: str = ""
    counts: dict[str, float] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    reason: Reason = Reason.NONE
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        self.message, self.reason = readable(self.message, _LONGEST_MESSAGE), Reason(self.reason)

    @property
    def may_pass(self) -> bool:
        """Whether it failed, and the next run may not: the machine may have been at fault, and not the kernel.

        With a reason, a launch has failed on the emulator, which does the same again.
        """
        return self.status in _OF_MACHINE and not self.is_repeated and not self.reason

    @property
    def samples(self) -> list[float]:
        """The samples that count, of all visits."""
        return [time_us for visit in self.visits for time_us in visit.counted]


def outcome_values(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON has it: what read_outcome() reads. dataclasses.asdict() would copy each sample."""
    return {**vars(outcome), "visits": [*map(vars, outcome.visits)], "mistakes": [*map(vars, outcome.mistakes)]}


def read_outcome(values: Mapping[str, Any]) -> Outcome:
    """The outcome whose outcome_values() `values` are, after their way through JSON.

    Raises ValueError where they are none: a journal may have been edited, and a kernel may write an answer.
    """
    try:
        outcome: Outcome = adapter_of(Outcome).validate_python(values, extra="forbid")
    except ValidationError as error:
        raise ValueError(f"outcome: {first_mistake(error)}") from error
    times = (time_us for visit in outcome.visits for time_us in (*visit.samples, *visit.before))
    if not all(0 < time_us < inf for time_us in times):
        raise ValueError("samples are numbers above 0")
    return outcome


def combined(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of a point with several visits: the first failure, or the first outcome with all visits.

    Pairs are those with one earlier version.
    """
    failure = next((outcome for outcome in outcomes if outcome.status != "ok"), None)
    once_wrong = next((outcome.once_wrong for outcome in outcomes if outcome.once_wrong), "")
    binary = next((outcome.before_binary for outcome in outcomes if outcome.before_binary), "")
    visits = [
        # Another edit came between.
        visit if outcome.before_binary == binary else replace(visit, before=[])
        for outcome in outcomes
        for visit in outcome.visits
    ]
    return failure or replace(outcomes[0], visits=visits, once_wrong=once_wrong, before_binary=binary)


def flags_of(outcome: Outcome, undefined_behaviour: bool) -> list[str]:
    """A point's flags, in the order in which results.MEASUREMENT_COLUMNS explains them.

    undefined_behaviour  whether the kernel's behaviour is undefined
    """
    remarks = {
        "noisy": any(not visit.settled for visit in outcome.visits),
        "undefined_behaviour": undefined_behaviour,
        "throttled": any(not visit.clean for visit in outcome.visits),
        "once_wrong": outcome.status == "ok" and bool(outcome.once_wrong),
        "runs_again": outcome.may_pass,
        "set_clocks": any(visit.clocks_are_set for visit in outcome.visits),
        "other_processes": any(visit.other_processes for visit in outcome.visits),
        PARTIAL_BARRIER: any(mistake.kind == PARTIAL_BARRIER for mistake in outcome.mistakes),
        "leaves_state": outcome.leaves_state,
    }
    return [name for name, holds in remarks.items() if holds]
