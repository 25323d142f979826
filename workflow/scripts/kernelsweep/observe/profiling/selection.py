"""Select the points of a kernel that are profiled: its ladder steps at the reference point, and further points."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from kernelsweep.sweep.axes import Axes, grid_on_device
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import launched_points
from kernelsweep.sweep.points import Point, instantiation, skip_reason


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
    axes    the kernel's; an exchange uses the widest groups that fit and the first arguments
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
        candidates = [
            Point({axis: {**values, "width": width, "arguments": axes["arguments"][0]}[axis] for axis in axes})
            for width in sorted(axes["width"], key=lambda width: -(width or 0))
        ]
        candidates = launched_points(kernel.plan, candidates)
        reasons = {point: skip_reason(point, kernel, restrictions, target) for point in candidates}
        point = next((point for point, reason in reasons.items() if not reason), candidates[-1])
        chosen[point] = reasons[point]
    return list(chosen.items())


def why_not_compiled(point: Point, kernel: KernelSource, variants: Container[str]) -> str | None:
    """Why a point has no machine code, or None if it has.

    variants  the C++ names of the compiled variants
    """
    name = instantiation(kernel, point)
    if name in variants:
        return None
    return f"{name} is not compiled, since this sweep has no such point; the sweep `full` may."
