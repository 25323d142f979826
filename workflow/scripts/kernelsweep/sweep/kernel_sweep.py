"""A kernel's sweep on a device: its points, and which of them are run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.candidates import considered
from kernelsweep.sweep.expressions import admits
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation, launched_points, names_grid, skip_reason, swept_points
from kernelsweep.sweep.spaces import ValidPoints


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
