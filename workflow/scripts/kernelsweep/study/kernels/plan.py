"""The plan of a point: the launches of one run in their order, and the arrays that only they have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from kernelsweep.study.problem.problem import Array

# Sizes in x, y and z, plain integers.
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Attributes:
    """What a launch is besides its sizes.

    cluster       the sides of a cluster of blocks; empty for what the kernel says of itself
    cooperative   whether all blocks are resident at once, so that the grid's threads can wait for one another
    programmatic  whether it may begin before the launch before it has ended (programmatic dependent launch)
    """

    cluster: tuple[int, ...] = ()
    cooperative: bool = False
    programmatic: bool = False


PLAIN = Attributes()

_TEXTURE = re.compile(r"(?:linear_)?texture\((\w+)\)")
TENSOR_MAP = re.compile(r"tensor_map\((\w+), *([^=]+?)(?:, *swizzle=(\d+))?\)")


def array_of(argument: str) -> str:
    """The array or scalar that an argument names, if only in texture(), linear_texture() or tensor_map()."""
    found = _TEXTURE.fullmatch(argument) or TENSOR_MAP.fullmatch(argument)
    return found[1] if found else argument


@dataclass(frozen=True)
class Launch:
    """One launch.

    grid, block   numbers of blocks, and of threads a block, in x, y and z
    arguments     names of arrays, which stand for their addresses, or of the problem's scalars; textures and
                  tensor maps, as in array_of(); and NumPy scalars, which are passed at their own width
    function      the C++ name of what is launched, with its macros, as units.variant_name() gives it
    shared_bytes  the dynamic shared memory of a block
    attributes    clusters of blocks, and how the launch begins
    """

    grid: Size
    block: Size
    arguments: tuple[str | np.generic, ...]
    function: str
    shared_bytes: int = 0
    attributes: Attributes = PLAIN

    @property
    def blocks(self) -> int:
        """The number of blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return prod(self.block)


@dataclass(frozen=True)
class Plan:
    """The launches of one point in their order, and the arrays that they use.

    arrays     the kernel's own arrays by name, besides the problem's
    results    the number of elements, from an array's start, that are compared, by the array's name; empty: all
               elements of the problem's outputs
    updates    the problem's inputs that the kernel changes, so that they are restored before every run
    constants  the problem's arrays that are copied to constant memory, to the variables of the same names
    variables  the problem's arrays that are copied to such variables in global memory before a run, and back after it
    """

    launches: tuple[Launch, ...]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    updates: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
