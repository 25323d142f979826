"""Read a study: config/studies/<study>.yaml, and the headers of the kernels that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.sweep.axes import parse_size
from kernelsweep.sweep.config_file import check_restrictions, check_sizes
from kernelsweep.sweep.element_types import CXX_TYPES
from kernelsweep.sweep.kernel_header import read_kernel
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import PLANS_WITH_A_GRID
from kernelsweep.sweep.points import parse_arguments
from kernelsweep.sweep.schema import check, nearest
from kernelsweep.sweep.yaml_files import read_yaml

# The problem whose kernels have no operation; what stands in that column of the results.
EXCHANGE = "exchange"


@dataclass(frozen=True)
class Study:
    """A study's checked settings and its kernels' sources, by name in the order of their story."""

    name: str
    settings: Mapping[str, Any]
    kernels: Mapping[str, KernelSource]

    @property
    def file(self) -> str:
        """Its file, as messages call it."""
        return f"config/studies/{self.name}.yaml"


def read_study(name: str, root: Path) -> Study:
    """Read a study's file and its kernels' headers, and check what concerns the sweep.

    Raises UserError with file, key, value and what is allowed.
    """
    shown = f"config/studies/{name}.yaml"
    settings = check(read_yaml(root / shown, shown), root / "workflow/schemas/study.schema.yaml", shown)
    check_sizes(settings, shown)
    check_restrictions(settings, shown)
    settings["reference"]["array_size"] = parse_size(settings["reference"]["array_size"])
    if settings["problem"] == EXCHANGE:
        settings["reference"]["operation"] = EXCHANGE
    kernels: dict[str, KernelSource] = {}
    listed: dict[Path, list[str]] = {}
    for entry in settings["kernels"]:
        kernel = entry["name"]
        if kernel in kernels:
            raise UserError(f"{shown}: kernels lists {kernel!r} twice.")
        folder = root / "kernels" / (entry["from"] or name)
        if folder not in listed:
            listed[folder] = sorted(path.stem for path in folder.glob("*.cu"))
        if kernel not in listed[folder]:
            raise UserError(
                f"{shown}: kernels names {kernel!r}{nearest(kernel, listed[folder]) or ';'} "
                f"Files in kernels/{folder.name}/: {', '.join(listed[folder]) or 'none'}."
            )
        kernels[kernel] = read_kernel(folder / f"{kernel}.cu", root)
        _check_problem(settings, entry, kernels[kernel], shown)
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
    return Study(name, settings, kernels)


def _check_problem(settings: Mapping[str, Any], entry: Mapping[str, Any], kernel: KernelSource, shown: str) -> None:
    """Raise UserError if a kernel's launch plan doesn't fit the study's problem, or lacks an axis that it needs."""
    exchanges = settings["problem"] == EXCHANGE
    if exchanges != (kernel.plan == "one_to_one"):
        raise UserError(
            f"{shown}: kernels has {kernel.name!r}, whose plan is {kernel.plan}. The problem {settings['problem']} "
            f"needs {'the plan one_to_one' if exchanges else 'another plan'}."
        )
    layers = [layer["axes"] for layer in (settings, *settings["platforms"].values())]
    layers += [layer["axes"] for layer in (entry, *entry["platforms"].values())]
    if kernel.plan in PLANS_WITH_A_GRID and not any("grid_size" in axes for axes in layers):
        raise UserError(
            f"{shown}: kernels has {kernel.name!r}, whose plan {kernel.plan} needs the axis grid_size. It isn't set."
        )
    for arguments in (arguments for axes in layers for arguments in axes.get("arguments", [])):
        if not exchanges or set(parse_arguments(arguments)) != set(kernel.exchange_arguments):
            needed = " ".join(f"{name}=..." for name in kernel.exchange_arguments) or "none"
            raise UserError(f"{shown}: arguments of {kernel.name!r} are {arguments!r}. It takes {needed}.")
    if exchanges and not (any("arguments" in axes for axes in layers) and any("width" in axes for axes in layers)):
        raise UserError(f"{shown}: kernels has {kernel.name!r}, an exchange, which needs the axes width and arguments.")


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
    """Raise UserError if a point's element type or operation is unknown, and turn its size into a number."""
    for key, known in (("dtype", list(CXX_TYPES)), ("operation", list(OPERATIONS))):
        if at[key] is not None and at[key] not in known:
            guess = nearest(at[key], known) or ";"
            raise UserError(f"{shown} has the {key} {at[key]!r}{guess} Known: {', '.join(known)}.")
    if at["array_size"] is not None:
        at["array_size"] = parse_size(at["array_size"])
