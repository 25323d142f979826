"""A kernel's sweep on a device: its points, and which of them are run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelsweep.results import Row, point_columns
from kernelsweep.sweep.axes import Axes, axes_on_device, grid_of_threads
from kernelsweep.sweep.candidates import considered
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


@dataclass(frozen=True)
class PlannedPoint:
    """A point, the C++ name of its variant, and why it is not run, or None."""

    point: Point
    variant: str
    skipped: str | None = None


@dataclass(frozen=True)
class KernelSweep:
    """A kernel's sweep on a device.

    axes             the axes of each of its sweeps, with grid sizes that may be counted in multiprocessors
    multiprocessors  of the device
    restrictions     expressions that every point must satisfy
    target           what the kernel is compiled for, as in points.skip_reason
    tied             groups of axes that vary together
    searched         whether the study searches: then the points are those that may be measured, or a selection to check
    measured         the points that a search has measured, in place of those; None where it doesn't matter
    """

    kernel: KernelSource
    axes: Sequence[Axes]
    multiprocessors: int
    restrictions: Sequence[str]
    target: str | None
    tied: Sequence[Sequence[str]] = ()
    searched: bool = False
    measured: Sequence[Point] | None = None

    def points(self) -> Sequence[Point]:
        """Every point of the sweep that meets the restrictions."""
        if self.measured is not None:
            return self.measured
        if self.searched:
            return self.candidates()
        launched = launched_points(self.kernel, self._valid())
        of_grid = [text for text in self.restrictions if names_grid(text)]
        return [point for point in launched if all(admits(text, point) for text in of_grid)]

    def candidates(self) -> ValidPoints:
        """The points that a search may measure, or a selection to check."""
        return considered(self._valid(), self.kernel.problem, self.target)

    def _valid(self) -> ValidPoints:
        return swept_points(self.axes, self.multiprocessors, self.restrictions, self.tied)

    def skip_reason(self, point: Point) -> str | None:
        """Why a point is not run, or None."""
        return skip_reason(point, self.kernel, self.restrictions, self.target)

    def planned(self, chosen: Iterable[Point] | None = None) -> list[PlannedPoint]:
        """The points of the sweep, or these; those that differ only in a grid that no launch starts, once."""
        return [*map(self.plan, self.points() if chosen is None else launched_points(self.kernel, chosen))]

    def plan(self, point: Point) -> PlannedPoint:
        """The plan of a point that is launched with its own grid."""
        return PlannedPoint(point, instantiation(self.kernel, point), self.skip_reason(point))
