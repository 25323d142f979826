"""Select the points of a kernel that are profiled: its ladder steps at the reference point, and further points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.observe.listed_points import nearest_point
from kernelsweep.sweep.axes import grid_on_device
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import points


def points_to_profile(study: Mapping[str, Any], sweep: KernelSweep) -> list[PlannedPoint]:
    """A kernel's points to profile.

    study  its checked settings: ladder, reference, profiled
    sweep  the kernel's first sweep; an axis that neither step nor reference point sets has its largest number with
           which the point can run, or its first text

    A kernel that is no step of the ladder has only the points that `profiled` names. One that lists its own launches
    has the point that is nearest to the reference point.
    """
    if sweep.kernel.listed:
        nearest = nearest_point(study["reference"], sweep)
        return sweep.planned([nearest]) if nearest else []
    steps = [{**step, "at": {}} for step in study["ladder"]] + list(study["profiled"])
    axes, *_ = sweep.axes
    chosen: dict[Point, PlannedPoint] = {}
    for step in steps:
        if step["kernel"] != sweep.kernel.name:
            continue
        changed = {name: value for name, value in step["at"].items() if value is not None}
        values = {**study["reference"], **changed, "unroll": step["unroll"], "grid_size": step["grid_size"]}
        if step["grid_size"] is not None:
            values["grid_size"] = grid_on_device(step["grid_size"], sweep.multiprocessors, values["block_size"])
        free = {axis: _candidates(swept) for axis, swept in axes.items() if axis not in values}
        fixed = {axis: [value] for axis, value in values.items()}
        planned = sweep.planned(points({axis: {**free, **fixed}[axis] for axis in axes}))
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
