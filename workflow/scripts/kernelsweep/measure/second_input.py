"""Which points are run with a second input, too, and its seed."""

from __future__ import annotations

from kernelsweep.problems.file_instance import FileInstance
from kernelsweep.problems.problem import Point

# A point is run with a second input, too, if its inputs are at most so large: a kernel that remembers shows it there,
# and the reference of a larger input takes seconds in which a GPU may wait. Without a clock, if all of its arrays are:
# a run takes as long as the check.
_BYTES = 2**24
_BYTES_WITHOUT_CLOCK = 2**18


def has_second_input(input_bytes: int, array_bytes: int, has_clock: bool) -> bool:
    """Whether a point is small enough, by the bytes of its inputs (each counted once where it repeats) and arrays."""
    return input_bytes <= _BYTES if has_clock else array_bytes <= _BYTES_WITHOUT_CLOCK


def is_run_again(instance: FileInstance, point: Point, has_clock: bool) -> bool:
    """Whether a point is run with a second input, asked before its data are in memory.

    instance  its instance of either input
    """
    arrays = instance.arrays(point).values()
    size = sum(array.size * array.dtype.itemsize for array in arrays)
    return has_second_input(input_bytes(instance, point), size, has_clock)


def input_bytes(instance: FileInstance, point: Point) -> int:
    """The bytes of a point's inputs, each counted once where it repeats."""
    return sum(array.contents.nbytes for array in instance.arrays(point).values() if array.contents is not None)


def second_seed(seed: int) -> int:
    """The seed of the second input."""
    return seed + 1
