"""What kernels compute: their input, and whether what they leave behind is right. One module a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kernelsweep.sweep.points import Point

TILE_LENGTH = 4_194_301  # The largest prime below 2^22.

# A word of ones, repeated, is NaN in every floating-point type, and -1 in every type of integers.
ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True)
class Judgement:
    """What a problem says of a kernel's results.

    mistake         what is wrong with them, or None where they are right
    relative_error  of a floating-point sum, against the exactly rounded one
    output          the results themselves, where they are few enough to be shown
    """

    mistake: str | None
    relative_error: float | None = None
    output: str = ""


class Problem(Protocol):
    """The input of one element type (and operation), and the judge of results.

    The elements repeat as often as an array's size needs, so that an array of 2^32 elements costs the host no more than
    one tile of them. The tile's length is a prime, so that a kernel that reads the wrong block reads other elements.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The elements' type."""

    @property
    def poison(self) -> int:
        """What memory holds before a kernel writes its results there: a 32-bit word, repeated.

        Read as elements, it must show: wherever it is left, or is combined with right values, the results are wrong.
        """

    @property
    def tile(self) -> np.ndarray[Any, Any]:
        """The elements that repeat, shape (at most TILE_LENGTH,)."""

    def judge(self, point: Point, results: np.ndarray[Any, Any], depth: int) -> Judgement:
        """Compare a kernel's results with a reference of the host's own.

        depth  the longest chain of roundings that an element's value goes through before it reaches the host
        """
