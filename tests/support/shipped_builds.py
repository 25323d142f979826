"""The shipped reductions, built for the emulator: a library a folder, which the tests of its kernels share."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import cycle, product
from pathlib import Path

from planted import point, source_of
from reductions import DTYPES, OPERATIONS
from shipped_kernels import shipped_kernels, shipped_study

from cuda_emulator import Library
from kernelsweep.compile.builder import build
from kernelsweep.device.task import BuiltKernel
from kernelsweep.study.kernel_sweep import skip_reason, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.kernels.units import merged_units
from kernelsweep.study.point import Point

BLOCK_SIZES = (32, 64, 96, 1024)

# Each type and each operation, a float's sum for its error bound, and the extrema of both floats. The sizes of the
# elements alternate, so that the first four cover every block size and every unroll factor of OF_VECTORS with both.
TYPED = [("int32", "sum"), ("int64", "product"), ("float64", "minimum"), ("float32", "sum"), ("float32", "maximum")]
# The kernel that is compiled for each type with each operation; `snakemake all` runs those of the study `operations`.
OF_ALL_OPERATIONS = "cascaded"
OF_VECTORS = list(shipped_study("bandwidth_bound").kernels.values())


UNROLLS = (1, 2, 4, 8, 16)


def admits(kernel: KernelSource, one: Point) -> bool:
    """Whether a kernel can have a point."""
    return skip_reason(one, kernel, kernel.entry.restrictions, None) is None


def typed_unrolls(kernel: KernelSource) -> tuple[list[tuple[str, str]], list[int]]:
    """The element types with the operations, and the unroll factors, that a kernel can have."""
    every = [
        (dtype, operation, unroll)
        for dtype, operation, unroll in product(DTYPES, OPERATIONS, UNROLLS)
        if admits(kernel, point(1, 256, unroll=unroll, dtype=dtype, operation=operation))
    ]
    return list(dict.fromkeys((one[0], one[1]) for one in every)), sorted({one[2] for one in every})


def fits_its_grid(kernel: KernelSource) -> bool:
    """Whether the kernel reads vectors, and has at most as many blocks as it has work for."""
    return kernel.chooses_grid and "min" in str(kernel.launches.listed[0].grid)


def block_elements(kernel: KernelSource, one: Point) -> int:
    """The elements that a thread block takes in one round."""
    vector = 128 // int(one["dtype"][-2:]) if fits_its_grid(kernel) else 1
    return int(one["block_size"] * one["unroll"] * vector)


def round_elements(kernel: KernelSource, one: Point) -> int:
    """The elements that all blocks take in one round; one block's, if the array sets their number."""
    return block_elements(kernel, one) * (one["grid_size"] or 1)


def grid_sizes(kernel: KernelSource, block_size: int) -> tuple[int | None, ...]:
    """A single block, few for many elements, and more blocks than a block has threads.

    Large blocks run slowly on the emulator: there are more of them than a warp has lanes.
    """
    if not kernel.chooses_grid:
        return (None,)
    return (1, 7, 300 if block_size < 300 else 40)


def variants(kernel: KernelSource) -> list[Point]:
    """Points of size 1 for the variants to compile: the supported block sizes of BLOCK_SIZES, each with the smallest, a
    middle and the largest unroll factor and some grids, and with one of TYPED in turn. One more point for each type
    and operation that is still missing; OF_ALL_OPERATIONS gets every type with every operation.
    """
    pairs, supported = typed_unrolls(kernel)
    unrolls = sorted({supported[0], supported[len(supported) // 2], supported[-1]})
    block_sizes = {*BLOCK_SIZES}
    if fits_its_grid(kernel):  # Such kernels share their loop over the array.
        unrolls = [unrolls[0], unrolls[-1]]
        block_sizes = {96, 1024}  # wherever_an_array_begins() covers one warp.
    typed = [pair for pair in TYPED if pair in pairs]
    typed += [
        (dtype, operation)
        for dtype, operation in pairs
        if dtype not in [one for one, _ in typed] or operation not in [one for _, one in typed]
    ]
    sizes = [
        (block_size, unroll)
        for block_size in sorted(block_sizes)
        for unroll in unrolls
        if admits(kernel, point(1, block_size, unroll=unroll, dtype=typed[0][0], operation=typed[0][1]))
    ]
    every = [
        point(1, block_size, unroll=unroll, dtype=dtype, operation=operation, grid_size=grid_size)
        for (block_size, unroll), (dtype, operation) in zip(sizes, cycle(typed), strict=False)
        for grid_size in grid_sizes(kernel, block_size)
    ]
    every += [
        point(1, 256, unroll=unrolls[-1], dtype=dtype, operation=operation, grid_size=grid_sizes(kernel, 256)[-1])
        for dtype, operation in (pairs if kernel.name == OF_ALL_OPERATIONS else typed[len(sizes) :])
    ]
    return list(dict.fromkeys(every))


def wherever_an_array_begins(kernel: KernelSource) -> list[Point]:
    """Points of size 1 for the variants that get arrays at any address: a type of each width, with few or many loads a
    thread.
    """
    pairs, unrolls = typed_unrolls(kernel)
    of_width = {dtype[-2:]: (dtype, operation) for dtype, operation in pairs}
    return [
        point(1, 32, unroll=unroll, dtype=dtype, operation=operation, grid_size=3)
        for (dtype, operation), unroll in zip(of_width.values(), (unrolls[0], unrolls[-1]), strict=False)
    ]


def compiled(kernel: KernelSource, points: list[Point], folder: Path) -> BuiltKernel:
    binary = folder / f"{kernel.name}.bin"
    report = build(source_of(kernel.path), binary, "emulator", units(kernel, points))
    assert report["status"] == "ok", report["message"]
    return BuiltKernel(kernel, report, binary)


def library_of(kernels: Sequence[tuple[KernelSource, Sequence[Point]]], folder: Path) -> Library:
    """Kernels with these variants in one file, since half of g++'s time goes by before it reads a kernel."""
    together = folder / "together.cu"
    together.write_text("".join(f'#include "{kernel.path}"\n' for kernel, _ in kernels))
    wanted = merged_units(units(kernel, points) for kernel, points in kernels)
    report = build(source_of(together), folder / "together.bin", "emulator", wanted)
    assert report["status"] == "ok" and not report["failed"], report["message"]
    return Library(folder / "together.bin")


@cache
def shipped_library(folder: Path) -> Library:
    """All variants above of the reductions of a folder of kernels/, compiled once in this process."""
    every = [one.values[0] for one in shipped_kernels("kernels/reduction_problem.py") if len(one.marks) == 1]
    of_folder = [
        (kernel, [*variants(kernel), *(wherever_an_array_begins(kernel) if kernel in OF_VECTORS else [])])
        for kernel in every
        if kernel.path.parent == folder
    ]
    with tempfile.TemporaryDirectory() as built:
        return library_of(of_folder, Path(built))
