"""The instances of a kernel's points: data and judges, which all points of the same data share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelsweep.measure.second_input import is_run_again, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.problems.problem import Instance
from kernelsweep.problems.registry import problem_of
from kernelsweep.sweep.point import Point

# The most bytes of inputs that are made ahead. Two inputs for each of sixteen element types and operations take fewer.
_MOST_AHEAD = 2**30

_Data = tuple[Any, ...]  # A point's values on the axes that its data depend on.


class Instances:
    """Makes instances for a task. It keeps two for the last point's data: one of each input.

    A job makes some ahead, with the right results of their points, while the GPU measures for another job. Its workers
    are forks of it, and have them without making or copying anything.
    """

    def __init__(self, task: KernelTask) -> None:
        self._task = task
        self._problem = problem_of(task.problem)
        self._ahead: dict[tuple[_Data, bool], Instance] = {}
        self._kept: dict[bool, Instance] = {}
        self._kept_of: _Data = ()

    def make_ahead(self, checked: Iterable[Point], timed: Iterable[Point]) -> None:
        """Make the instances of points that are going to be checked, and of others that are only timed.

        A problem that keeps its references on disk makes its inputs in the worker, since they may be large.
        """
        if self._problem.references is not None:
            return
        size = 0
        for is_checked, points in ((True, checked), (False, timed)):
            for point in points:
                for is_second in (False, True) if is_checked and self._task.protocol.second_input else (False,):
                    place = self._data(point), is_second
                    if place not in self._ahead:
                        if size > _MOST_AHEAD:
                            return
                        self._ahead[place] = self._made(point, is_second)
                        size += _input_bytes(self._ahead[place], point)
                    if is_checked:
                        self._ahead[place].expect(point)

    def make(self, point: Point, has_clock: bool) -> None:
        """Make the instances of a point that is going to be checked, and find its right results."""
        first = self.at(point)
        first.expect(point)
        if self._task.protocol.second_input and is_run_again(first, point, has_clock):
            self.at(point, True).expect(point)

    def at(self, point: Point, is_second: bool = False) -> Instance:
        """The instance of a point, or that of the second input."""
        if self._data(point) != self._kept_of:
            self._kept, self._kept_of = {}, self._data(point)
        if is_second not in self._kept:
            ahead = self._ahead.get((self._kept_of, is_second))
            self._kept[is_second] = ahead or self._made(point, is_second)
        return self._kept[is_second]

    def _data(self, point: Point) -> _Data:
        return tuple(point[axis] for axis in self._problem.instance_axes)

    def _made(self, point: Point, is_second: bool) -> Instance:
        seed = self._task.protocol.seed
        return self._problem.make_instance(
            self._task.kernel, point, self._task.longest, second_seed(seed) if is_second else seed
        )


def _input_bytes(instance: Instance, point: Point) -> int:
    return sum(array.contents.nbytes for array in instance.arrays(point).values() if array.contents is not None)
