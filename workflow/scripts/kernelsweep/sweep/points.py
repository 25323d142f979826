"""Which points a sweep has, which of them run, and which variants they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelsweep.results import Row, point_columns
from kernelsweep.sweep.axes import Axes, axes_on_device, grid_of_threads
from kernelsweep.sweep.expressions import admits, expression
from kernelsweep.sweep.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.sweep.kernels.units import Unit, units_of, variant_name
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.spaces import ValidPoints, valid_points


def skip_reason(point: Point, kernel: KernelSource, restrictions: Sequence[str], target: str | None) -> str | None:
    """The reason to skip a point of the sweep, or None to run it.

    restrictions  expressions that every point must satisfy
    target        the kernel's compilation target: an architecture such as sm_90, or "emulator"; None for a
                  GPU of any architecture
    """
    if reason := kernel.unsupported_on(target):
        return reason
    for restriction in restrictions:
        if not admits(restriction, point):
            return f"restriction: {restriction}"
    return None


def swept_points(
    sweeps: Iterable[Axes], multiprocessors: int, restrictions: Sequence[str], tied: Sequence[Sequence[str]]
) -> ValidPoints:
    """The points of sweeps on a device; restrictions on the grid, which only a launch tells, are left out."""
    on_device = [axes_on_device(axes, multiprocessors) for axes in sweeps]
    return valid_points(on_device, [text for text in restrictions if not names_grid(text)], tied)


def names_grid(restriction: str) -> bool:
    """Whether a restriction is about the number of blocks, which only a launch on a device tells."""
    return GRID_SIZE in expression(restriction).names


def launched_points(kernel: KernelSource, points: Iterable[Point]) -> list[Point]:
    """The points with the number of blocks that they launch on the axis grid_size, without duplicates.

    A launch that fits its grid to the array is the same for every larger value of the axis. The value may be a number
    of threads, such as "270336 threads".
    """
    if not kernel.chooses_grid:
        return list(points)
    found: dict[Point, None] = {}
    for point in points:
        with_blocks = point.at(grid_size=grid_of_threads(point[GRID_SIZE], point.get("block_size", 1)))
        found[with_blocks.at(grid_size=kernel.plan(with_blocks).launches[0].blocks)] = None
    return list(found)


def launched_columns(kernel: KernelSource, point: Point) -> Row:
    """The columns that identify a point. As in measurements.csv, grid_size is that of the first launch."""
    return {**point_columns(point), "grid_size": kernel.plan(point).launches[0].blocks}


def instantiation(kernel: KernelSource, point: Point) -> str:
    """The name of a point's variant, with C++ names as a demangler prints them: ``unrolled<int, Sum, 2>``.

    Points with equal template arguments, macros and options share a variant.
    """
    return variant_name(kernel.launches.functions(point), kernel.launches.given(point))


def units(kernel: KernelSource, run: Iterable[Point]) -> list[Unit]:
    """The translation units with the variants of these points."""
    return units_of((kernel.launches.functions(point), kernel.launches.given(point)) for point in run)
