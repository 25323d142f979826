"""Select the points of a kernel that are counted and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.observe.listed_points import nearest_point
from kernelsweep.observe.profiling.selection import points_to_profile
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.launch_plans import PLANS_WITH_A_GRID
from kernelsweep.sweep.points import Point
from kernelsweep.sweep.study import Study

# Four warps: whole warps fall idle in a tree's second step and third, and its few steps fit into the picture.
DRAWN_BLOCK = 128


def counted_points(study: Study, sweep: KernelSweep) -> list[Point]:
    """The points to profile on a GPU, without those that can't run; else the point nearest to the reference point."""
    profiled = [each.point for each in points_to_profile(study.settings, sweep) if not each.skipped]
    if profiled:
        return profiled
    nearest = nearest_point(study.settings["reference"], sweep)
    return [nearest] if nearest else []


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
