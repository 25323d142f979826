"""Select the points of a kernel that are counted, checked for mistakes, and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.observe.profiling.selection import points_to_profile
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.launch_plans import PLANS_WITH_A_GRID, round_elements
from kernelsweep.sweep.points import Point
from kernelsweep.sweep.study import EXCHANGE, Study

# Two warps: their few steps fit into the picture.
DRAWN_BLOCK = 64


def counted_points(study: Study, sweep: KernelSweep) -> list[Point]:
    """The points to profile on a GPU, without those that can't run."""
    return [each.point for each in points_to_profile(study.settings, sweep) if not each.skipped]


def checked_points(counted: Sequence[Point], plan: str) -> list[Point]:
    """The same variants at sizes around block boundaries: a single element, and every kind of ragged tail."""
    sizes = {point: _boundary_sizes(point, plan) for point in counted}
    return [point.at(array_size=size) for point, found in sizes.items() for size in found]


def _boundary_sizes(point: Point, plan: str) -> list[int]:
    if point["width"] is not None:
        return [point["array_size"]]
    span = round_elements(plan, point.at(grid_size=None))
    # If the sweep sets the grid size, this size has every thread loop a second time for the last elements.
    largest = 3 * span + 7 if point["grid_size"] is None else round_elements(plan, point) + 7
    return [1, span - 1, span, span + 1, largest]


def drawn_point(study: Study, kernel: str, counted: Sequence[Point]) -> Point | None:
    """The point whose first warp is drawn: the kernel's last step, with one small block; None for exchanges."""
    if not counted or study.settings["problem"] == EXCHANGE:
        return None
    last = counted[-1]
    grid = 1 if study.kernels[kernel].plan in PLANS_WITH_A_GRID else None
    point = last.at(
        block_size=DRAWN_BLOCK, grid_size=grid, array_size=4 * DRAWN_BLOCK if grid else DRAWN_BLOCK * last["unroll"]
    )
    return None if study.kernels[kernel].unsupported(point) else point
