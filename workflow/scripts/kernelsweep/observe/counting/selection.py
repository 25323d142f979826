"""Which points of a kernel are counted, checked for mistakes, and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.observe.profiling.selection import choose_points
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.launch_plans import PLANS_WITH_A_GRID, round_elements
from kernelsweep.sweep.points import Point
from kernelsweep.sweep.study import EXCHANGE, Study
from kernelsweep.sweep.targets import COUNTING

# The picture of a warp is of a block of two warps, whose few steps have room in it.
DRAWN_BLOCK = 64


def counted_points(
    study: Study, kernel: str, axes: Axes, multiprocessors: int, restrictions: Sequence[str]
) -> list[Point]:
    """The points that Nsight Compute would be given on a GPU with so many multiprocessors, as far as they can be run.

    axes  the kernel's on a GPU
    """
    chosen = choose_points(study.settings, study.kernels[kernel], axes, multiprocessors, restrictions, COUNTING)
    return [point for point, reason in chosen if not reason]


def checked_points(counted: Sequence[Point], plan: str) -> list[Point]:
    """The same variants at sizes around their blocks' boundaries: a single element, and ragged tails of every kind."""
    sizes = {point: _boundary_sizes(point, plan) for point in counted}
    return [point.at(array_size=size) for point, found in sizes.items() for size in found]


def _boundary_sizes(point: Point, plan: str) -> list[int]:
    if point["width"] is not None:
        return [point["array_size"]]
    span = round_elements(plan, point.at(grid_size=None))
    # Where the sweep sets the grid, its threads come round a second time for the last elements.
    largest = 3 * span + 7 if point["grid_size"] is None else round_elements(plan, point) + 7
    return [1, span - 1, span, span + 1, largest]


def drawn_point(study: Study, kernel: str, counted: Sequence[Point]) -> Point | None:
    """The point whose first warp is drawn: a kernel's last step, of one small block; None for exchanges."""
    if not counted or study.settings["problem"] == EXCHANGE:
        return None
    last = counted[-1]
    grid = 1 if study.kernels[kernel].plan in PLANS_WITH_A_GRID else None
    point = last.at(
        block_size=DRAWN_BLOCK, grid_size=grid, array_size=4 * DRAWN_BLOCK if grid else DRAWN_BLOCK * last["unroll"]
    )
    return None if study.kernels[kernel].unsupported(point) else point
