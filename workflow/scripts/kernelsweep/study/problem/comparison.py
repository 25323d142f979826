"""Compare an output with its reference, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelsweep.study.problem.array_values import ArrayValue

# Elements compared at once. All that is made of them fits into the processor's cache; more take three times as long.
AT_ONCE = 2**15


def difference(
    name: str, actual: np.ndarray[Any, Any], expected: ArrayValue, bound: ArrayValue | None, shape: tuple[int, ...]
) -> str | None:
    """How an output differs from its reference, in a sentence, or None if it is right.

    actual    the output, shape (size,)
    expected  its reference, with as many elements
    bound     how far each element may be off: as many elements, or one for all. None: each has to be equal; a float to
              the reference rounded to the output's type
    shape     the output's shape, for the index in the sentence

    NaN is right where the reference has NaN, and nowhere else.
    """
    wrong, first = 0, 0
    for start in range(0, actual.size, AT_ONCE):
        stop = min(start + AT_ONCE, actual.size)
        places = np.flatnonzero(
            ~right(actual[start:stop], expected.part(start, stop), bound.part(start, stop) if bound else None)
        )
        if places.size and not wrong:
            first = start + int(places[0])
        wrong += places.size
    if not wrong:
        return None
    digits = ".9g" if actual.dtype.kind == "f" and actual.dtype.itemsize <= 4 else ""
    values = f"expected {_rounded(expected.part(first, first + 1), actual.dtype, bound is None)[0]:{digits}}"
    if bound is not None:
        values += f" (may differ by {float(bound.part(first, first + 1)[0]):.3g})"
    values += f", found {_plain(actual[first : first + 1])[0]:{digits}}"
    if actual.size == 1:
        return f"{name}: {values}"
    index = ", ".join(str(int(side)) for side in np.unravel_index(first, shape))
    return f"{name}: {wrong:,} of {actual.size:,} elements are wrong; the first is {name}[{index}]: {values}"


def error_share(actual: np.ndarray[Any, Any], expected: ArrayValue, bound: ArrayValue) -> float:
    """The largest error as a share of what the bound allows there: 0 for exact results, 1 at the bound, more if wrong.

    actual  the output's first elements; the arguments are those of difference()
    """
    largest = 0.0
    for start in range(0, actual.size, AT_ONCE):
        stop = min(start + AT_ONCE, actual.size)
        part, exact = actual[start:stop], expected.part(start, stop)
        with np.errstate(all="ignore"):
            if (differs := (part != exact) & ~_both_nan(part, exact)).any():
                shares = abs(wide(part[differs]) - wide(exact[differs])) / wide(bound.part(start, stop)[differs])
                largest = max(largest, float(np.nan_to_num(shares, nan=np.inf, posinf=np.inf).max()))
    return largest


def right(
    actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], bound: np.ndarray[Any, Any] | None
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which elements are right, shape (elements,), as the arguments; `bound` may have one element for all."""
    with np.errstate(all="ignore"):
        equal: np.ndarray[Any, np.dtype[np.bool_]] = _plain(actual) == _rounded(expected, actual.dtype, bound is None)
        if equal.all():
            return equal
        near = False if bound is None else abs(wide(actual) - wide(expected)) <= bound
        equal |= near | _both_nan(actual, expected)
        return equal


def _both_nan(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> Any:
    return (actual != actual) & (expected != expected)


def _rounded(expected: np.ndarray[Any, Any], dtype: np.dtype[Any], has_to_be_equal: bool) -> np.ndarray[Any, Any]:
    """A reference as a result is compared with it: where results have to be equal, rounded to their type."""
    if not has_to_be_equal or dtype.kind in "biu":
        return expected
    with np.errstate(all="ignore"):
        return expected.astype(dtype)


def _plain(actual: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Results with bool as bytes: in memory that was never written, a byte may be neither 0 nor 1."""
    return actual.view(np.uint8) if actual.dtype == np.bool_ else actual


def wide(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values in a type in which differences don't overflow."""
    if values.dtype.kind == "c":
        return values.astype(np.promote_types(values.dtype, np.complex128))
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return values.astype(np.longdouble)
    return values.astype(np.longdouble if values.dtype == np.longdouble else np.float64)
