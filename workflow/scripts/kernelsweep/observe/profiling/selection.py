"""Select the points of a kernel that are profiled: its ladder steps at the reference point, and further points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.observe.chosen_points import nearest_point
from kernelsweep.sweep.axes import grid_on_device
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.kernels.source import GRID_SIZE
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import valid_points
from kernelsweep.sweep.study import OF_STEPS


def points_to_profile(study: Mapping[str, Any], sweep: KernelSweep) -> list[PlannedPoint]:
    """A kernel's points to profile.

    study  its checked settings: steps, reference, profiled
    sweep  the kernel's first sweep

    In a study with steps, these are the kernel's steps at the reference point, and the points that `profiled` names. An
    axis that neither says has its largest number with which the point can run, or its first text. In other studies,
    it is the point that is nearest to the reference point.
    """
    if not study["steps"]:
        nearest = nearest_point(study["reference"], sweep)
        return sweep.planned([nearest]) if nearest else []
    axes, *_ = sweep.axes
    chosen: dict[Point, PlannedPoint] = {}
    for step in [{**step, "at": {}} for step in study["steps"]] + list(study["profiled"]):
        if step["kernel"] != sweep.kernel.name:
            continue
        values = {**study["reference"], **step["at"]}
        values |= {axis: step[axis] for axis in OF_STEPS if axis in axes}
        if values.get(GRID_SIZE) is not None:
            values[GRID_SIZE] = grid_on_device(values[GRID_SIZE], sweep.multiprocessors, values["block_size"])
        free = {axis: _candidates(swept) for axis, swept in axes.items() if axis not in values}
        fixed = {axis: [value] for axis, value in values.items()}
        # Restrictions are reasons here: a step that can't run is told.
        every = valid_points([{axis: {**free, **fixed}[axis] for axis in axes}], [], sweep.tied)
        planned = sweep.planned(every)
        found = next((each for each in planned if not each.skipped), planned[-1])
        chosen[found.point] = found
    return list(chosen.values())


def _candidates(values: Sequence[Any]) -> list[Any]:
    """The values of an axis to try in turn: numbers from the largest, or the first text."""
    return list(values[:1]) if any(isinstance(value, str) for value in values) else sorted(values, reverse=True)


def why_not_compiled(planned: PlannedPoint, report: Mapping[str, Any]) -> str | None:
    """Why a point has no machine code, or None if it has, by the kernel's build report."""
    if message := report["message"] if report["status"] != "ok" else report["failed"].get(planned.variant):
        return f"build_failed: {message}"
    if planned.variant in report["variants"]:
        return None
    return f"{planned.variant} is not compiled, since this sweep has no such point; the sweep `full` may."
