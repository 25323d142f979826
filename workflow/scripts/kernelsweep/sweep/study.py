"""Read a study: config/studies/<study>.yaml, and the templates of the kernels that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.home import SCHEMAS
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.problems.problem import Problem
from kernelsweep.problems.registry import PROBLEMS
from kernelsweep.sweep.config_file import NAMES_OF_PROBLEMS, check_restrictions, parse_sizes
from kernelsweep.sweep.kernels.launch_plans import PLANS_WITH_A_GRID
from kernelsweep.sweep.kernels.source import KernelSource, kernel_file
from kernelsweep.sweep.kernels.template import read_kernel
from kernelsweep.sweep.own_study import read_own_study
from kernelsweep.sweep.schema import check
from kernelsweep.sweep.yaml_files import read_yaml


@dataclass(frozen=True)
class Study:
    """A study's checked settings, its problem, and its kernels' sources, by name in the order of their story."""

    name: str
    settings: Mapping[str, Any]
    problem: Problem
    kernels: Mapping[str, KernelSource]

    @property
    def file(self) -> str:
        """The study's file, as messages name it."""
        return f"config/studies/{self.name}.yaml"


def read_study(name: str, root: Path, known: Mapping[str, Iterable[str]]) -> Study:
    """Read a study's file and its kernels' templates, and check what concerns the sweep.

    known  the names that later stages know, by kind, as schema.check() takes them

    Raises UserError with file, key, value and what is allowed.
    """
    shown = f"config/studies/{name}.yaml"
    raw = read_yaml(root / shown, shown)
    if str(raw.get("problem", "")).endswith(".py"):
        return Study(name, *read_own_study(raw, name, root, shown, known))
    schema = SCHEMAS / "study.schema.yaml"
    settings = {
        "tied": [],
        "figure_axes": {},
        "search": None,
        "rival_calls": {},
        "quantities": {},
        "objective": None,
        **check(raw, schema, shown, {**NAMES_OF_PROBLEMS, **known}),
    }
    problem = PROBLEMS[settings["problem"]]
    parse_sizes(settings, shown)
    check_restrictions(settings, problem.axes, shown)
    settings["reference"] |= {
        name: axis.values[0] for name, axis in problem.axes.items() if axis.is_fixed and axis.values
    }
    kernels: dict[str, KernelSource] = {}
    for entry in settings["kernels"]:
        kernel = entry["name"]
        if kernel in kernels:
            raise UserError(f"{shown}: kernels lists {kernel!r} twice.")
        kernels[kernel] = read_kernel(entry, kernel_file(entry, name, root, shown), problem, shown)
        _check_axes(settings, entry, kernels[kernel], shown)
    if not settings["ladder"]:
        settings["ladder"] = [
            {
                "kernel": entry["name"],
                "unroll": entry["axes"].get("unroll", kernels[entry["name"]].unroll)[0],
                "grid_size": {**settings["axes"], **entry["axes"]}.get("grid_size", [None])[0],
            }
            for entry in settings["kernels"]
        ]
    for key in ("ladder", "profiled"):
        _check_steps(settings[key], key, kernels, shown)
    for key in ("profiled", "claims"):
        for number, point in enumerate(settings[key]):
            _check_place(point["at"], f"{shown}: {key}.{number}")
    return Study(name, settings, problem, kernels)


def _check_axes(settings: Mapping[str, Any], entry: Mapping[str, Any], kernel: KernelSource, shown: str) -> None:
    """Raise UserError if a kernel gets an axis or a value that its problem hasn't, or lacks an axis that it needs."""
    problem = kernel.problem
    layers = [
        layer["axes"]
        for with_axes in (settings, entry, *settings["further"])
        for layer in (with_axes, *with_axes["platforms"].values())
    ]
    for name, values in (item for axes in layers for item in axes.items()):
        if name not in problem.axes:
            known = ", ".join(problem.axes)
            raise UserError(f"{shown}: axes has {name!r}, but the problem {problem.name} has no such axis: {known}.")
        for value in values:
            if wrong := problem.wrong_value(kernel.template_parameters, name, value):
                raise UserError(f"{shown}: {name} of {kernel.name!r} is {value!r}. {wrong}")
    for name, axis in problem.axes.items():
        needed = axis.of_study or (name == "grid_size" and kernel.plan in PLANS_WITH_A_GRID)
        if needed and not any(name in axes for axes in layers):
            raise UserError(
                f"{shown}: kernels has {kernel.name!r}, whose plan {kernel.plan} needs the axis {name}. It isn't set."
            )


def _check_steps(steps: Iterable[dict[str, Any]], key: str, kernels: Mapping[str, KernelSource], shown: str) -> None:
    """Raise UserError if a step's kernel isn't the study's, or can't have the step's unroll factor or grid."""
    for step in steps:
        if step["kernel"] not in kernels:
            guess = nearest(step["kernel"], kernels) or ";"
            raise UserError(f"{shown}: {key} names {step['kernel']!r}{guess} Its kernels: {', '.join(kernels)}.")
        supported = kernels[step["kernel"]].unroll
        if step["unroll"] not in supported:
            factors = ", ".join(str(factor) for factor in supported)
            raise UserError(f"{shown}: {key} has {step['kernel']} at unroll {step['unroll']}. It supports {factors}.")
        if kernels[step["kernel"]].plan not in PLANS_WITH_A_GRID:
            step["grid_size"] = None
        elif step["grid_size"] is None:
            raise UserError(f"{shown}: {key} has {step['kernel']} without a grid_size, which its plan needs.")


def _check_place(at: dict[str, Any], shown: str) -> None:
    """Raise UserError if a point's element type or operation is unknown."""
    for key, known in (("dtype", list(CXX_TYPES)), ("operation", list(OPERATIONS))):
        if at[key] is not None and at[key] not in known:
            guess = nearest(at[key], known) or ";"
            raise UserError(f"{shown} has the {key} {at[key]!r}{guess} Known: {', '.join(known)}.")
