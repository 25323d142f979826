"""The plans of kernels: by name, from a list of launches, or from a problem file's function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from kernelsweep.problems.registry import problem_of
from kernelsweep.results import Row, point_columns
from kernelsweep.sweep.kernels.launch_function import LaunchFunction
from kernelsweep.sweep.kernels.launch_list import LaunchList, ListedLaunch
from kernelsweep.sweep.kernels.launch_plans import PLANS, Plan
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point


def as_values(listed: LaunchList | LaunchFunction | None) -> dict[str, Any] | None:
    """Launches as JSON has them."""
    if isinstance(listed, LaunchFunction):
        return {
            "place": listed.place,
            "problem": listed.problem.named,
            "kernel": listed.kernel,
            "macros": listed.macros,
            "constants": listed.constants,
        }
    return asdict(listed) if listed else None


def plan_of(kernel: KernelSource, point: Point) -> Plan:
    """A kernel's plan at a point."""
    return kernel.listed.at(point) if kernel.listed else PLANS[kernel.plan](point)


def launched_columns(kernel: KernelSource, point: Point) -> Row:
    """The columns that identify a point. As in measurements.csv, grid_size is that of the first launch."""
    return {**point_columns(point), "grid_size": plan_of(kernel, point).launches[0].blocks}


def planner(plan: str, listed: Mapping[str, Any] | None) -> Callable[[Point], Plan]:
    """The function that gives a point's plan: a plan by name, or launches as as_values() returns them."""
    if listed is None:
        return PLANS[plan]
    if "problem" in listed:
        of_problem = problem_of(listed["problem"])
        return LaunchFunction(of_problem, listed["kernel"], listed["macros"], tuple(listed["constants"])).at
    launches = tuple(
        ListedLaunch(
            one["kernel"],
            tuple(one["template"]),
            tuple(one["grid"]),
            tuple(one["block"]),
            one["shared"],
            tuple(one["arguments"]),
        )
        for one in listed["launches"]
    )
    return LaunchList(listed["place"], launches, listed["macros"], tuple(listed["constants"])).at
