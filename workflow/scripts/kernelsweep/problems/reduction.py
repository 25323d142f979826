"""The reduction problem: an array's elements combined into one value, checked against an independent reference.

The array repeats a tile, so its reference follows from the tile's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS, Number, supports
from kernelsweep.problems.problem import (
    ALL_ONES,
    TILE_LENGTH,
    Axis,
    Elements,
    Judgement,
    OneArray,
    Point,
    Problem,
    input_bytes,
)


@dataclass(frozen=True)
class Reduction(OneArray):
    """A reduction of one element type by one operation, over the first elements of an endless periodic array.

    tile  the repeated elements, shape (at most TILE_LENGTH,); its length is a prime, so that a kernel that reads the
          wrong block reads other elements
    """

    dtype: np.dtype[Any]
    operation: str
    tile: Elements
    _references: dict[int, Number] = field(default_factory=dict)

    @property
    def poison(self) -> int:
        """See problem.Instance; integers have the poison of their operation."""
        return ALL_ONES if self.dtype.kind == "f" else OPERATIONS[self.operation].poison

    @cached_property
    def tile_sum(self) -> Fraction:
        """The whole tile's sum, without rounding."""
        return exact_sum(self.tile)

    def expect(self, point: Point) -> None:
        """See problem.Instance."""
        reference(self, point["array_size"])

    def judge(self, point: Point, results: Mapping[str, Elements], depth: int) -> Judgement:
        """Compare the one result, combined on the host, with the reference; see problem.Instance."""
        (values,) = results.values()
        error = None
        if self.dtype.kind == "f" and OPERATIONS[self.operation].rounds:
            error = relative_error(self, point["array_size"], values)
        return Judgement(mistake(self, point["array_size"], values, depth), error)


def make_reduction(dtype: str, operation: str, longest: int, seed: int) -> Reduction:
    """The input for arrays of up to `longest` elements, which operations.OPERATIONS describes.

    A minimum or a maximum shows the loss of one element only: with odd seeds the last of each array, which is lost most
    often, with even seeds any. A point has inputs of two seeds, of which one is odd (measure/second_input.py).
    """
    element = np.dtype(dtype)
    make = OPERATIONS[operation].integers if element.kind == "i" else OPERATIONS[operation].floats
    assert make is not None, f"{operation} is not defined for {dtype}; such points are skipped"
    tile = make(np.random.default_rng(seed), min(longest, TILE_LENGTH), element)
    if (extreme := OPERATIONS[operation].extreme) and seed % 2:
        tile = np.sort(tile)[::extreme].copy()
    return Reduction(element, operation, tile)


def reference(reduction: Reduction, array_size: int) -> Number:
    """The first `array_size` elements combined: exact modulo 2^bits for integers, exactly rounded for floats."""
    if array_size not in reduction._references:
        reduction._references[array_size] = _reference(reduction, array_size)
    return reduction._references[array_size]


def _reference(reduction: Reduction, array_size: int) -> Number:
    operation = OPERATIONS[reduction.operation]
    repeats, rest = divmod(array_size, len(reduction.tile))
    if reduction.dtype.kind == "f" and operation.rounds:
        return float(exact_sum(reduction.tile[:rest]) + (repeats * reduction.tile_sum if repeats else 0))
    modulus = 2 ** (8 * reduction.dtype.itemsize) if reduction.dtype.kind == "i" else None
    parts: list[Number] = [combine(reduction.tile[:rest], reduction.operation)] if rest else []
    if repeats:
        parts.append(operation.repeated(combine(reduction.tile, reduction.operation), repeats, modulus))
    if modulus is None:
        return float(operation.ufunc.reduce(np.array(parts, np.float64)))
    wrapped = np.array([_wrapped(int(part), modulus) for part in parts], reduction.dtype)
    return combine(wrapped, reduction.operation)


def exact_sum(values: np.ndarray[Any, Any]) -> Fraction:
    """The sum of up to 2^26 floats without rounding. As a float it is math.fsum's, in a hundredth of the time."""
    if not len(values):
        return Fraction(0)
    wide = values.astype(np.float64)
    with np.errstate(over="ignore"):
        integers = wide * 2.0**53
    if abs(integers).max() < 2.0**53 and (integers == np.trunc(integers)).all():  # True for uniform random numbers.
        return Fraction(_sum_of_integers(integers.astype(np.int64)), 2**53)
    # Each value is an integer of up to 53 bits times a power of two. Integers of the same power are added up.
    mantissas, exponents = np.frexp(wide)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    return sum(
        (
            _sum_of_integers(integers[exponents == exponent]) * Fraction(2) ** (int(exponent) - 53)
            for exponent in np.unique(exponents)
        ),
        Fraction(0),
    )


