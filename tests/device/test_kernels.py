"""Every shipped kernel leaves the right results on the emulator, every block partial too, and touches nothing else."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from hypothesis import example, given, settings
from hypothesis import strategies as st
from planted import point
from reductions import DTYPES, EXCHANGE
from shipped_builds import OF_VECTORS, library_of, round_elements, shipped_library, variants, wherever_an_array_begins
from shipped_kernels import shipped_kernels, shipped_study

from cuda_emulator import Library
from kernelsweep.judge.data.published import PUBLISHED, read_published
from kernelsweep.study.expressions import Expression
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import LAUNCHES, KernelSource
from kernelsweep.study.point import Point

LARGEST = 20_000
LARGER = 300_007  # many more blocks than cores, and a multiple of nothing
MOST = 110_000  # of one point, or it takes too long
GUARD = 4096  # elements before and after each array
RANDOM_BYTES = np.random.default_rng(1).integers(0, 256, 9 * GUARD, dtype=np.uint8)
expression = cache(Expression)
DATA = "data"
REDUCTIONS = shipped_kernels("kernels/reduction_problem.py")
UFUNCS = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}


def elements(dtype: str, operation: str, count: int, seed: int) -> np.ndarray:
    """Input that hides no dropped element: integers over the whole range (odd ones for products, since even ones soon
    make every product 0 modulo 2^bits), random normals, and for float products values near 1.
    """
    generator = np.random.default_rng(seed)
    element = np.dtype(dtype)
    if element.kind == "i":
        limits = np.iinfo(element)
        values = generator.integers(limits.min, limits.max, count, dtype=element, endpoint=True)
        return values | element.type(1) if operation == "product" else values
    normals = generator.standard_normal(count)
    # The logarithm of the product has a standard deviation of at most 15; float32 reaches exp(88).
    spread = min(0.05, 15 / np.sqrt(len(normals)))
    return (np.exp(spread * normals) if operation == "product" else normals).astype(element)


class Guarded:
    """An array between two guard zones of random bytes, aligned as memory of a GPU is or `offset` elements off it."""

    def __init__(self, values: np.ndarray, offset: int = 0) -> None:
        size, zone = values.nbytes, (GUARD + offset) * values.itemsize
        room = np.empty(size + 2 * zone + 256, np.uint8)
        begin = zone + (-(room.ctypes.data + zone)) % 256 + offset * values.itemsize
        self.values = room[begin : begin + size].view(values.dtype)
        self.values[:] = values
        self._zones = room[:begin], room[begin + size :]
        for guard in self._zones:
            guard[:] = RANDOM_BYTES[: len(guard)]
        self.argument = ctypes.c_void_p(self.values.ctypes.data)

    def assert_guards_untouched(self, name: str) -> None:
        for where, guard in zip(("before", "after"), self._zones, strict=True):
            assert np.array_equal(guard, RANDOM_BYTES[: len(guard)]), f"the kernel wrote to memory {where} {name}"


def is_of_blocks(kernel: KernelSource) -> bool:
    """Whether a partial result is of one block's elements, one after another."""
    return not kernel.chooses_grid and "partials" in kernel.entry.results


