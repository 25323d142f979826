"""How long a run's jobs take, and still take: as in the last run, or like those of their rule that have ended."""

from __future__ import annotations

import heapq
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kernelsweep.base.json_files import read_record, write_json
from kernelsweep.base.logs import in_minutes
from kernelsweep.errors import UserError
from kernelsweep.study.kernels.units import EMULATOR

# A job takes at most this many times as long as expected, and so many seconds more.
_LONGER, _SECONDS_MORE = 2.0, 5.0

# An estimate that is more than this many times the least before is not told: a reader plans with that one.
_MOST_RISE = 4 / 3

# The pace is the last run's until jobs of more than so many seconds have ended; and what is typical, whose kernels are
# others, until far more have.
_PRIOR, _PRIOR_OF_TYPICAL = 5.0, 60.0

# What a job of a rule takes where none has ended: measured in a first run of `all`, on two cores of a server. Only how
# they compare counts. So many jobs of a rule outweigh it.
_TYPICAL = {
    **{"check_problem": 1.1, "measure_on_emulator": 3.4, "prove_kernel": 3.4, "play_recording": 3.8, "judge": 11.0},
    **{"publish_study": 9.5, "write_steps": 0.1, "draw_accesses": 1.9, "make_page": 3.5},
    **dict.fromkeys(("build_emulator", "describe_device", "describe_environment", "collect", "collect_proofs"), 0.3),
    **dict.fromkeys(("end", "all"), 0.1),
}
_OUTWEIGH = 4

# The jobs of these rules on the emulator, whose results have no times to draw, are another kind.
_SHORT_ON_EMULATOR = {"judge": 2.3, "publish_study": 3.1, "make_page": 1.5}
_TYPICAL |= {f"{rule} on the emulator": seconds for rule, seconds in _SHORT_ON_EMULATOR.items()}

# By rule and log.
_Seconds = dict[str, dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]]


