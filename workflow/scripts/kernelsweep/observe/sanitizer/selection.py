"""Select a few points of a kernel's sweep for compute-sanitizer, which makes a kernel many times slower."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from kernelsweep.observe.chosen_points import at_sizes_of, corner_points
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation

# Points of one kernel. Each costs up to a few seconds under racecheck, the slowest tool.
MOST_CHECKED_POINTS = 24

# Threads of a launch. On an H200, racecheck took 13 s for 16 points of `cascaded_volatile`, half of which launch
# 540,672 threads, and 5 s for 12 points that launch at most 2^18.
MOST_THREADS = 2**18


def points_to_check(
    sweep: KernelSweep, variants: Container[str] | None, small: KernelSweep | None = None
) -> list[PlannedPoint]:
    """Points of the smallest problems, with corners of the axes that say how the kernel is launched.

    variants  the C++ names of the compiled variants, and points of others are left out; None if all can be compiled
    small     the kernel's sweep on the emulator. Its sizes replace the sweep's if any point runs at them: racecheck
              takes minutes for 12 products of 4,096 x 4,096 matrices

    They are at most MOST_CHECKED_POINTS. A point that launches more than MOST_THREADS threads is left out where the
    kernel has others.
    """

    def runs(point: Point) -> bool:
        is_compiled = variants is None or instantiation(sweep.kernel, point) in variants
        return is_compiled and not sweep.skip_reason(point)

    def runs_quickly(point: Point) -> bool:
        return runs(point) and _threads(sweep.kernel, point) <= MOST_THREADS

    found = at_sizes_of(small, sweep, runs) if small else None
    chosen = replace(sweep, measured=found) if found else sweep
    points = corner_points(chosen, MOST_CHECKED_POINTS, runs_quickly)
    return sweep.planned(points or corner_points(chosen, MOST_CHECKED_POINTS, runs))


def _threads(kernel: KernelSource, point: Point) -> int:
    """The threads of a point's largest launch."""
    return max(launch.blocks * launch.threads for launch in kernel.plan(point).launches)