def assert_results_are_right(kernel: KernelSource, point: Point, array: np.ndarray, results: np.ndarray) -> None:
    """Each result against the elements that it stands for: exact, or for floats within the kernel's own error bound.

    Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition: gamma(depth) * sum |x| for a sum, section
    4.2; gamma(n - 1) * |product| for a product of n elements, section 3.1.
    """
    plan = kernel.plan(point)
    span = point["block_size"] * point["unroll"] if is_of_blocks(kernel) else len(array)
    starts = np.arange(0, len(array), span)
    ufunc = UFUNCS[point["operation"]]
    if array.dtype.kind == "i" or point["operation"] in ("minimum", "maximum"):
        np.testing.assert_array_equal(results, ufunc.reduceat(array, starts, dtype=array.dtype))
        return
    exact = array.astype(np.longdouble)
    expected = ufunc.reduceat(exact, starts)
    depth = expression(str(kernel.entry.roundings))({**point, LAUNCHES: len(plan.launches)})
    roundings = depth if point["operation"] == "sum" else span - 1
    size = np.add.reduceat(abs(exact), starts) if point["operation"] == "sum" else abs(expected)
    unit = float(np.finfo(array.dtype).eps) / 2
    # The reference is itself rounded, at most `span` times, to a long double.
    bound = (roundings * unit / (1 - roundings * unit) + span * float(np.finfo(np.longdouble).eps)) * size
    off = np.flatnonzero(~(abs(results - expected) <= bound))  # not <=, so that NaN is off, too
    assert not off.size, f"result {off[0]}: expected {expected[off[0]]} within {bound[off[0]]}, found {results[off[0]]}"


def launched(kernel: KernelSource, library: Library, point: Point, array: np.ndarray, offset: int = 0) -> np.ndarray:
    """The kernel's results for an array, launched as its plan says, with guards around all memory.

    A plan with an array that has contents is run a second time, on that array as the first run left it.
    """
    plan = kernel.plan(point)
    filled = {
        name: np.resize(array.contents, array.size) for name, array in plan.arrays.items() if array.contents is not None
    }
    kept = {name: Guarded(contents) for name, contents in filled.items()}
    for _ in range(2 if kept else 1):
        results = launched_once(kernel, library, point, array, offset, kept)
        for name, buffer in kept.items():
            np.testing.assert_array_equal(buffer.values, filled[name], f"the kernel did not leave {name} as it was")
    return results


def launched_once(
    kernel: KernelSource,
    library: Library,
    point: Point,
    array: np.ndarray,
    offset: int,
    kept: dict[str, Guarded],
) -> np.ndarray:
    plan = kernel.plan(point)
    # A slot that no block writes must not look right: NaN, or a value that hardly any partial has.
    unwritten = np.nan if array.dtype.kind == "f" else 0x5BADBAD5
    buffers = {
        name: kept.get(name) or Guarded(np.full(own.size, unwritten, own.dtype)) for name, own in plan.arrays.items()
    }
    output = "output" if kernel.problem is EXCHANGE else "value"
    buffers[output] = Guarded(np.full(len(array) if output == "output" else 1, unwritten, array.dtype))
    buffers[DATA] = Guarded(array, offset)
    entry = library.entries.index(instantiation(kernel, point))
    for launch in plan.launches:
        arguments = [
            buffers[value].argument if isinstance(value, str) else ctypes.c_size_t(int(value))
            for value in launch.arguments
        ]
        library.launch(entry, launch.grid, launch.block, launch.shared_bytes, arguments)
    for name, buffer in buffers.items():
        buffer.assert_guards_untouched({DATA: "the input"}.get(name, f"the {name}"))
    if DATA not in plan.updates and DATA not in plan.results:
        np.testing.assert_array_equal(buffers[DATA].values, array, "the kernel changed an input that it declares const")
    ((name, count),) = plan.results.items() or [(output, buffers[output].values.size)]
    results = buffers[name].values[:count]
    if name != "partials" or is_of_blocks(kernel):
        return results
    # Which elements a block takes is the kernel's own affair: only the whole is known.
    if array.dtype.kind == "f" and point["operation"] in ("minimum", "maximum"):
        return np.array([extremum(point["operation"], results)])
    wide = array.dtype if array.dtype.kind == "i" else np.longdouble
    return np.array([UFUNCS[point["operation"]].reduce(results, dtype=wide)])


def check(kernel: KernelSource, library: Library, point: Point, seed: int) -> None:
    array = elements(point["dtype"], point["operation"], point["array_size"], seed)
    assert_results_are_right(kernel, point, array, launched(kernel, library, point, array))


