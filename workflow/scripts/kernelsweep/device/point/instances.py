"""The instances of a kernel's points: data and judges, which all points of the same data share, of either input."""

from __future__ import annotations

from threading import Lock

from kernelsweep.device.task import KernelTask
from kernelsweep.study.point import Point
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem_file import Data, problem_of


class Instances:
    """Makes instances for a task. It keeps two for the last point's data: one of each input."""

    def __init__(self, task: KernelTask) -> None:
        self._task = task
        self._problem = problem_of(task.problem)
        self._kept: dict[bool, FileInstance] = {}
        self._kept_of: Data = ()
        self._lock = Lock()

    def has(self, point: Point, is_second: bool = False) -> bool:
        """Whether an instance is there already."""
        return is_second in self._kept and self._problem.data_of(point) == self._kept_of

    def at(self, point: Point, is_second: bool = False) -> FileInstance:
        """The instance of a point, or that of the second input."""
        with self._lock:  # A worker makes the first one while it opens its device.
            if self.has(point, is_second):
                return self._kept[is_second]
            if self._problem.data_of(point) != self._kept_of:
                self._kept, self._kept_of = {}, self._problem.data_of(point)
            seed = self._task.protocol.seed
            seed = second_seed(seed) if is_second else seed
            instance = self._kept[is_second] = self._problem.instance(self._task.kernel, point, seed)
            return instance


# A point is run with a second input, too, if its inputs are at most so large: a kernel that remembers shows it there,
# and the reference of a larger input takes seconds in which a GPU may wait. Without a clock, if all of its arrays are:
# a run takes as long as the check.
_BYTES = 2**24
_BYTES_WITHOUT_CLOCK = 2**18


def has_second_input(input_bytes: int, array_bytes_without_clock: int = 0) -> bool:
    """Whether a point is small enough, by the bytes of its inputs (each counted once where it repeats) and arrays."""
    return input_bytes <= _BYTES and array_bytes_without_clock <= _BYTES_WITHOUT_CLOCK


def input_bytes(instance: FileInstance) -> int:
    """The bytes of an instance's inputs, each counted once where it repeats."""
    return sum(array.contents.nbytes for array in instance.arrays().values() if array.contents is not None)


def second_seed(seed: int) -> int:
    """The seed of the second input."""
    return seed + 1
