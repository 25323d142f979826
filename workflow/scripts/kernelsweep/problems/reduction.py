"""The reduction problem: an array's elements combined into one value, checked against an independent reference.

The array is a tile of random elements repeated as often as its size needs. So an array of 2^32 elements costs the host
no more than the tile, and its reference follows from the tile's. The tile's length is a prime, so that a kernel that
reads the wrong block reads other elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TILE_LENGTH = 16_777_213  # The largest prime below 2^24.

# Floating-point products get powers of two, whose products are exact in any order. One element in this many is not 1 or
# -1: dense enough that a dropped element is noticed, and sparse enough that no part of a thread block's elements
# multiplies to more than float32 can hold.
EXPONENT_SPACING = 32

_UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "product": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


@dataclass(frozen=True)
class Reduction:
    """A reduction of one element type by one operation, over prefixes of one endless periodic array.

    tile  the repeated elements, shape (at most TILE_LENGTH,)
    """

    dtype: np.dtype[Any]
    operation: str
    tile: np.ndarray[Any, Any]
    _references: dict[int, int | float] = field(default_factory=dict)


def make_reduction(dtype: str, operation: str, longest: int, seed: int) -> Reduction:
    """The problem's input for arrays of up to `longest` elements.

    Sums get integers uniform in [0, 255], as the published kernels did, or floats uniform in [0, 1). Products get odd
    integers, since even ones soon make every product 0 modulo 2^bits, or floats that are powers of two of either sign.
    Minimum and maximum get integers from the type's whole range, or normally distributed floats.
    """
    element = np.dtype(dtype)
    generator = np.random.default_rng(seed)
    length = min(longest, TILE_LENGTH)
    if element.kind == "i" and operation == "sum":
        tile = generator.integers(0, 256, length, dtype=element)
    elif element.kind == "i" and operation == "product":
        tile = generator.integers(0, 128, length, dtype=element) * 2 + 1
    elif element.kind == "i":
        limits = np.iinfo(element)
        tile = generator.integers(limits.min, limits.max, length, dtype=element, endpoint=True)
    elif operation == "product":
        tile = _powers_of_two(generator, length)
    else:
        tile = generator.random(length) if operation == "sum" else generator.standard_normal(length)
    return Reduction(element, operation, tile.astype(element))


def _powers_of_two(generator: np.random.Generator, length: int) -> np.ndarray[Any, Any]:
    """Random signs; and 2 and 1/2 in turn at random places, so that no run of elements multiplies to more than 2."""
    tile = generator.choice([-1.0, 1.0], length)
    places = np.flatnonzero(generator.integers(0, EXPONENT_SPACING, length) == 0)
    places = places[: len(places) // 2 * 2]
    tile[places[0::2]] *= 2
    tile[places[1::2]] /= 2
    return tile


def reference(reduction: Reduction, array_size: int) -> int | float:
    """The first `array_size` elements' combination: exact modulo 2^bits for integers, in float64 for floats."""
    if array_size not in reduction._references:
        reduction._references[array_size] = _reference(reduction, array_size)
    return reduction._references[array_size]


def _reference(reduction: Reduction, array_size: int) -> int | float:
    repeats, rest = divmod(array_size, len(reduction.tile))
    parts = [reduction.tile[:rest]] if rest else []
    parts += [reduction.tile] if repeats else []
    values = [combine(part, reduction.operation) for part in parts]
    if reduction.operation in ("minimum", "maximum"):
        return min(values) if reduction.operation == "minimum" else max(values)
    of_rest = values[0] if rest else (0 if reduction.operation == "sum" else 1)
    of_tile = values[-1] if repeats else 0
    if reduction.operation == "sum":
        return _wrapped(of_rest + repeats * of_tile, reduction.dtype)
    if reduction.dtype.kind == "i":
        modulus = 2 ** (8 * reduction.dtype.itemsize)
        return _wrapped(int(of_rest) * (pow(int(of_tile), repeats, modulus) if repeats else 1), reduction.dtype)
    return float(of_rest) * (float(of_tile) ** repeats if repeats else 1.0)


def combine(values: np.ndarray[Any, Any], operation: str) -> int | float:
    """All of `values` combined on the host: modulo 2^bits for integers, in float64 for floats."""
    if values.dtype.kind == "i":
        with np.errstate(over="ignore"):
            return int(_UFUNCS[operation].reduce(values, dtype=values.dtype))
    if operation == "product":
        return _float_product(values)
    return float(_UFUNCS[operation].reduce(values.astype(np.float64)))


def _float_product(values: np.ndarray[Any, Any]) -> float:
    """A product in float64 that leaves its range only where the result does: the exponents are added apart."""
    mantissas, exponents = np.frexp(values.astype(np.float64))
    with np.errstate(over="ignore"):
        product = float(np.multiply.reduce(2 * mantissas))  # From 1 to 2 each: exactly 1 for powers of two.
    exponent = int(exponents.sum(dtype=np.int64)) - len(values)
    return float(np.ldexp(product, max(min(exponent, 4096), -4096)))


def _wrapped(value: int | float, dtype: np.dtype[Any]) -> int | float:
    """An integer brought into a signed type's range, modulo 2^bits; a float as it is."""
    if dtype.kind != "i":
        return float(value)
    bits: int = 8 * dtype.itemsize
    wrapped: int = (int(value) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    return wrapped


def error_bound(reduction: Reduction, array_size: int, depth: int) -> float:
    """How far from the reference a right result may be; 0 but for floating-point sums.

    depth  the longest chain of roundings that an element's value goes through before it reaches the host

    For a sum the bound is gamma(depth) * sum |x|, with gamma(k) = k u / (1 - k u) and u the unit roundoff: Higham,
    "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2. All elements are positive, so that
    sum |x| is the reference. Products are of powers of two, and exact.
    """
    if reduction.dtype.kind == "i" or reduction.operation != "sum":
        return 0.0
    unit = float(np.finfo(reduction.dtype).eps) / 2
    size = abs(reference(reduction, array_size))
    # The reference itself is computed in float64, by NumPy's pairwise sums of blocks of 128.
    reference_error = (128 + math.log2(max(array_size, 2))) * 2.0**-53 * size
    return depth * unit / (1 - depth * unit) * size + reference_error


def mistake(reduction: Reduction, array_size: int, results: np.ndarray[Any, Any], depth: int) -> str | None:
    """What is wrong with a kernel's results (its partials, combined here), or None where they are right."""
    expected = reference(reduction, array_size)
    found = combine(results, reduction.operation)
    bound = error_bound(reduction, array_size, depth)
    if abs(found - expected) <= bound:  # False for NaN, as it should be.
        return None
    allowed = f" (may differ by {bound:.3g})" if bound else ""
    return f"expected {expected}{allowed}, found {found}"
