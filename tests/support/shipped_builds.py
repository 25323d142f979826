"""A build of each shipped reduction for the emulator, which the tests of one kernel share (shipped_kernels)."""

from __future__ import annotations

import tempfile
from itertools import cycle
from pathlib import Path

from planted import point, source_of
from shipped_kernels import shipped_study

from kernelsweep.build.build import build
from kernelsweep.measure.task import BuiltKernel
from kernelsweep.sweep.kernels.launch_plans import FITTED_PLANS, PLANS_WITH_A_GRID, edge_sizes
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import units

BLOCK_SIZES = (32, 64, 96, 256, 320, 1024)

# Each type and each operation, a float's sum for its error bound, and the extrema of both floats. The sizes of the
# elements alternate, so that the first four cover every block size and every unroll factor of FITTED_PLANS with both.
TYPED = [
    ("int32", "sum"),
    ("int64", "product"),
    ("float64", "minimum"),
    ("float32", "sum"),
    ("float32", "maximum"),
]
# The kernel that is compiled for each type with each operation; `snakemake all` runs those of the study `operations`.
OF_ALL_OPERATIONS = "cascaded"
OF_VECTORS = list(shipped_study("bandwidth_bound").kernels.values())


def grid_sizes(kernel: KernelSource, block_size: int) -> tuple[int | None, ...]:
    """A single block, few for many elements, and more blocks than a block has threads.

    Large blocks run slowly on the emulator: there are more of them than a warp has lanes.
    """
    if kernel.plan not in PLANS_WITH_A_GRID:
        return (None,)
    return (1, 7, 300 if block_size < 300 else 40)


def variants(kernel: KernelSource) -> list[Point]:
    """Points of size 1 for the variants to compile: the supported block sizes of BLOCK_SIZES, each with the smallest, a
    middle and the largest unroll factor and some grids, and with one of TYPED in turn. One more point for each type
    and operation that is still missing; OF_ALL_OPERATIONS gets every type with every operation.
    """
    unrolls = sorted({kernel.unroll[0], kernel.unroll[len(kernel.unroll) // 2], kernel.unroll[-1]})
    block_sizes = {kernel.smallest_block_size, *BLOCK_SIZES}
    if kernel.plan in FITTED_PLANS:  # The kernels of these plans share their loop over the array.
        unrolls = [unrolls[0], unrolls[-1]]
        block_sizes = {96, 1024}  # wherever_an_array_begins() covers one warp.
    pairs = [(dtype, operation) for dtype in kernel.dtypes for operation in kernel.operations]
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
        if not kernel.unsupported(point(1, block_size, unroll=unroll, dtype=typed[0][0], operation=typed[0][1]))
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
    """Points of size 1 for the variants that get arrays at any address: each type, with few or many loads a thread."""
    unrolls = [kernel.unroll[0], kernel.unroll[-1], kernel.unroll[-1], kernel.unroll[0]]
    return [
        point(1, 32, unroll=unroll, dtype=dtype, operation=kernel.operations[0], grid_size=3)
        for dtype, unroll in zip(kernel.dtypes, unrolls, strict=False)
    ]


def at_the_edges(kernel: KernelSource) -> list[Point]:
    """Points of a kernel's largest unroll factor, in a small block, around its boundaries."""
    block = next(size for size in (64, 256, 320) if size >= kernel.smallest_block_size)
    grid = 3 if kernel.plan in PLANS_WITH_A_GRID else None
    largest = point(1, block, unroll=kernel.unroll[-1], grid_size=grid)
    return [largest.at(array_size=size) for size in edge_sizes(kernel.plan, largest)]


def compiled(kernel: KernelSource, points: list[Point], folder: Path) -> BuiltKernel:
    binary = folder / f"{kernel.name}.bin"
    report = build(source_of(kernel.path), binary, "emulator", units(kernel, points))
    assert report["status"] == "ok", report["message"]
    return BuiltKernel(kernel, report, binary)


_FOLDER = tempfile.TemporaryDirectory()
_BUILT: dict[Path, BuiltKernel] = {}


def shipped_build(kernel: KernelSource) -> BuiltKernel:
    """A kernel with all variants above, compiled once in this process."""
    if kernel.path not in _BUILT:
        points = [*variants(kernel), *at_the_edges(kernel)]
        others = wherever_an_array_begins(kernel) if kernel in OF_VECTORS else []
        folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
        _BUILT[kernel.path] = compiled(kernel, [*points, *others], folder)
    return _BUILT[kernel.path]
