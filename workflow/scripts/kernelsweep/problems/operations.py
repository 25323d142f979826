"""The operations of reductions, with their references and inputs on the host.

A new one is an entry here and a struct of the same meaning in kernels/include/operations.cuh: the reference against
which a kernel is checked must not come from the kernel's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Number = int | float


@dataclass(frozen=True)
class Operation:
    """One associative and commutative operation.

    cxx       the struct's name in operations.cuh
    ufunc     NumPy's form of it
    repeated  the combination of a number of copies of a value; integers are exact, or modulo `modulus`
    integers  random elements of an integer type, such that every dropped element changes the result where all count
    floats    random elements of a floating-point type; None for an operation on integers only
    poison    a 32-bit word; repeated, it is an integer that makes every combination with right integers wrong
    rounds    whether combining the elements of `floats` rounds
    extreme   1 if the result is the largest element, -1 if the smallest; 0 if all elements count
    """

    cxx: str
    ufunc: np.ufunc
    repeated: Callable[[Number, int, int | None], Number]
    integers: Callable[[np.random.Generator, int, np.dtype[Any]], Array]
    floats: Callable[[np.random.Generator, int, np.dtype[Any]], Array] | None
    poison: int
    rounds: bool = False
    extreme: int = 0


def _bytes(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """Integers uniform in [0, 255], as a published sum suggests. Drawn as bytes, which takes half the time."""
    return generator.integers(0, 256, count, dtype=np.uint8).astype(dtype)


def _odd_integers(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """Even ones would soon make every product 0 modulo 2^bits."""
    return generator.integers(0, 128, count, dtype=dtype) * 2 + 1


def _any_integers(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """The type's whole range."""
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def _fractions(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """Uniform in [0, 1): multiples of 2^-24 in float32, of 2^-53 in float64, so that sums can be computed exactly."""
    return generator.random(count, dtype=dtype.type)


def _normals(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    return generator.standard_normal(count).astype(dtype)


def _signs(generator: np.random.Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """1 and -1: their products are exact, and in range, whichever elements a thread happens to combine first.

    A dropped element shows only where it is -1; in integer products, whose elements differ, it shows anyway.
    """
    return generator.choice(np.array([-1, 1], dtype), count)


def _same(value: Number, times: int, modulus: int | None) -> Number:
    return value


def supports(operation: str, dtype: str) -> bool:
    """Whether an operation is defined for elements of a type."""
    return np.dtype(dtype).kind == "i" or OPERATIONS[operation].floats is not None


OPERATIONS: Mapping[str, Operation] = {
    "sum": Operation(
        "Sum",
        np.add,
        lambda value, times, modulus: value * times,
        _bytes,
        _fractions,
        # -1 in place of a partial makes the sum too small: all partials are sums of integers from 0 to 255. Only more
        # than 2^24 missing elements of int32 could make up for it, if their sum happened to wrap around to that number.
        poison=0xFFFFFFFF,
        rounds=True,
    ),
    "product": Operation(
        "Product",
        np.multiply,
        lambda value, times, modulus: pow(int(value), times, modulus) if modulus else value**times,
        _odd_integers,
        _signs,
        poison=0xFFFFFFFE,  # Even, so every product with it is even; right products are odd.
    ),
    # The ends of int32's range, and values near the ends of int64's: of 2^22 elements, one in 2^32 lies as far out.
    "minimum": Operation("Minimum", np.minimum, _same, _any_integers, _normals, poison=0x80000000, extreme=-1),
    "maximum": Operation("Maximum", np.maximum, _same, _any_integers, _normals, poison=0x7FFFFFFF, extreme=1),
}
