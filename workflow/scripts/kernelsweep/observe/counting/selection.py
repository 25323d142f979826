"""Select the points of a kernel that are counted, checked for mistakes, and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.observe.listed_points import corner_points
from kernelsweep.observe.profiling.selection import points_to_profile
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.launch_plans import PLANS_WITH_A_GRID, block_elements, edge_sizes
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import Point
from kernelsweep.sweep.study import Study

# Points of a kernel that lists its own launches. Checking one can take a second for each million accesses.
_MOST_CHECKED = 8

# Four warps: whole warps fall idle in a tree's second step and third, and its few steps fit into the picture.
DRAWN_BLOCK = 128


def counted_points(study: Study, sweep: KernelSweep) -> list[Point]:
    """The points to profile on a GPU, without those that can't run."""
    return [each.point for each in points_to_profile(study.settings, sweep) if not each.skipped]


def checked_points(counted: Sequence[Point], sweep: KernelSweep) -> list[Point]:
    """The same variants at array sizes that show a mistake at an edge: a single element and all ragged ends.

    Of a kernel that lists its own launches, points of all its variants.
    """
    kernel = sweep.kernel
    if kernel.listed:
        return corner_points(sweep, _MOST_CHECKED, lambda point: not sweep.skip_reason(point))
    return [point.at(array_size=size) for point in counted for size in _sizes(point, kernel)]


def _sizes(point: Point, kernel: KernelSource) -> Sequence[int]:
    own = kernel.problem.edge_sizes([point["array_size"]]) if kernel.problem.edge_sizes else ()
    return own or sorted({*edge_sizes(kernel.plan, point), block_elements(kernel.plan, point)})


def drawn_point(study: Study, kernel: str, counted: Sequence[Point]) -> Point | None:
    """The point whose first warp is drawn: a kernel's last step, of one small block; None if its problem draws none."""
    if not counted or not study.problem.draws_accesses:
        return None
    last = counted[-1]
    grid = 1 if study.kernels[kernel].plan in PLANS_WITH_A_GRID else None
    point = last.at(
        block_size=DRAWN_BLOCK, grid_size=grid, array_size=4 * DRAWN_BLOCK if grid else DRAWN_BLOCK * last["unroll"]
    )
    return None if study.kernels[kernel].unsupported(point) else point