def sized(variant: Point, array_size: int) -> Point:
    return variant.at(array_size=array_size)


def around_block_boundaries(kernel: KernelSource, variant: Point) -> list[int]:
    span = round_elements(kernel, variant)
    sizes = [span - 1, span, span + 1, 2 * span + 1]
    if span > LARGEST:  # The same code with smaller blocks, or fewer, gets the others.
        sizes = [span - 1, span + 1]
    return [size for size in sizes if size <= MOST] or [span % MOST + 1]


@pytest.mark.parametrize("kernel", REDUCTIONS)
def test_every_result_of_a_shipped_kernel_is_right(kernel: KernelSource) -> None:
    # Pins: a ragged tail dropped or misread, a block before the last taken for whole, threads that leave before a
    # barrier, an identity that is none for some type, 32-bit overflow that traps or saturates, and mistakes that cancel
    # out in the total or that only a total over few blocks would show.
    points, library = variants(kernel), shipped_library(kernel.path.parent)
    for variant in points:
        for array_size in around_block_boundaries(kernel, variant):
            check(kernel, library, sized(variant, array_size), seed=0)

    # So many blocks that the last one's threads take several results each.
    most_blocks = max(points, key=lambda one: one["grid_size"] or 0)
    for variant in dict.fromkeys((points[0], most_blocks)):
        check(kernel, library, sized(variant, LARGER), seed=0)

    @settings(max_examples=4, deadline=None)
    @given(variant=st.sampled_from(points), array_size=st.integers(1, LARGEST), seed=st.integers(0, 2**32 - 1))
    def results_are_right(variant: Point, array_size: int, seed: int) -> None:
        check(kernel, library, sized(variant, array_size), seed)

    results_are_right()


@pytest.mark.parametrize(
    "kernel", [one for one in shipped_kernels("kernels/reduction_problem.py") if one.values[0] in OF_VECTORS]
)
def test_a_vector_kernel_is_right_wherever_its_array_begins(kernel: KernelSource) -> None:
    # Pins: vector loads from addresses that are not aligned to them, which a GPU answers with an error and the emulator
    # doesn't; elements before the first boundary left out or read twice; and arrays that end before it.
    library = shipped_library(kernel.path.parent)
    for variant in wherever_an_array_begins(kernel):
        vector = 16 // np.dtype(variant["dtype"]).itemsize
        for offset in range(vector):
            for size in (*range(1, 2 * vector + 2), *around_block_boundaries(kernel, variant), 5000):
                array = elements(variant["dtype"], variant["operation"], size, seed=size)
                results = launched(kernel, library, sized(variant, size), array, offset)
                assert_results_are_right(kernel, sized(variant, size), array, results)


# Minimum and maximum follow IEEE 754-2019's operations of those names: a NaN anywhere gives NaN, and -0 is below +0.

SPECIAL = st.sampled_from([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 5e-324, -1e-40])


def extremum(operation: str, values: np.ndarray) -> float:
    """The rule, one value after another, in the words of the standard."""
    if np.isnan(values).any():
        return np.nan
    zeros_apart = sorted(values.tolist(), key=lambda value: (value, 0 if np.signbit(value) else 1))
    return zeros_apart[0 if operation == "minimum" else -1]


