"""The reference against which every result is checked: right itself, blind to no dropped element, fair to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelsweep.problems import reduction
from kernelsweep.problems.reduction import Reduction, error_bound, exact_sum, make_reduction, mistake, reference

TILE = 97
LONGEST = 3 * TILE + 5
SIZES = [1, 2, TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 1, 3 * TILE - 1, LONGEST]
DTYPES = ["int32", "int64", "float32", "float64"]
OPERATIONS = ["sum", "product", "minimum", "maximum"]


@pytest.fixture(autouse=True)
def _small_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "TILE_LENGTH", TILE)


def materialised(problem: Reduction, array_size: int) -> np.ndarray:
    """The array as a platform holds it."""
    return np.resize(problem.tile, array_size)


def brute_force(problem: Reduction, array_size: int) -> int | float:
    """The array combined one by one in Python's own unlimited integers, or in exactly rounded float sums."""
    elements = [element.item() for element in materialised(problem, array_size)]
    value = {
        "sum": math.fsum if problem.dtype.kind == "f" else sum,
        "product": math.prod,
        "minimum": min,
        "maximum": max,
    }[problem.operation](elements)
    if problem.dtype.kind == "f":
        return float(value)
    bits = 8 * problem.dtype.itemsize
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@pytest.mark.parametrize("array_size", SIZES)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reference_is_the_whole_arrays_combination(dtype: str, operation: str, array_size: int) -> None:
    problem = make_reduction(dtype, operation, LONGEST, seed=1)
    expected = brute_force(problem, array_size)
    assert reference(problem, array_size) == expected


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("operation", ["sum", "product"])
def test_integers_wrap_around_as_on_the_device(dtype: str, operation: str) -> None:
    # Elements near the type's limit: sums and products leave its range at once, and more than once.
    element = np.dtype(dtype)
    problem = Reduction(element, operation, np.full(TILE, np.iinfo(element).max - 2, element))
    for array_size in SIZES:
        assert reference(problem, array_size) == brute_force(problem, array_size)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_right_partials_pass(dtype: str, operation: str) -> None:
    problem = make_reduction(dtype, operation, LONGEST, seed=2)
    combine = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}[operation]
    blocks = np.array_split(materialised(problem, LONGEST), 10)
    partials = np.array([combine.reduce(block, dtype=problem.dtype) for block in blocks], problem.dtype)
    assert mistake(problem, LONGEST, partials, depth=30) is None


@pytest.mark.parametrize("operation", ["sum", "product"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_dropped_or_doubled_element_is_noticed(dtype: str, operation: str) -> None:
    # A product of even numbers would be 0 modulo 2^bits, whichever element is dropped. Dropping an element that leaves
    # the result as it is (0 in a sum, 1 in a product) is no mistake.
    problem = make_reduction(dtype, operation, LONGEST, seed=3)
    array = materialised(problem, LONGEST)
    combine = np.add if operation == "sum" else np.multiply
    neutral = 0 if operation == "sum" else 1
    for position in np.flatnonzero(array != neutral):
        dropped = combine.reduce(np.delete(array, position), dtype=problem.dtype)
        doubled = combine.reduce(np.append(array, array[position]), dtype=problem.dtype)
        for wrong in (dropped, doubled):
            text = mistake(problem, LONGEST, np.array([wrong], problem.dtype), depth=10)
            assert text == f"expected {reference(problem, LONGEST)}, found {wrong}"


@pytest.mark.parametrize("operation", ["minimum", "maximum"])
def test_an_extremum_missed_is_noticed(operation: str) -> None:
    problem = make_reduction("float32", operation, LONGEST, seed=4)
    ordered = np.sort(problem.tile)
    second = ordered[1] if operation == "minimum" else ordered[-2]
    assert mistake(problem, LONGEST, np.array([second]), depth=10)


def pairwise(values: np.ndarray) -> np.float32:
    """A float32 sum in the order of a tree, one rounding a step, as a thread block adds."""
    while len(values) > 1:
        values = np.append(values, np.float32(0)) if len(values) % 2 else values
        values = values[::2] + values[1::2]
    return np.float32(values[0])


def test_float_bound_accepts_a_tree_and_rejects_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "TILE_LENGTH", 2**20)
    count, block = 2**20, 1024
    problem = make_reduction("float32", "sum", count, seed=5)
    blocks = problem.tile.reshape(-1, block)
    partials = np.array([pairwise(row) for row in blocks], np.float32)
    assert mistake(problem, count, partials, depth=10) is None
    # A whole block dropped, a block added twice, and an input that was cut to half precision.
    assert mistake(problem, count, partials[1:], depth=10)
    assert mistake(problem, count, np.append(partials, partials[0]), depth=10)
    assert mistake(problem, count, partials * np.float32(1 + 2.0**-11), depth=10)
    # It is as tight as it is proven: every addition rounded down by half a unit in the last place would just pass.
    worst = reference(problem, count) * 10 * 2.0**-24
    assert worst <= error_bound(problem, count, depth=10) <= 1.01 * worst


def test_a_dropped_element_of_one_block_is_noticed_in_float32() -> None:
    problem = make_reduction("float32", "sum", TILE, seed=6)
    largest = int(np.argmax(problem.tile))
    assert mistake(problem, TILE, np.delete(problem.tile, largest), depth=10)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_is_never_right(dtype: str, operation: str) -> None:
    # Every comparison with NaN is false: a check written as `error > bound` would let it pass.
    problem = make_reduction(dtype, operation, LONGEST, seed=7)
    results = np.array([reference(problem, LONGEST), np.nan], dtype)
    assert "found nan" in (mistake(problem, LONGEST, results, depth=10) or "")
    assert mistake(problem, LONGEST, np.array([np.inf], dtype), depth=10)


def test_the_same_seed_gives_the_same_input() -> None:
    first, again, other = (make_reduction("float64", "sum", LONGEST, seed).tile for seed in (8, 8, 9))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_longer_sweep_keeps_the_shorter_arrays_elements() -> None:
    # The journal keeps a point when a larger size is added to the sweep, so its input must be the one it was run with.
    for dtype in DTYPES:
        for operation in OPERATIONS:
            short = make_reduction(dtype, operation, 10, seed=10).tile
            assert np.array_equal(short, make_reduction(dtype, operation, LONGEST, seed=10).tile[:10])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_exact_sum_is_fsums_whatever_the_floats(dtype: str) -> None:
    # Pins: a way for multiples of 2^-53 below 1 that is taken for others, or is wrong at its ends.
    generator = np.random.default_rng(5)
    spread = (-140, 120) if dtype == "float32" else (-1000, 1000)
    many = {
        "uniform": generator.random(10_000, dtype=np.dtype(dtype).type),
        "negative": -generator.random(10_000, dtype=np.dtype(dtype).type),
        "normal": generator.standard_normal(10_000).astype(dtype),
        "of all sizes": np.ldexp(generator.standard_normal(3000), generator.integers(*spread, 3000)).astype(dtype),
        "cancelling": np.array([1.0, 2.0**-60, -1.0, 2.0**-53, -(2.0**-54)], dtype),
        "largest": np.full(1000, 1 - 2.0**-24, dtype),
        "ones": np.ones(1000, dtype),
        "none": np.empty(0, dtype),
    }
    for name, values in many.items():
        assert float(exact_sum(values)) == math.fsum(values.astype(np.float64)), name
