"""Choose the points of a kernel that are profiled: each step of the study's ladder at its reference point, and more."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from kernelsweep.axes import Axes, grid_on_device
from kernelsweep.kernel_source import KernelSource
from kernelsweep.sweep import Point, instantiation, skip_reason


def choose_points(
    study: Mapping[str, Any], kernel: KernelSource, axes: Axes, multiprocessors: int, restrictions: Sequence[str]
) -> list[tuple[Point, str | None]]:
    """The kernel's points to profile, each with the reason for which it can't be run, or None.

    study  its checked settings: ladder, reference, profiled
    axes   the kernel's, of which an exchange takes the widest groups that fit and the first arguments

    A kernel that is no step of the ladder has none but those that `profiled` names.
    """
    steps = [{**step, "at": {}} for step in study["ladder"]] + list(study["profiled"])
    chosen: dict[Point, str | None] = {}
    for step in steps:
        if step["kernel"] != kernel.name:
            continue
        changed = {name: value for name, value in step["at"].items() if value is not None}
        values = {
            **study["reference"],
            **changed,
            "unroll": step["unroll"],
            "grid_size": None if step["grid_size"] is None else grid_on_device(step["grid_size"], multiprocessors),
        }
        candidates = [
            Point(**values, width=width, arguments=axes["arguments"][0])
            for width in sorted(axes["width"], key=lambda width: -(width or 0))
        ]
        reasons = {point: skip_reason(point, kernel, restrictions, keeps_lockstep=True) for point in candidates}
        point = next((point for point, reason in reasons.items() if not reason), candidates[-1])
        chosen[point] = reasons[point]
    return list(chosen.items())


def why_not_compiled(point: Point, kernel: KernelSource, variants: Container[str]) -> str | None:
    """Why a point has no machine code, or None where it has.

    variants  the C++ names of those that are compiled
    """
    name = instantiation(kernel, point)
    if name in variants:
        return None
    return f"{name} is not compiled, since this sweep has no such point; the sweep `full` may."
