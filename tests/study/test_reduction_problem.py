"""The reference against which every result is checked: right itself, blind to no dropped element, fair to rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from planted import point
from reductions import DTYPES, OPERATIONS, REDUCTION
from shipped_kernels import shipped_kernels

from kernelsweep.device.point.instances import second_seed
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem_file import plain_mistakes

MODULE = REDUCTION.module.names
TILE = 97  # instead of 4,194,301 elements
SIZES = [1, 2, TILE - 1, TILE, TILE + 1, 2 * TILE + 5, 1000]
UFUNCS = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}


def instance(dtype: str, operation: str, size: int, seed: int = 1) -> FileInstance:
    return REDUCTION.instance("a kernel", point(size, dtype=dtype, operation=operation), seed)


def whole(of: FileInstance) -> np.ndarray[Any, Any]:
    """The array as a platform holds it."""
    array = of.arrays()["data"]
    assert array.contents is not None
    return np.resize(array.contents, array.size)


def mistake(of: FileInstance, partials: Any, roundings: int = 10) -> str | None:
    values = np.atleast_1d(np.asarray(partials))
    return of.judge({"partials": values}, roundings).mistake


def combined(array: np.ndarray[Any, Any], operation: str) -> Any:
    """An array combined on the host: in the element type, or for floats' sums exactly rounded."""
    if array.dtype.kind == "f" and operation == "sum":
        return math.fsum(array)
    with np.errstate(over="ignore"):
        return UFUNCS[operation].reduce(array, dtype=array.dtype)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_reference_is_the_whole_arrays_combination(
    dtype: str, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODULE, "TILE_LENGTH", TILE)
    for size in SIZES:
        # The inputs of a seed are kept: no other test has this one.
        of = instance(dtype, operation, size, seed=TILE)
        array = whole(of)
        expected = combined(array, operation)
        assert of.expected["value"].elements.item() == expected, size
        partials = [UFUNCS[operation].reduce(part, dtype=array.dtype) for part in np.array_split(array, min(size, 10))]
        assert mistake(of, np.array(partials, dtype), roundings=size) is None
        assert np.isnan(expected) or mistake(of, np.array([np.nan if dtype.startswith("f") else expected + 1], dtype))


def pairwise(values: np.ndarray[Any, Any]) -> np.float32:
    """A float32 sum in the order of a tree, one rounding a step, as a thread block adds."""
    while len(values) > 1:
        values = np.append(values, np.float32(0)) if len(values) % 2 else values
        values = values[::2] + values[1::2]
    return np.float32(values[0])


def test_the_bound_of_floats_accepts_a_tree_and_rejects_what_is_wrong() -> None:
    of = instance("float32", "sum", 2**19)
    partials = np.array([pairwise(row) for row in whole(of).reshape(-1, 1024)], np.float32)
    assert mistake(of, partials) is None
    # A whole block dropped, a block added twice, and an input that was cut to half precision.
    for wrong in (partials[1:], np.append(partials, partials[0]), partials * np.float32(1 + 2.0**-11)):
        assert mistake(of, wrong)
    # It is as tight as it is proven: every addition rounded down by half a unit in the last place would just pass.
    worst = of.expected["value"].elements.item() * 10 * 2.0**-24
    assert worst <= of.bounds(10)["value"].elements.item() <= 1.01 * worst
    few = instance("float32", "sum", 97)
    assert mistake(few, np.delete(whole(few), whole(few).argmax()))


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
        assert float(MODULE["exact_sum"](values)) == math.fsum(values.astype(np.float64)), name


# The emulator's sizes with more than one element. Kernels run at each of them, so that a mistake must show at one.
SWEPT = (31, 1000, 2**14 + 1)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_plain_mistake_is_taken_for_right(dtype: str, operation: str) -> None:
    told, seen = set(), set()
    for size in SWEPT:
        for seed in (2026, second_seed(2026)):
            of = instance(dtype, operation, size, seed)
            right = np.array([of.expected["value"].elements.item()]).astype(dtype)
            wrong = dict(plain_mistakes("the result", right))
            wrong["the mean"] = np.array([whole(of).astype(np.float64).mean()]).astype(dtype)
            wrong["the loss of the last element"] = np.array([combined(whole(of)[:-1], operation)]).astype(dtype)
            told |= {*wrong}
            seen |= {name for name, result in wrong.items() if mistake(of, result, roundings=200)}
    assert told == seen and len(told) == 4


@pytest.mark.parametrize("kernel", shipped_kernels("kernels/exchanges/problem.py"))
def test_no_plain_mistake_of_an_exchange_is_taken_for_right(kernel: Any) -> None:
    arguments = {
        **dict.fromkeys(("broadcast",), "source_lane=3"),
        **dict.fromkeys(("rotate", "rotations", "shared_rotations", "barrier_rotations"), "offset=2"),
        **dict.fromkeys(("shift_up", "shift_down"), "delta=1"),
        **dict.fromkeys(("butterfly", "butterfly_array"), "lane_mask=1"),
    }.get(kernel.name, "lane_mask=1 first=0 second=3")
    for dtype in DTYPES:
        one = point(1000, 32, unroll=4, dtype=dtype, operation="exchange", width=16, arguments=arguments)
        of = kernel.problem.instance(kernel.name, one, 0)
        right = of.expected["output"].elements.astype(dtype)
        wrong = dict(plain_mistakes("the result", right))
        wrong["the last element"] = np.where(np.arange(1000) == right.argmax(), 0, right).astype(dtype)
        assert of.judge({"output": right}, 0).mistake is None
        assert not [told for told, values in wrong.items() if of.judge({"output": values}, 0).mistake is None]
