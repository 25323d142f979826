"""Select the points of a kernel that are counted."""

from __future__ import annotations

from kernelsweep.observe.listed_points import nearest_point
from kernelsweep.observe.profiling.selection import points_to_profile
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.study import Study


def counted_points(study: Study, sweep: KernelSweep) -> list[Point]:
    """The points to profile on a GPU, without those that can't run; else the point nearest to the reference point."""
    profiled = [each.point for each in points_to_profile(study.settings, sweep) if not each.skipped]
    if profiled:
        return profiled
    nearest = nearest_point(study.settings["reference"], sweep)
    return [nearest] if nearest else []
