"""Compare an output with its reference, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelsweep.problems.own.array_values import ArrayValue

# Elements compared at once. All that is made of them fits into the processor's cache; more take three times as long.
_COMPARED = 2**15


def difference(
    name: str, found: np.ndarray[Any, Any], expected: ArrayValue, bound: ArrayValue | None, shape: tuple[int, ...]
) -> str | None:
    """How an output differs from its reference, in a sentence, or None if it is right.

    found     the output, shape (size,)
    expected  its reference, with as many elements
    bound     how far each element may be off: as many elements, or one for all. None: each has to be equal; a float to
              the reference rounded to the output's type
    shape     the output's shape, for the index in the sentence

    NaN is always wrong.
    """
    wrong, first = 0, 0
    for start in range(0, found.size, _COMPARED):
        stop = min(start + _COMPARED, found.size)
        places = np.flatnonzero(~_right(found[start:stop], expected.part(start, stop), bound, start, stop))
        if places.size and not wrong:
            first = start + int(places[0])
        wrong += places.size
    if not wrong:
        return None
    values = f"expected {_rounded(expected.part(first, first + 1), found.dtype, bound)[0]}"
    if bound is not None:
        values += f" (may differ by {float(bound.part(first, first + 1)[0]):.3g})"
    values += f", found {_plain(found[first : first + 1])[0]}"
    if found.size == 1:
        return f"{name}: {values}"
    index = ", ".join(str(int(side)) for side in np.unravel_index(first, shape))
    return f"{name}: {wrong:,} of {found.size:,} elements are wrong; the first is {name}[{index}]: {values}"


def _right(
    found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], bound: ArrayValue | None, start: int, stop: int
) -> np.ndarray[Any, Any]:
    """Which elements are right, shape (stop - start,)."""
    with np.errstate(all="ignore"):
        equal: np.ndarray[Any, Any] = _plain(found) == _rounded(expected, found.dtype, bound)
        if bound is None:
            return equal
        near = abs(_wide(found) - _wide(expected)) <= bound.part(start, stop)
        right: np.ndarray[Any, Any] = equal | near
        return right


def _rounded(expected: np.ndarray[Any, Any], dtype: np.dtype[Any], bound: ArrayValue | None) -> np.ndarray[Any, Any]:
    """A reference as a result is compared with it: where results have to be equal, rounded to their type."""
    if bound is not None or dtype.kind in "biu":
        return expected
    with np.errstate(all="ignore"):
        return expected.astype(dtype)


def _plain(found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Results with bool as bytes: in memory that was never written, a byte may be neither 0 nor 1."""
    return found.view(np.uint8) if found.dtype == np.bool_ else found


def _wide(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values in a type in which differences don't overflow."""
    if values.dtype.kind == "c":
        return values.astype(np.promote_types(values.dtype, np.complex128))
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return values.astype(np.longdouble)
    return values.astype(np.longdouble if values.dtype == np.longdouble else np.float64)