@pytest.mark.parametrize("kernel", REDUCTIONS)
def test_minimum_and_maximum_of_special_values(kernel: KernelSource) -> None:
    # Pins: a NaN that is found only in some places, or not at all; and a zero whose sign depends on the order.
    points, library = variants(kernel), shipped_library(kernel.path.parent)
    extrema = [one for one in points if one["dtype"].startswith("float") and one["operation"] in ("minimum", "maximum")]
    if not extrema:
        pytest.skip("it supports no minimum of floats")
    minimum, maximum = (next(one for one in extrema if one["operation"] == name) for name in ("minimum", "maximum"))

    @settings(max_examples=5, deadline=None)
    @example(variant=minimum, specials=[-0.0], filler=0.0, size=300, seed=0)
    @example(variant=maximum, specials=[0.0], filler=-0.0, size=300, seed=0)
    @example(variant=maximum, specials=[np.nan], filler=np.inf, size=257, seed=1)
    @given(
        variant=st.sampled_from(extrema),
        specials=st.lists(SPECIAL, min_size=1, max_size=8),
        filler=SPECIAL,
        size=st.integers(1, 2000),
        seed=st.integers(0, 2**32 - 1),
    )
    def specials_are_right(variant: Point, specials: list[float], filler: float, size: int, seed: int) -> None:
        array = np.full(size, filler, variant["dtype"])
        places = np.random.default_rng(seed).permutation(size)[: len(specials)]
        array[places] = specials[: len(places)]
        results = launched(kernel, library, sized(variant, size), array.copy())
        span = variant["block_size"] * variant["unroll"] if is_of_blocks(kernel) else size
        for result, start in zip(results, range(0, size, span), strict=True):
            expected = extremum(variant["operation"], array[start : start + span])
            assert (np.isnan(result) and np.isnan(expected)) or (
                result == expected and np.signbit(result) == np.signbit(expected)
            ), (start, result, expected)

    specials_are_right()


@pytest.mark.xdist_group("bandwidth_bound")
@pytest.mark.parametrize("name", ["counted_sum", "streaming_sum"])
def test_sums_of_floats_of_any_size_are_right(name: str, tmp_path: Path) -> None:
    # Pins: a kernel that counts in units that follow from the array's first elements, where those say little about the
    # rest; values that are too small for it, too large, or subnormal; and values that are not finite.
    kernel = shipped_study("bandwidth_bound").kernels[name]
    built = [point(1, 32, dtype="float32", grid_size=grid_size) for grid_size in (1, 3, 1000)]
    library = library_of([(kernel, built)], tmp_path)

    @settings(max_examples=25, deadline=None)
    @example(variant=built[1], size=5000, first=110, rest=-126, seed=0, odd=0.0)
    @example(variant=built[2], size=5000, first=-100, rest=110, seed=0, odd=np.inf)
    @given(
        variant=st.sampled_from(built),
        size=st.integers(1, 20_000),
        first=st.integers(-149, 110),
        rest=st.integers(-149, 110),
        seed=st.integers(0, 2**32 - 1),
        odd=st.sampled_from([0.0, np.nan, np.inf, -np.inf]),
    )
    def sums_are_right(variant: Point, size: int, first: int, rest: int, seed: int, odd: float) -> None:
        exponents = np.where(np.arange(size) < 16, first, rest)
        array = np.ldexp(elements("float32", "sum", size, seed), exponents).astype(np.float32)
        # The first elements cancel in pairs; none of them may be missing in the sum.
        array[1:16:2] = -array[0:15:2][: len(array[1:16:2])]
        if odd:
            array[seed % size] = odd
            assert np.array_equal(launched(kernel, library, sized(variant, size), array), [odd], equal_nan=True)
        else:
            results = launched(kernel, library, sized(variant, size), array)
            assert_results_are_right(kernel, sized(variant, size), array, results)

    sums_are_right()
    # The largest that is counted in units, in as many blocks as that leaves room for; and twice that, which isn't.
    for value in (np.nextafter(np.float32(2), np.float32(0)), np.float32(2), np.float32(4)):
        array = np.full(2**14, value)
        array[:16] = 1
        one = sized(built[-1], len(array))
        assert kernel.plan(one).launches[0].blocks == 128
        assert_results_are_right(kernel, one, array, launched(kernel, library, one, array))


# Exchanges

