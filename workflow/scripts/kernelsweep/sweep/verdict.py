"""The strategy of a verdict on an edit: no more visits than decide on it at each size."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kernelsweep.device.pairs import FixedSeconds, PairsDecide
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.sweep.decided import decided, first_points, is_short
from kernelsweep.sweep.full import FullSweep, InOrder
from kernelsweep.sweep.visit import Partners, Visit
from kernelsweep.sweep.visits import Visits

# The first visits share so many seconds, and so many more a point; each further one to the sizes that stay undecided
# has its own. At the first points, the pairs' seconds are fixed.
_SECONDS, _SECONDS_A_POINT, _FURTHER_SECONDS, _FIXED_SECONDS = 1.5, 0.006, 1.5, 0.02


class VerdictSweep(FullSweep):
    """Visits one point of each size first, in all processes, and then the others, until each size is decided.

    Processes share the points that take little time. A point that was compared once is left out when the time is over.
    """

    def __init__(
        self, visits: Visits, margin: float, in_order: InOrder, find_partners: Callable[[], Partners | None]
    ) -> None:
        super().__init__(visits, in_order, find_partners, margin)
        self._numbers, self._ends = visits.numbers, 0.0

    @property
    def first(self) -> frozenset[Point]:
        """The points that are visited first."""
        return self._first

    def visits(self) -> Iterator[Visit]:
        """The visits to the first points, and then those to the others that are still undecided."""
        for number in self._numbers:
            yield from self._to_first(number)
        for number in self._numbers:
            yield from self._to_others(number)

    def variants(self) -> Iterator[str]:
        """The missing visits' variants, those of the first points first."""
        for are_first in (True, False):
            for number in self._numbers:
                chosen = [one for one in self._visits.missing[number] if (one.point in self._first) is are_first]
                yield from (one.variant for group in self._visits.groups(number, chosen).values() for one in group)

    def _to_first(self, number: int) -> Iterator[Visit]:
        if number > 1:
            self._leave_out_decided(number)
        for visit in self._of(number, [visit for visit in self._left(number) if visit.point in self._first]):
            self._ends = self._ends or time.monotonic() + _SECONDS + _SECONDS_A_POINT * len(self._visits.made)
            paired = FixedSeconds(self._margin, _FIXED_SECONDS)
            yield from self._unless_failed(replace(visit, partners=self._partners, paired=paired))

    def _to_others(self, number: int) -> Iterator[Visit]:
        scatter, numbers = self._visits.scatter(), self._numbers
        if number > 0:
            self._leave_out_decided(number)
            self._ends = 0.0
        others = [visit for visit in self._left(number) if visit.point not in self._first]
        left, turn = len(others), self._turns_of_processes()
        for visit in self._of(number, others):
            self._ends = self._ends or time.monotonic() + (
                _FURTHER_SECONDS if number else _SECONDS + _SECONDS_A_POINT * len(self._visits.made)
            )
            seconds = (self._ends - time.monotonic()) / left
            left -= 1
            if seconds < 0 and any(outcome.before_binary for outcome in self._visits.made[visit.point].values()):
                self.total -= 1
                continue
            process = numbers[(numbers.index(number) + turn.get(visit.point, 0)) % len(numbers)]
            paired = PairsDecide(self._margin, scatter, max(seconds, 1e-9))
            yield from self._unless_failed(replace(visit, process=process, partners=self._partners, paired=paired))

    def _left(self, number: int) -> list[Visit]:
        return [visit for visit in self._visits.missing[number] if number not in self._visits.made[visit.point]]

    def _of(self, number: int, chosen: Sequence[Visit]) -> Iterator[Visit]:
        if chosen:
            for group in self._in_order(self._visits.groups(number, chosen), number):
                yield from group

    def _leave_out_decided(self, number: int) -> None:
        before = len(self._visits.missing[number])
        leave_out_decided(self._visits, number, self._margin)
        self.total -= before - len(self._visits.missing[number])

    def _turns_of_processes(self) -> dict[Point, int]:
        """How many processes after the visit's own each short point is visited by, at random.

        So a verdict on a size is not one process's.
        """
        problem = problem_of(self._visits.task.problem)
        sizes = {problem.size(point) for point in self._first if is_short(self._visits, point)}
        points = [point for point in self._visits.made if problem.size(point) in sizes]
        random.Random(f"{self._visits.task.protocol.seed} processes").shuffle(points)
        return {point: number % self._visits.task.protocol.visits for number, point in enumerate(points)}


def leave_out_decided(visits: Visits, number: int, margin: float) -> None:
    """Leave out the visit of this number to points on which those before have decided."""
    needless = decided(visits, number, margin, visits.scatter(), first_points(visits), by_size=True)
    visits.missing[number] = [visit for visit in visits.missing[number] if visit.point not in needless]


def leave_out_known_verdicts(visits: Visits, margin: float) -> None:
    """Leave out visits on which those that the journal has decide already."""
    for number in range(1, len(visits.missing)):
        if any(visits.missing[:number]):
            return
        leave_out_decided(visits, number, margin)
