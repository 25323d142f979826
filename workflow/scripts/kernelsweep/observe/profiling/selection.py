"""Select the points of a kernel that are profiled: its ladder steps at the reference point, and further points."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from kernelsweep.sweep.axes import Axes, grid_on_device
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import launched_points
from kernelsweep.sweep.points import Point, instantiation, points, skip_reason


def points_to_profile(
    study: Mapping[str, Any],
    kernel: KernelSource,
    axes: Axes,
    multiprocessors: int,
    restrictions: Sequence[str],
    target: str | None,
) -> list[tuple[Point, str | None]]:
    """The kernel's points to profile, each with the reason why it can't run, or None.

    study   its checked settings: ladder, reference, profiled
    axes    the kernel's; where neither step nor reference point sets one, its largest number that can be run, or its
            first text
    target  as in points.skip_reason

    A kernel that is no step of the ladder has only the points that `profiled` names.
    """
    steps = [{**step, "at": {}} for step in study["ladder"]] + list(study["profiled"])
    chosen: dict[Point, str | None] = {}
    for step in steps:
        if step["kernel"] != kernel.name:
            continue
        changed = {name: value for name, value in step["at"].items() if value is not None}
        values = {**study["reference"], **changed, "unroll": step["unroll"], "grid_size": step["grid_size"]}
        if step["grid_size"] is not None:
            values["grid_size"] = grid_on_device(step["grid_size"], multiprocessors, values["block_size"])
        free = {axis: _candidates(swept) for axis, swept in axes.items() if axis not in values}
        fixed = {axis: [value] for axis, value in values.items()}
        candidates = launched_points(kernel.plan, points({axis: {**free, **fixed}[axis] for axis in axes}))
        reasons = {point: skip_reason(point, kernel, restrictions, target) for point in candidates}
        point = next((point for point, reason in reasons.items() if not reason), candidates[-1])
        chosen[point] = reasons[point]
    return list(chosen.items())


def _candidates(values: Sequence[Any]) -> list[Any]:
    """The values of an axis to try in turn: numbers from the largest, or the first text."""
    return list(values[:1]) if any(isinstance(value, str) for value in values) else sorted(values, reverse=True)


def why_not_compiled(point: Point, kernel: KernelSource, variants: Container[str]) -> str | None:
    """Why a point has no machine code, or None if it has.

    variants  the C++ names of the compiled variants
    """
    name = instantiation(kernel, point)
    if name in variants:
        return None
    return f"{name} is not compiled, since this sweep has no such point; the sweep `full` may."
