"""The instances of a kernel's points: data and judges, which all points of the same data share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelsweep.errors import StudyError, UserError
from kernelsweep.measure.arguments import check_fit
from kernelsweep.measure.second_input import is_run_again, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.problems.problem import Instance
from kernelsweep.problems.problem_file import Data, problem_of
from kernelsweep.sweep.kernels.launches import launches_of_task
from kernelsweep.sweep.point import Point

# The most bytes of an instance's inputs, and of all inputs, that are made ahead.
_LARGE = 2**24
_MOST_AHEAD = 2**30


class Instances:
    """Makes instances for a task. It keeps two for the last point's data: one of each input.

    A job makes some ahead, with the right results of their points, while the GPU measures for another job. Its workers
    are forks of it, and have them without making or copying anything.
    """

    def __init__(self, task: KernelTask) -> None:
        self._task = task
        self._problem = problem_of(task.problem)
        self._ahead: dict[tuple[Data, bool], Instance] = {}
        self._kept: dict[bool, Instance] = {}
        self._kept_of: Data = ()

    def make_ahead(self, checked: Sequence[Point], timed: Iterable[Point]) -> bool:
        """Make the instances of points that are going to be checked, and of others that are only timed.

        Returns whether all are made. Where one has large inputs, none after it is made: references.py prepares them.
        Raises StudyError where a function of the problem is wrong, or arguments or constants don't fit the kernel.
        """
        try:
            return self._make_ahead(checked, timed)
        except UserError as error:
            raise StudyError(str(error)) from error

    def _make_ahead(self, checked: Sequence[Point], timed: Iterable[Point]) -> bool:
        size = 0
        for is_checked, points in ((True, checked), (False, timed)):
            for point in points:
                for is_second in (False, True) if is_checked and self._task.protocol.second_input else (False,):
                    place = self._problem.data_of(point), is_second
                    if place in self._ahead:
                        continue
                    instance = self._made(point, is_second)
                    size += (added := _input_bytes(instance, point))
                    if added > _LARGE or size > _MOST_AHEAD:
                        return False
                    if is_checked:
                        instance.expect(point)
                    self._ahead[place] = instance
        launches = launches_of_task(self._task.launches, self._problem)
        for point in checked:
            check_fit(self._task, launches, point, self.at(point))
        return True

    def make(self, point: Point, has_clock: bool) -> None:
        """Make the instances of a point that is going to be checked, and find its right results."""
        first = self.at(point)
        first.expect(point)
        if self._task.protocol.second_input and is_run_again(first, point, has_clock):
            self.at(point, True).expect(point)

    def at(self, point: Point, is_second: bool = False) -> Instance:
        """The instance of a point, or that of the second input."""
        if self._problem.data_of(point) != self._kept_of:
            self._kept, self._kept_of = {}, self._problem.data_of(point)
        if is_second not in self._kept:
            ahead = self._ahead.get((self._kept_of, is_second))
            self._kept[is_second] = ahead or self._made(point, is_second)
        return self._kept[is_second]

    def _made(self, point: Point, is_second: bool) -> Instance:
        seed = self._task.protocol.seed
        return self._problem.instance(self._task.kernel, point, second_seed(seed) if is_second else seed)


def _input_bytes(instance: Instance, point: Point) -> int:
    return sum(array.contents.nbytes for array in instance.arrays(point).values() if array.contents is not None)
