"""The instances of a kernel's points: data and judges, which all points of the same data share."""

from __future__ import annotations

from kernelsweep.measure.second_input import is_run_again, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.problems.file_instance import FileInstance
from kernelsweep.problems.problem_file import Data, problem_of
from kernelsweep.sweep.point import Point


class Instances:
    """Makes instances for a task. It keeps two for the last point's data: one of each input."""

    def __init__(self, task: KernelTask) -> None:
        self._task = task
        self._problem = problem_of(task.problem)
        self._kept: dict[bool, FileInstance] = {}
        self._kept_of: Data = ()

    def make(self, point: Point, has_clock: bool) -> None:
        """Make the instances of a point that is going to be checked, and find its right results."""
        first = self.at(point)
        first.expect(point)
        if self._task.protocol.second_input and is_run_again(first, point, has_clock):
            self.at(point, True).expect(point)

    def at(self, point: Point, is_second: bool = False) -> FileInstance:
        """The instance of a point, or that of the second input."""
        if self._problem.data_of(point) != self._kept_of:
            self._kept, self._kept_of = {}, self._problem.data_of(point)
        if is_second not in self._kept:
            seed = self._task.protocol.seed
            seed = second_seed(seed) if is_second else seed
            self._kept[is_second] = self._problem.instance(self._task.kernel, point, seed)
        return self._kept[is_second]
