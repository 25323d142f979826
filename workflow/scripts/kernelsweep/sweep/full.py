"""The strategy of a full sweep: every visit of the protocol to every point."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

from kernelsweep.device.outcome import Outcome
from kernelsweep.device.pairs import PairsDecide
from kernelsweep.device.sampling import Both, MedianKnown
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.client import Workers
from kernelsweep.study.kernel_sweep import PlannedPoint
from kernelsweep.study.point import Point
from kernelsweep.sweep.bench import Bench, Front
from kernelsweep.sweep.decided import decided, first_points
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.loop import run
from kernelsweep.sweep.visit import Partners, Visit
from kernelsweep.sweep.visits import Groups, Visits, find_visits

# After this many points of a kernel have timed out, the others are not run.
_MOST_TIMED_OUT = 2

# Gives the groups of a visit's number in the order in which they can be measured.
InOrder = Callable[[Groups, int], Iterable[list[Visit]]]


class FullSweep:
    """Visits each point protocol.visits times, each time by another process and in another order.

    So drift does not fall on one variant, and differences between processes show in the samples. The first visit checks
    the result. Visits that the journal has are not repeated. A point that fails is not visited again in this run, but
    in the next. Once two points have timed out, the others become skipped. A point that has a partner runs in pairs
    with it until these decide.

    total, done  the number of visits, and how many of them are over
    """

    def __init__(
        self,
        visits: Visits,
        in_order: InOrder = lambda groups, _: groups.values(),
        find_partners: Callable[[], Partners | None] = lambda: None,
        margin: float = 0.01,
        seconds: float = inf,
    ) -> None:
        """Take the visits that are missing.

        in_order       of groups
        find_partners  finds what points run in pairs with, once their device is being opened
        margin         the smallest difference between a point and its partner that matters, as a fraction
        seconds        after which no further visit begins, but for the first
        """
        self._seconds, self._end = seconds, time.monotonic() + seconds
        self._visits, self._in_order, self._find_partners, self._margin = visits, in_order, find_partners, margin
        self._failed: set[Point] = set()
        self._timed_out: list[Point] = []
        self.total, self.done = sum(map(len, visits.missing)), 0

    def visits(self) -> Iterator[Visit]:
        """The missing visits, one number after another."""
        for number in self._visits.numbers:
            scatter, sampling = self._visits.scatter(), self._visits.task.protocol.sampling
            needless: set[Point] | None = None
            for group in self._in_order(self._visits.groups(number, self._visits.missing[number]), number):
                if self._partners and needless is None:
                    needless = decided(self._visits, number, self._margin, scatter, self._first)
                for visit in group:
                    if sampling and needless is not None and visit.point not in needless:
                        paired = Both(MedianKnown(sampling), PairsDecide(self._margin, scatter))
                        visit = replace(visit, partners=self._partners, paired=paired)
                    yield from self._unless_failed(visit)

    def variants(self) -> Iterator[str]:
        """The missing visits' variants, in the order in which they run first."""
        for number in self._visits.numbers:
            for group in self._visits.groups(number, self._visits.missing[number]).values():
                yield from (visit.variant for visit in group)

    def add(self, visit: Visit, outcome: Outcome) -> None:
        """Take the outcome of a visit."""
        self._visits.made[visit.point][visit.number] = outcome
        self.done += 1
        if outcome.status != "ok":
            self._failed.add(visit.point)
        if outcome.status == "timed_out":
            self._timed_out.append(visit.point)

    def _unless_failed(self, visit: Visit) -> Iterator[Visit]:
        """The visit, unless its point has failed; with the reason to skip it where others took too long."""
        if visit.point in self._failed:
            self.done += 1
        elif len(self._timed_out) == _MOST_TIMED_OUT:
            others = "; ".join(map(str, self._timed_out))
            yield replace(visit, skip=f"not run, because others took too long: {others}")
        elif self.done and time.monotonic() > self._end:
            yield replace(visit, skip=f"not run, because {self._seconds:.0f} s were over")
        else:
            yield visit

    @cached_property
    def _partners(self) -> Partners | None:
        return self._find_partners()

    @cached_property
    def _first(self) -> frozenset[Point]:
        return first_points(self._visits)


def sweep_points(
    task: KernelTask,
    planned: Sequence[PlannedPoint],
    outcomes: Mapping[Point, Outcome],
    journal: Journal,
    device: Mapping[str, Any],
) -> dict[Point, Outcome]:
    """The outcome of every planned point of a task that has a binary, on a device that is the caller's.

    outcomes  of points that are not run
    device    its description

    Raises as loop.run() does.
    """
    visits = find_visits(task, planned, outcomes, journal, device)
    if not visits.is_done:
        with Workers(task, visits.numbers) as workers, Bench(task, Front(journal), workers) as bench:
            run(FullSweep(visits), bench)
    return visits.results()