WIDTHS = (2, 8, 32)
THREADS = (4, 16, 32, 96, 100)  # of a block
CHAINS = ("rotations", "shared_rotations", "barrier_rotations")
EXCHANGES = [
    *({"kernel": "broadcast", "source_lane": lane} for lane in (0, 5, 31)),
    *({"kernel": "shift_up", "delta": delta} for delta in (0, 1, 9, 31)),
    *({"kernel": "shift_down", "delta": delta} for delta in (0, 1, 9, 31)),
    *({"kernel": "rotate", "offset": offset} for offset in (-33, -2, 0, 7, 100)),
    *({"kernel": name, "offset": -2, "times": times} for name in CHAINS for times in (1, 5)),
    *({"kernel": "butterfly", "lane_mask": mask} for mask in (0, 1, 6, 31)),
    *({"kernel": "butterfly_array", "lane_mask": mask} for mask in (0, 1, 6, 31)),
    *({"kernel": "butterfly_swap", "lane_mask": mask, "first": 3, "second": 1} for mask in (0, 1, 6, 31)),
    {"kernel": "butterfly_swap", "lane_mask": 2, "first": 0, "second": 0},
    *({"kernel": "butterfly_swap_twice", "lane_mask": mask, "first": 3, "second": 1} for mask in (1, 8, 16)),
]


def test_every_exchange_puts_each_value_where_cuda_says(tmp_path: Path) -> None:
    kernels = [one.values[0] for one in shipped_kernels("kernels/exchanges/problem.py")]
    every = [exchanges_of(kernel) for kernel in kernels]
    library = library_of([(kernel, [*cases, *published]) for kernel, cases, published in every], tmp_path)
    for kernel, cases, published in every:
        for one in cases:
            for size in (1, 31, 450, 1000):
                numbered = sized(one, size)
                instance = EXCHANGE.instance(kernel.name, numbered, 0)
                found = launched(kernel, library, numbered, np.arange(size).astype(one["dtype"]))
                assert instance.judge({"output": found}, 0).mistake is None, (kernel.name, str(numbered))
        found[-1] += 1
        assert "output[999]: expected" in (instance.judge({"output": found}, 0).mistake or "")
        # The problem's own model, by which results are judged, says what is published.
        for one, output in published.items():
            found = launched(kernel, library, one, np.arange(one["array_size"]).astype(one["dtype"]))
            judgement = EXCHANGE.instance(kernel.name, one, 0).judge({"output": found}, 0)
            assert (judgement.mistake, judgement.output) == (None, output), kernel.name


def exchanges_of(kernel: KernelSource) -> tuple[KernelSource, list[Point], dict[Point, str]]:
    """The kernel with the words of its cases, the cases, and by case the output that is published."""
    single = ("broadcast", "shift_up", "shift_down", "rotate", "butterfly", *CHAINS)
    unroll = 1 if kernel.name in single else 4
    cases = []
    exchanges = [exchange for exchange in EXCHANGES if exchange["kernel"] == kernel.name]
    for place, (exchange, width) in enumerate(product(exchanges, WIDTHS)):
        text = " ".join(f"{name}={value}" for name, value in exchange.items() if name != "kernel")
        # Each width has another block size with each exchange, of whole groups of lanes.
        sizes = [size for size in THREADS if size % (32 if kernel.name in CHAINS else width) == 0]
        block_size = sizes[(place + place // len(WIDTHS)) % len(sizes)]
        cases.append(point(1, block_size, unroll=unroll, operation="exchange", width=width, arguments=text))
    cases += [one.at(dtype=dtype) for one in cases[-3:] for dtype in DTYPES[1:]]
    published = {
        point(size, size // unroll, unroll=unroll, operation="exchange", width=16, arguments=one.parameters): one.value
        for one in read_published("exchanges.csv", ROOT / PUBLISHED)
        if one.kernel == kernel.name
        for size in [len(one.value.split())]
    }
    assert published or kernel.name in CHAINS
    names = {one["arguments"]: ", ".join(re.findall(r"=(\S+)", one["arguments"])) for one in [*cases, *published]}
    return replace(kernel, launches=replace(kernel.launches, cxx={"arguments": names})), cases, published
