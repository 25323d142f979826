"""Every shipped kernel leaves the right partial result of every block on the emulator, and touches nothing else."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from planted import ROOT, point

from kernelsweep.axes import Expression
from kernelsweep.build import build
from kernelsweep.configuration import load_study, study_names
from kernelsweep.kernel_source import KernelSource, read_kernel
from kernelsweep.plans import PLANS
from kernelsweep.platforms.emulated_library import EmulatedLibrary
from kernelsweep.sweep import Point, instantiation, instantiations

LARGEST = 20_000
LARGER = 300_007  # many more blocks than cores, and a multiple of nothing
GUARD = 4096  # elements before and after each array
BLOCK_SIZES = (32, 64, 96, 256, 1024)

UFUNCS = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}


def shipped_kernels() -> list[Any]:
    """Every kernel that a study lists. Those marked as undefined behaviour have no right result: skipped, by name."""
    return [
        pytest.param(
            kernel,
            id=f"{study}/{name}",
            marks=pytest.mark.skip(reason=f"undefined behaviour: {kernel.undefined_behaviour}")
            if kernel.undefined_behaviour
            else (),
        )
        for study in study_names(ROOT)
        for name, kernel in load_study(study, ROOT).kernels.items()
    ]


def variants(kernel: KernelSource) -> list[Point]:
    """Points of size 1 for what is compiled: the block sizes supported of BLOCK_SIZES, the smallest, a middle and the
    largest unroll factor, and every element type and operation.
    """
    unrolls = sorted({kernel.unroll[0], kernel.unroll[len(kernel.unroll) // 2], kernel.unroll[-1]})
    every = [
        point(1, block_size, unroll=unroll, dtype=dtype, operation=operation)
        for block_size in sorted({kernel.smallest_block_size, *BLOCK_SIZES})
        for unroll in unrolls
        for dtype in kernel.dtypes
        for operation in kernel.operations
    ]
    return [one for one in every if not kernel.unsupported(one.values)]


def compiled(kernel: KernelSource, folder: Path) -> EmulatedLibrary:
    binary = folder / f"{kernel.name}.bin"
    names = instantiations(kernel, variants(kernel))
    report = build(kernel.path, binary, "emulator", names, ROOT / "kernels/include", ROOT / "workflow/emulator")
    assert report["status"] == "ok", report["message"]
    return EmulatedLibrary(binary)


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
    return (np.exp(0.05 * normals) if operation == "product" else normals).astype(element)


class Guarded:
    """An array between two guard zones of random bytes, aligned as memory of a GPU is."""

    def __init__(self, values: np.ndarray) -> None:
        size, zone = values.nbytes, GUARD * values.itemsize
        room = np.random.default_rng(1).integers(0, 256, size + 2 * zone + 256, dtype=np.uint8)
        begin = zone + (-(room.ctypes.data + zone)) % 256
        self.values = room[begin : begin + size].view(values.dtype)
        self.values[:] = values
        self._zones = room[:begin], room[begin + size :]
        self._before = [guard.copy() for guard in self._zones]
        self.argument = ctypes.c_void_p(self.values.ctypes.data)

    def assert_guards_untouched(self, name: str) -> None:
        for where, guard, before in zip(("before", "after"), self._zones, self._before, strict=True):
            assert np.array_equal(guard, before), f"the kernel wrote to memory {where} {name}"


def assert_partials_are_right(kernel: KernelSource, point: Point, array: np.ndarray, partials: np.ndarray) -> None:
    """Each block's partial against its own elements: exact, or for floats within the kernel's own error bound.

    Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition: gamma(depth) * sum |x| for a sum, section
    4.2; gamma(n - 1) * |product| for a product of n elements, section 3.1.
    """
    span = point.block_size * point.unroll
    starts = np.arange(0, len(array), span)
    ufunc = UFUNCS[point.operation]
    if array.dtype.kind == "i" or point.operation in ("minimum", "maximum"):
        np.testing.assert_array_equal(partials, ufunc.reduceat(array, starts, dtype=array.dtype))
        return
    exact = array.astype(np.longdouble)
    expected = ufunc.reduceat(exact, starts)
    roundings = Expression(kernel.summation_depth)(point.values) if point.operation == "sum" else span - 1
    size = np.add.reduceat(abs(exact), starts) if point.operation == "sum" else expected
    unit = float(np.finfo(array.dtype).eps) / 2
    # The reference is itself rounded, at most `span` times, to a long double.
    bound = (roundings * unit / (1 - roundings * unit) + span * float(np.finfo(np.longdouble).eps)) * size
    off = np.flatnonzero(~(abs(partials - expected) <= bound))  # not <=, so that NaN is off, too
    assert not off.size, f"block {off[0]}: expected {expected[off[0]]} within {bound[off[0]]}, found {partials[off[0]]}"


def check(kernel: KernelSource, library: EmulatedLibrary, point: Point, seed: int) -> None:
    """Launch the kernel as its plan says and look at all the memory around it."""
    plan = PLANS[kernel.plan](point)
    array = elements(point.dtype, point.operation, point.array_size, seed)
    data = Guarded(array)
    # A slot that no block writes must not look right: NaN, or a value that hardly any partial has.
    unwritten = np.nan if array.dtype.kind == "f" else 0x5BADBAD5
    partials = Guarded(np.full(plan.results, unwritten, array.dtype))
    values = {
        "data": data.argument,
        "partials": partials.argument,
        "array_size": ctypes.c_size_t(point.array_size),
    }
    entry = library.entries.index(instantiation(kernel, point))
    for launch in plan.launches:
        arguments = [values[name] for name in launch.arguments]
        library.launch(entry, launch.grid, launch.block, launch.shared_bytes, arguments)
    data.assert_guards_untouched("the input")
    partials.assert_guards_untouched("the partials")
    if not kernel.updates_input:
        np.testing.assert_array_equal(data.values, array, "the kernel changed an input that it declares const")
    assert kernel.plan == "block_partials", f"say here what a kernel of the plan {kernel.plan} has to leave behind"
    assert_partials_are_right(kernel, point, array, partials.values)


def around_block_boundaries(variant: Point) -> list[int]:
    span = variant.block_size * variant.unroll
    return [span - 1, span, span + 1, 2 * span - 1, 2 * span + 1]


@pytest.mark.parametrize("kernel", shipped_kernels())
def test_every_partial_of_a_shipped_kernel_is_right(kernel: KernelSource, tmp_path: Path) -> None:
    # Pins: a ragged tail dropped or misread, a block before the last taken for whole, threads that leave before a
    # barrier, an identity that is none for some type, 32-bit overflow that traps or saturates, and mistakes that cancel
    # out in the total or that only a total over few blocks would show.
    library = compiled(kernel, tmp_path)
    built = variants(kernel)

    def sized(variant: Point, array_size: int) -> Point:
        return Point(**{**variant.values, "array_size": array_size})

    for variant in built:
        if (variant.dtype, variant.operation) in (("int32", "sum"), ("float64", "minimum")):
            for array_size in around_block_boundaries(variant):
                check(kernel, library, sized(variant, array_size), seed=0)

    sizes: Callable[[Point], st.SearchStrategy[int]] = lambda variant: (  # noqa: E731
        st.integers(1, LARGEST) | st.sampled_from(around_block_boundaries(variant))
    )
    variants_and_sizes = st.sampled_from(built).flatmap(lambda variant: st.tuples(st.just(variant), sizes(variant)))

    @settings(max_examples=150, deadline=None)
    @example(drawn=(built[0], LARGER), seed=0)
    @example(drawn=(built[-1], LARGER), seed=0)
    @given(drawn=variants_and_sizes, seed=st.integers(0, 2**32 - 1))
    def partials_are_right(drawn: tuple[Point, int], seed: int) -> None:
        check(kernel, library, sized(*drawn), seed)

    partials_are_right()


# The test above, tested: it finds mistakes that a comparison of totals lets pass.

FAULTY = """\
// A kernel with a mistake.
//
// kernelsweep:
//   unroll: [1]

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void faulty({parameter}, Element *partials, size_t array_size)
{{
    const size_t first = size_t(blockIdx.x) * blockDim.x;
    if (threadIdx.x != 0)
        return;
    Element result = data[first];
    for (size_t i = first + 1; i < first + blockDim.x && i < array_size; ++i)
        result = Operation::combine(result, data[i]);
    {ending}
}}
"""
RIGHT = "partials[blockIdx.x] = result;"
CONST = "const Element *data"


@pytest.mark.parametrize(
    ("parameter", "ending", "message"),
    [
        (CONST, "partials[gridDim.x - 1 - blockIdx.x] = result;", "Arrays are not equal|expected"),
        (CONST, "if (blockIdx.x != 1) partials[blockIdx.x] = result;", "Arrays are not equal|expected"),
        (CONST, f"{RIGHT} partials[gridDim.x] = result;", "after the partials"),
        ("Element *data", f"{RIGHT} data[array_size] = result;", "after the input"),
        ("Element *data", f"{RIGHT} data[-1] = result;", "before the input"),
        (CONST, f"{RIGHT} const_cast<Element *>(data)[first] = Element(1);", "declares const"),
    ],
)
def test_mistakes_outside_the_total_are_found(parameter: str, ending: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "faulty.cu"
    path.write_text(FAULTY.format(parameter=parameter, ending=ending))
    kernel = read_kernel(path, ROOT)
    library = compiled(kernel, tmp_path)
    for dtype in ("int32", "float64"):
        with pytest.raises(AssertionError, match=message):
            check(kernel, library, point(1000, 64, dtype=dtype), seed=0)
