"""The limits of right results, within which comparison.difference() lets every element pass.

It may let an element pass that is a rounding error outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernelsweep.float_order import Order, floats_of, order_of
from kernelsweep.problems.array_values import ArrayValue
from kernelsweep.problems.comparison import AT_ONCE, error_share, right, wide
from kernelsweep.problems.problem import Limit, Limits

# Limits are the reference minus and plus the bound, rounded to the output's type: one float too far out at most, or two
# beyond the type's range.
_MOST_STEPS = 3


def has_limits(dtype: np.dtype[Any], bound: ArrayValue | None) -> bool:
    """Whether right results of a type can be told by limits: exact ones, and real floats of 16 bits or more."""
    is_float = dtype.kind == "f" or dtype.name == "bfloat16"
    return bound is None or (is_float and dtype.itemsize in (2, 4, 8))


def limits_of(dtype: np.dtype[Any], expected: ArrayValue, bound: ArrayValue | None) -> Limits:
    """The limits of an output with such elements, found part by part; see comparison.difference() for the other two."""
    share = None if bound is None else lambda found: error_share(found, expected, bound)
    return Limits(bound is None, lambda: _parts(dtype, expected, bound, expected.size), share)


def whole_limits(dtype: np.dtype[Any], expected: ArrayValue, bound: ArrayValue) -> tuple[ArrayValue, ArrayValue] | None:
    """The limits of a float output: the order of its lowest and of its highest right floats, which repeat as both do.

    None if they weren't found.
    """
    sizes = {expected.elements.size, bound.elements.size}
    count = max(sizes) if len(sizes - {1}) <= 1 else expected.size
    ends = np.empty((2, count), f"i{dtype.itemsize}")
    start = 0
    for part in _parts(dtype, expected, bound, count):
        if part is None:
            return None
        ends[:, start : start + part[0].size] = part
        start += part[0].size
    lowest, highest = (ArrayValue(end.dtype, expected.shape, end) for end in ends)
    return lowest, highest


def _parts(dtype: np.dtype[Any], expected: ArrayValue, bound: ArrayValue | None, count: int) -> Iterator[Limit | None]:
    """The limits of the first `count` elements, some at a time; None where they weren't found."""
    for start in range(0, count, AT_ONCE):
        stop = min(start + AT_ONCE, count)
        part = expected.part(start, stop)
        if bound is None:
            yield _only(dtype, part)
        else:
            yield _between(dtype, part, np.broadcast_to(bound.part(start, stop), part.shape))


def _only(dtype: np.dtype[Any], expected: np.ndarray[Any, Any]) -> Limit | None:
    """The only right elements; None where the type has none for some element."""
    with np.errstate(all="ignore"):
        only = expected.astype(dtype)
    return (only,) if right(only, expected, None).all() else None


def _between(dtype: np.dtype[Any], expected: np.ndarray[Any, Any], bound: np.ndarray[Any, Any]) -> Limit | None:
    """The order of the lowest and of the highest right floats, as many each as elements; None if they weren't found.

    The rounded difference from the reference grows with the float, so that all floats between two right ones are right.
    Where no float is right, the lowest is above the highest.
    """
    exact, far = wide(expected), wide(bound)
    with np.errstate(all="ignore"):
        lowest = _first((exact - far).astype(dtype), lambda floats: (floats - exact >= -far) | (floats == exact), 1)
        highest = _first((exact + far).astype(dtype), lambda floats: (floats - exact <= far) | (floats == exact), -1)
    return None if lowest is None or highest is None else (lowest, highest)


def _first(
    floats: np.ndarray[Any, Any], is_right: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], step: int
) -> Order | None:
    """The order of the first floats that are right, from those given on; None if they are far away.

    is_right  gets floats in a wider type; where it holds for a float, it does for all that follow in the direction of
              `step`
    """
    order = order_of(floats)
    for _ in range(_MOST_STEPS):
        found = is_right(wide(floats_of(order, floats.dtype)))
        if found.all():
            return order
        order = np.where(found, order, order + step).astype(order.dtype)
    return None
