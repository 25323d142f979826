"""Inputs from the ends of their distributions: zeros, ones, tiny, small and large numbers, or some among others; with
some NaN; or with few bits.

A generator that gives such numbers stands in for NumPy's. So each problem's inputs keep their form: sorted, shifted or
repeated as its function `inputs` has it, and within the ranges that it asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelsweep.study.point import AS_GIVEN

# The axis that says how inputs are drawn, which studies of candidates have (docs/grading.md), and its values.
DRAWN = "drawn"
ZEROS, ONES, TINY, LARGE, MIXED = "zeros", "ones", "tiny", "large", "mixed"
SMALL = "small"
EXTREMES = (ZEROS, ONES, TINY, SMALL, LARGE, MIXED)
# Where problem.py says TAKES_NAN = True, too.
NAN = "nan"
# Where it says EXACT_ON_FEW_BITS = True, because kernels add and multiply only: then nothing is rounded, in any order.
FEW_BITS = "few_bits"
# So many elements of the first array that is drawn are NaN, so that most results tell more.
_NANS = 3

# A normal distribution has any number; float16 holds the products of these.
_NORMAL = {ZEROS: 0.0, ONES: 1.0, TINY: 2.0**-130, SMALL: 2.0**-44, LARGE: 16.0}
# Products and sums of tiny numbers are rounded, or taken for zero, absolutely: no relative bound holds for them.
ABSOLUTE = 2.0**-100


class _Extreme(np.random.Generator):
    """A generator whose floats and integers are of one kind, apart from signs and a few others."""

    def __init__(self, generator: np.random.Generator, kind: str) -> None:
        super().__init__(generator.bit_generator)
        self._kind = kind
        self._has_nan = False

    def _within(self, values: Any, low: Any, high: Any) -> Any:
        """The numbers, three of four at an end of the range: at the lower one for zeros, else near the upper one."""
        dtype = np.asarray(values).dtype
        if self._kind == NAN:
            return values if dtype.kind in "biu" else self._with_nan(values)
        if dtype.kind in "biu" and self._kind == FEW_BITS:
            return values
        if dtype.kind in "biu":
            tiny, last = min(low + 1, high - 1), high - 1
        elif self._kind == FEW_BITS:
            return np.maximum(np.floor(4 * values) / 4, np.ceil(4 * low) / 4).astype(dtype)[()]
        else:
            low, high = np.asarray(low, dtype), np.asarray(high, dtype)
            tiny = np.where(low == 0, _NORMAL[SMALL if self._kind == SMALL else TINY], low)
            last = np.nextafter(high, low)
        if self._kind == MIXED:
            return self._mixed(values, [low, last, np.where((low <= 0) & (last >= 0), 0, last)])
        end = {ZEROS: low, TINY: tiny, SMALL: tiny}.get(self._kind, last)
        return np.where(super().random(np.shape(values)) < 0.75, end, values).astype(dtype)[()]

    def _mixed(self, values: Any, rare: Sequence[Any]) -> Any:
        """The numbers, one of eight one of the rare numbers, and one of eight the number before it once more."""
        chances, ends = super().random(np.shape(values)), super().integers(len(rare), size=np.shape(values))
        mixed = np.where(
            chances < 0.125, np.choose(ends, [np.broadcast_to(one, np.shape(values)) for one in rare]), values
        )
        again = np.roll(mixed, 1) if np.ndim(values) else mixed
        return np.where(chances > 0.875, again, mixed).astype(np.asarray(values).dtype)[()]

    def _with_nan(self, values: Any) -> Any:
        if np.ndim(values) and not self._has_nan:
            self._has_nan = True
            np.put(values, super().integers(values.size, size=_NANS), np.nan)
        return values

    def random(self, *given: Any, **named: Any) -> Any:
        return self._within(super().random(*given, **named), 0.0, 1.0)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._within(super().uniform(low, high, size), low, high)

    def integers(self, low: Any, high: Any = None, *given: Any, **named: Any) -> Any:
        found = super().integers(low, high, *given, **named)
        first, end = (0, low) if high is None else (low, high)
        end = end + 1 if named.get("endpoint") else end
        is_one_range = np.ndim(first) == np.ndim(end) == 0 and np.ndim(found)
        return self._within(found, int(first), int(end)) if is_one_range else found

    def standard_normal(self, *given: Any, **named: Any) -> Any:
        found = super().standard_normal(*given, **named)
        if self._kind == NAN:
            return self._with_nan(found)
        if self._kind == FEW_BITS:
            return np.rint(found)
        if self._kind == MIXED:
            return self._mixed(found, [0.0, 1.0, -_NORMAL[LARGE]])
        return np.copysign(_NORMAL[self._kind], found).astype(np.asarray(found).dtype)[()]

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + scale * self.standard_normal(
            np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        )


def drawn_as(generator: np.random.Generator, axes: Mapping[str, Any]) -> np.random.Generator:
    """The generator, or one for the kind of numbers that the axes ask for."""
    kind = axes.get(DRAWN, AS_GIVEN)
    return generator if kind == AS_GIVEN else _Extreme(generator, kind)


def is_timed(point: Mapping[str, Any]) -> bool:
    """Whether a point's numbers are those that its study gives it; with others, it is only checked."""
    return bool(point.get(DRAWN, AS_GIVEN) == AS_GIVEN)


def widened_bound(bound: np.ndarray[Any, Any], axes: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """A bound on errors: ABSOLUTE more for tiny numbers, zero for numbers of few bits, and zero where it is NaN."""
    if axes.get(DRAWN) == FEW_BITS:
        return np.zeros_like(bound)
    if axes.get(DRAWN) == NAN:
        return np.where(bound == bound, bound, 0)
    return bound.astype(np.float64) + ABSOLUTE if axes.get(DRAWN) == TINY else bound