def _sum_of_integers(integers: np.ndarray[Any, Any]) -> int:
    """The sum of up to 2^26 integers of up to 53 bits, in two halves whose sums have less than 64 bits."""
    return int((integers >> 27).sum()) * 2**27 + int((integers & (2**27 - 1)).sum())


def combine(values: np.ndarray[Any, Any], operation: str) -> Number:
    """All `values` combined on the host: integers modulo 2^bits, floats with more digits than any element type."""
    ufunc = OPERATIONS[operation].ufunc
    if values.dtype.kind == "i":
        with np.errstate(over="ignore"):
            return int(ufunc.reduce(values, dtype=values.dtype))
    exact = operation in ("minimum", "maximum")
    return float(ufunc.reduce(values if exact else values.astype(np.longdouble)))


def _wrapped(value: int, modulus: int) -> int:
    """An integer brought into a signed type's range."""
    return (value + modulus // 2) % modulus - modulus // 2


def error_bound(reduction: Reduction, array_size: int, depth: int) -> float:
    """How far a right result may be from the reference; 0 except for floating-point sums.

    depth  the longest chain of roundings that an element's value goes through before it reaches the host

    For a sum the bound is gamma(depth) * sum |x|, with gamma(k) = k u / (1 - k u) and u the unit roundoff: Higham,
    "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2. Where k u nears 1, as in a loop over
    2^24 float32, that says nothing; (n - 1) u * sum |x| holds for n elements in any order: Jeannerod and Rump,
    "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34 (2013). All
    elements are positive, so that sum |x| is the reference. Products are of 1 and -1, and exact.
    """
    if reduction.dtype.kind == "i" or not OPERATIONS[reduction.operation].rounds:
        return 0.0
    unit = float(np.finfo(reduction.dtype).eps) / 2
    size = abs(reference(reduction, array_size))
    # The reference is rounded once, and so are the results that the host combines.
    of_depth = depth * unit / (1 - depth * unit) if depth * unit < 1 else math.inf
    return min(of_depth, (array_size - 1) * unit) * size + 2 * 2.0**-53 * size


def relative_error(reduction: Reduction, array_size: int, results: np.ndarray[Any, Any]) -> float:
    """The distance of the combined results from the exactly rounded sum (math.fsum's), as a fraction of that sum."""
    expected = reference(reduction, array_size)
    found = combine(results, reduction.operation)
    return abs(found - expected) / abs(expected) if expected else abs(found)


def mistake(reduction: Reduction, array_size: int, results: np.ndarray[Any, Any], depth: int) -> str | None:
    """The mistake in a kernel's results (its partials, combined here), or None if they are right."""
    expected = reference(reduction, array_size)
    found = combine(results, reduction.operation)
    bound = error_bound(reduction, array_size, depth)
    if abs(found - expected) <= bound:  # False for NaN.
        return None
    allowed = f" (may differ by {bound:.3g})" if bound else ""
    return f"expected {expected}{allowed}, found {found}"


def _template_values(point: Point) -> dict[str, Any]:
    types = {"Element": CXX_TYPES[point["dtype"]], "Operation": OPERATIONS[point["operation"]].cxx}
    return {**types, "block_size": point["block_size"], "unroll": point["unroll"]}


def _skip_reason(kernel: str, point: Point) -> str | None:
    defined = supports(point["operation"], point["dtype"])
    return None if defined else f"operation {point['operation']}: not defined for {point['dtype']}"


def _make_instance(kernel: str, point: Point, longest: int, seed: int) -> Reduction:
    return make_reduction(point["dtype"], point["operation"], longest, seed)


REDUCTION = Problem(
    name="reduction",
    axes={
        "dtype": Axis(has_texts=True),
        "operation": Axis(has_texts=True),
        "cache": Axis(has_texts=True, in_variant=False),
        "array_size": Axis(in_variant=False),
        "block_size": Axis(of_kernel=True),
        "unroll": Axis(of_kernel=True),
        "grid_size": Axis(of_kernel=True, in_variant=False, values=(None,)),
    },
    template_parameters={
        "Element": "typename",
        "Operation": "typename",
        "block_size": "unsigned",
        "unroll": "unsigned",
    },
    template_values=_template_values,
    plans=(
        "block_partials",
        "until_one_value",
        "two_stages",
        "two_stages_of_any_block",
        "three_stages",
        "grid_partials",
        "single_launch",
        "single_launch_of_clusters",
        "halving",
    ),
    wrong_value=lambda template_parameters, axis, value: None,
    skip_reason=_skip_reason,
    make_instance=_make_instance,
    instance_axes=("dtype", "operation"),
    work=input_bytes,
    races=True,
    draws_accesses=True,
    table="steps",
)