class TimeLeft:
    """The jobs of a run, each by its number, its rule and its log. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()
        self._running: dict[object, tuple[str, str, float]] = {}
        # Of jobs that have ended, and of the last run.
        self._took: _Seconds = {}
        self._last: _Seconds = {}
        self._begun: set[str] = set()
        self._started = 0.0
        self._least: float | None = None

    def plan(self, jobs: Mapping[str, int], file: Path) -> None:
        """Note how many jobs each rule has, and what keep() has written in the last run."""
        self._waiting, self._last = Counter(jobs), _read(file)
        if "measure_on_emulator" in jobs:  # No log tells before a job begins. With times, there are as many of both.
            for rule in _SHORT_ON_EMULATOR:
                emulated = jobs.get(rule, 0) // (2 if {"play_recording", "measure_kernel"} & {*jobs} else 1)
                self._waiting.update({rule: -emulated, f"{rule} on the emulator": emulated})

    def keep(self, file: Path) -> None:
        """Write how long each job took, in this run or in an earlier one, if a job has ended."""
        seconds = _read(file)
        for rule, took in self._took.items():
            seconds.setdefault(rule, {}).update(took)
        if self._took:
            with suppress(OSError):
                write_json(file, seconds)

    def begin(self, job: object, rule: str, log: str, now: float) -> None:
        """Note that a job begins."""
        rule, self._started = _kind(rule, log), self._started or now
        self._waiting[rule] -= 1
        self._begun.add(log)
        self._running[job] = rule, log, now

    def end(self, job: object, now: float) -> None:
        """Note that a job has ended."""
        if job in self._running:
            rule, log, begun = self._running.pop(job)
            self._took.setdefault(rule, {})[log] = now - begun

    def in_words(self, now: float) -> str:
        """The time left, in minutes where no earlier run tells how long a job takes; "" where nothing tells."""
        if not (left := self.seconds(now)) or left < 1:
            return ""
        minutes = round(left / 60)
        rough = f"about {minutes} min left" if minutes else "under a minute left"
        return f"{in_minutes(left)} left" if self._last else rough

    def seconds(self, now: float) -> float | None:
        """The seconds left. None where nothing tells: a job takes far longer than expected, the jobs that were planned
        with took too little, or, at first, of most of those that wait nothing is known.

        A job is expected to take as long as in the last run, by this run's pace; a new one as the others of its rule;
        of a new rule, as is typical, or as the mean of all. The sum is divided by the number of jobs that ran at once.
        """
        # Copies: jobs begin and end in other threads.
        took = {rule: {**jobs} for rule, jobs in [*self._took.items()]}
        ended = [seconds for jobs in took.values() for seconds in jobs.values()]
        typical = {rule: seconds for rule, seconds in _TYPICAL.items() if took and not self._last.get(rule)}
        before = [self._last.get(rule, {}).get(log, typical.get(rule)) for rule, jobs in took.items() for log in jobs]
        both = [pair for pair in zip(ended, before, strict=True) if pair[1] is not None]
        prior = _PRIOR if self._last else _PRIOR_OF_TYPICAL
        pace = (sum(seconds for seconds, _ in both) + prior) / (sum(seconds or 0 for _, seconds in both) + prior)
        waiting = {rule: count for rule, count in [*self._waiting.items()] if count > 0}
        likely: dict[str, float] = {}
        for rule in {**waiting, **took, **self._last}:
            last = [pace * seconds for log, seconds in self._last.get(rule, {}).items() if log not in self._begun]
            usual = [pace * typical[rule]] * _OUTWEIGH if rule in typical else []
            if of_rule := [*(last or took.get(rule, {}).values()), *usual]:
                likely[rule] = statistics.fmean(of_rule)
        unknown = sum(count for rule, count in waiting.items() if rule not in {**took, **self._last})
        if not likely or (self._least is None and 2 * unknown > sum(waiting.values())):
            return None
        mean = statistics.fmean(ended or likely.values())
        left = sum(count * likely.get(rule, mean) for rule, count in waiting.items())
        spent = sum(ended)
        for rule, log, begun in [*self._running.values()]:
            last_time = self._last.get(rule, {}).get(log)
            seconds, ran = likely.get(rule, mean) if last_time is None else pace * last_time, now - begun
            if ran > _LONGER * seconds + _SECONDS_MORE:
                return None
            left += max(0.0, seconds - ran)
            spent += ran
        left /= max(1.0, spent / max(now - self._started, 1e-9))
        if self._least is not None and left > _MOST_RISE * self._least:
            return None
        self._least = left if self._least is None else min(left, self._least)
        return left


@dataclass(frozen=True)
class PlannedJob:
    """A job of a dry run: its rule, log and files, and how much of each resource it takes, its cores among them."""

    rule: str
    log: str
    input: Sequence[str]
    output: Sequence[str]
    takes: Mapping[str, int]


def planned_seconds(jobs: Sequence[PlannedJob], has: Mapping[str, int], file: Path) -> float | None:
    """The seconds that a run of these jobs takes, in the order in which Snakemake plans them.

    Each begins once the jobs that make its input have ended and what it takes is free: on a GPU few measure at once,
    while others draw on the other cores. None where most of them never ran.

    has   how much the run has of each resource that is limited
    file  what TimeLeft.keep() has written
    """
    last = _read(file)
    usual = {**_TYPICAL, **{kind: statistics.fmean(seconds.values()) for kind, seconds in last.items() if seconds}}
    kinds = [_kind(job.rule, job.log) for job in jobs]
    if 2 * sum(kind not in last for kind in kinds) > len(jobs):
        return None
    seconds = [last.get(kind, {}).get(job.log, usual.get(kind, 0.0)) for kind, job in zip(kinds, jobs, strict=True)]
    takes = [{name: min(job.takes.get(name, 0), most) for name, most in has.items()} for job in jobs]
    makers = {made: number for number, job in enumerate(jobs) for made in job.output}
    order = TopologicalSorter({n: {makers[one] for one in job.input if one in makers} for n, job in enumerate(jobs)})
    order.prepare()
    free, ready, running, now = Counter(has), list[int](), list[tuple[float, int]](), 0.0
    while order.is_active():
        ready += order.get_ready()
        for number in [*ready]:
            if all(free[name] >= amount for name, amount in takes[number].items()):
                ready.remove(number)
                free.subtract(takes[number])
                heapq.heappush(running, (now + seconds[number], number))
        now, ended = heapq.heappop(running)
        free.update(takes[ended])
        order.done(ended)
    return now


def _kind(rule: str, log: str) -> str:
    return f"{rule} on the emulator" if rule in _SHORT_ON_EMULATOR and f"/{EMULATOR}/" in log else rule


def _read(file: Path) -> _Seconds:
    """What keep() has written; nothing if it was not called, or if the file is damaged."""
    with suppress(UserError):
        seconds: _Seconds = read_record(file, _Seconds)
        return seconds
    return {}
