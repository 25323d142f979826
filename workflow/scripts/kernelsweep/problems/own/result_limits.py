"""The limits of right results, within which comparison.difference() lets every element pass.

It may let an element pass that is a rounding error outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernelsweep.float_order import Order, floats_of, order_of
from kernelsweep.problems.own.array_values import ArrayValue
from kernelsweep.problems.own.comparison import AT_ONCE, error_share, right, wide
from kernelsweep.problems.problem import Limit, Limits

# Limits are the reference minus and plus the bound, rounded to the output's type: one float too far out at most, or two
# beyond the type's range.
_MOST_STEPS = 3


def has_limits(dtype: np.dtype[Any], bound: ArrayValue | None) -> bool:
    """Whether right results of a type can be told by limits: exact ones, and real floats of 16 bits or more."""
    is_float = dtype.kind == "f" or dtype.name == "bfloat16"
    return bound is None or (is_float and dtype.itemsize in (2, 4, 8))


def limits_of(dtype: np.dtype[Any], expected: ArrayValue, bound: ArrayValue | None) -> Limits:
    """The limits of an output with such elements; see comparison.difference() for the other two."""

    def parts() -> Iterator[Limit | None]:
        for start in range(0, expected.size, AT_ONCE):
            stop = min(start + AT_ONCE, expected.size)
            part = expected.part(start, stop)
            if bound is None:
                yield _only(dtype, part)
            else:
                yield _between(dtype, part, np.broadcast_to(bound.part(start, stop), part.shape))

    share = None if bound is None else lambda found: error_share(found, expected, bound)
    return Limits(is_exact=bound is None, parts=parts, error_share=share)


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
