"""Load and check the configuration: config.yaml, the studies, and every kernel they name, before any job starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.baselines.libraries import RIVAL_PLAN, RIVALS
from kernelsweep.errors import UserError
from kernelsweep.judge.claims.claim import check_claims, check_quantities
from kernelsweep.observe.profiling.definitions import check_names, definitions
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.problems.problem import Problem
from kernelsweep.problems.registry import ALL_AXES, PROBLEMS
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.sweep.axes import Axes, parse_size, resolve_axes
from kernelsweep.sweep.expressions import Expression, expression
from kernelsweep.sweep.kernel_header import read_kernel
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import PLANS_WITH_A_GRID
from kernelsweep.sweep.points import variants_run
from kernelsweep.sweep.schema import check, nearest, read_yaml

EMULATOR = "emulator"

# The names that every schema may ask for.
_KNOWN: Mapping[str, Iterable[str]] = {"problems": PROBLEMS, "operations": OPERATIONS, "dtypes": CXX_TYPES}


@dataclass(frozen=True)
class Study:
    """A study's checked settings, its problem, and its kernels' sources, by name in the order of their story."""

    name: str
    settings: Mapping[str, Any]
    problem: Problem
    kernels: Mapping[str, KernelSource]


def load_config(config: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Check config.yaml's merged content (with what --config set) and fill in the defaults.

    Raises UserError with file, key, value and what is allowed.
    """
    shown = "config/config.yaml (or --config)"
    # Snakemake's --config profile=true passes a text.
    written = {"profile": config["profile"] == "true"} if config.get("profile") in ("true", "false") else {}
    checked = check({**config, **written}, root / "workflow/schemas/config.schema.yaml", shown, _KNOWN)
    known = study_names(root)
    for name in checked["studies"]:
        if name not in known:
            raise UserError(f"{shown}: studies names {name!r}{nearest(name, known) or ';'} Known: {', '.join(known)}.")
    measuring = checked["measuring"]
    if measuring["max_samples"] < measuring["min_samples"]:
        raise UserError(
            f"{shown}: measuring.max_samples is {measuring['max_samples']}. "
            f"Allowed: at least min_samples, {measuring['min_samples']}."
        )
    _parse_sizes(checked, shown)
    _check_restrictions(checked, ALL_AXES, shown)
    _check_platforms(checked, shown)
    try:
        definitions(checked["metrics"])
    except UserError as error:
        raise UserError(f"{shown}: {error}") from error
    return checked


def study_names(root: Path) -> list[str]:
    """The names of the studies that have a file in config/studies/."""
    return sorted(path.stem for path in (root / "config/studies").glob("*.yaml"))


def load_study(name: str, root: Path, known: Mapping[str, Iterable[str]]) -> Study:
    """Read a study's file and its kernels' headers. Raises UserError naming file and key for any mistake.

    known  the names that later stages know, by kind: figures, relations, baselines, rivals
    """
    shown = f"config/studies/{name}.yaml"
    schema = root / "workflow/schemas/study.schema.yaml"
    settings = check(read_yaml(root / shown, shown), schema, shown, {**_KNOWN, **known})
    problem = PROBLEMS[settings["problem"]]
    _parse_sizes(settings, shown)
    _check_restrictions(settings, problem.axes, shown)
    for entry in (settings, *settings["kernels"], *settings["further"]):
        _check_platforms(entry, shown)
    settings["reference"] |= {
        axis: of_axis.values[0] for axis, of_axis in problem.axes.items() if of_axis.is_fixed and of_axis.values
    }
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
        kernels[kernel] = read_kernel(folder / f"{kernel}.cu", root, problem)
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
    baselines = settings["baselines"]
    if baselines and not (problem.races and settings["reference"]["operation"] == "sum"):
        raise UserError(f"{shown}: baselines are sums, but the study's reference point is none.")
    _check_rivals(settings, problem, kernels, shown)
    for key in ("ladder", "profiled"):
        _check_steps(settings[key], key, kernels, shown)
    for key in ("profiled", "claims"):
        for number, point in enumerate(settings[key]):
            _check_place(point["at"], f"{shown}: {key}.{number}")
    check_claims(settings, kernels, shown)
    published = settings["published"]
    if published and not (root / "resources/published" / published["file"]).is_file():
        there = sorted(path.name for path in (root / "resources/published").glob("*.csv"))
        guess = nearest(published["file"], there) or ";"
        raise UserError(
            f"{shown}: published.file is {published['file']!r}{guess} In resources/published/: {', '.join(there)}."
        )
    return Study(name, settings, problem, kernels)


def check_metrics(config: Mapping[str, Any], study: Study) -> None:
    """Raise UserError where a study or config.yaml names a metric that the configuration doesn't define."""
    check_names(config["profiling"]["metrics"], config["metrics"], "config/config.yaml (or --config): profiling")
    shown = f"config/studies/{study.name}.yaml"
    check_names(study.settings["metrics"], config["metrics"], shown)
    check_quantities(study.settings["claims"], config["metrics"], shown)


def metrics_of(config: Mapping[str, Any], study: Study) -> dict[str, Mapping[str, str]]:
    """The metrics that are collected for a study, by name: its own, then those of every study."""
    names = dict.fromkeys([*study.settings["metrics"], *config["profiling"]["metrics"]])
    # How far a value may be trusted is for those who judge it, and has no metric collected again.
    return {
        name: {key: text for key, text in config["metrics"][name].items() if key != "uncertainty"} for name in names
    }


def uncertainties(config: Mapping[str, Any]) -> dict[str, float]:
    """How far each metric may lie from run to run, as a fraction; 0 for counts."""
    return {name: float(entry["uncertainty"]) for name, entry in config["metrics"].items()}


def _check_steps(steps: Iterable[dict[str, Any]], key: str, kernels: Mapping[str, KernelSource], shown: str) -> None:
    """What a schema can't say: a step's kernel is the study's, with an unroll factor and a grid that it can have."""
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


def _check_rivals(
    settings: Mapping[str, Any], problem: Problem, kernels: Mapping[str, KernelSource], shown: str
) -> None:
    """What a schema can't say: rivals reduce, no kernel has the name of one, and a limit is known."""
    for key in ("rivals", "limits"):
        if settings[key] and not problem.races:
            raise UserError(
                f"{shown}: {key} do the same work as every kernel, but kernels of the problem {problem.name} do "
                "different work."
            )
    for name in RIVALS:
        if name in kernels:
            raise UserError(f"{shown}: kernels has {name!r}, which is a library's name in tables. Choose another one.")
    for name in settings["limits"]:
        if name not in (*DRIVER_LIMITS, *kernels):
            known = [*DRIVER_LIMITS, *kernels]
            raise UserError(f"{shown}: limits names {name!r}{nearest(name, known) or ';'} Known: {', '.join(known)}.")


def _check_place(at: dict[str, Any], shown: str) -> None:
    """What a schema can't say, where nothing may stand too: known names."""
    for key, known in (("dtype", list(CXX_TYPES)), ("operation", list(OPERATIONS))):
        if at[key] is not None and at[key] not in known:
            guess = nearest(at[key], known) or ";"
            raise UserError(f"{shown} has the {key} {at[key]!r}{guess} Known: {', '.join(known)}.")


def _check_axes(settings: Mapping[str, Any], entry: Mapping[str, Any], kernel: KernelSource, shown: str) -> None:
    """What a schema can't say: a kernel's axes are its problem's, with values that it takes, and none is missing."""
    problem = kernel.problem
    layers = [
        layer["axes"]
        for settings_or_entry in (settings, entry, *settings["further"])
        for layer in (settings_or_entry, *settings_or_entry["platforms"].values())
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


def _parse_sizes(settings: Any, shown: str, key: str = "") -> None:
    """Replace every array size, wherever it stands, by its number of elements, which has to be from 1 to 2^32."""
    children = settings.items() if isinstance(settings, dict) else enumerate(settings)
    for name, value in children:
        path = f"{key}.{name}" if key else str(name)
        if isinstance(value, (dict, list)):
            _parse_sizes(value, shown, path)
        elif "array_size" in path.split(".") and value is not None:
            try:
                settings[name] = parse_size(value)
            except ValueError as error:
                raise UserError(
                    f"{shown}: {path} is {value!r}. Allowed: sizes from 1 to 2^32, written 1000, 2^24 or 2^24 + 1."
                ) from error


def _check_platforms(settings: Mapping[str, Any], shown: str) -> None:
    """A platform may have any name, since every GPU model has one; but a misspelt emulator would go unnoticed."""
    for name in settings["platforms"]:
        if name != EMULATOR and nearest(name, [EMULATOR]):
            raise UserError(f"{shown}: platforms names {name!r}{nearest(name, [EMULATOR])}")


def _check_restrictions(settings: Mapping[str, Any], axes: Collection[str], shown: str) -> None:
    """What a schema can't say: every restriction is an expression over the axes."""
    for restriction in settings["restrictions"]:
        try:
            Expression(restriction, axes)
        except UserError as error:
            raise UserError(f"{shown}: restrictions: {error}") from error


def kernel_axes(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> list[Axes]:
    """A kernel's axes on a platform: the sweep's, replaced by the platform's, the study's and the kernel's own.

    The first are the sweep's; in a full sweep those of the study's further points follow.
    """
    entry = next(entry for entry in study.settings["kernels"] if entry["name"] == kernel)
    return _axes(config, study, entry, study.kernels[kernel].plan, platform)


def rival_axes(config: Mapping[str, Any], study: Study, platform: str) -> list[Axes]:
    """The axes of a study's rivals, which choose their own blocks: as kernel_axes, each point once."""
    return [{**axes, "block_size": [1], "unroll": [1]} for axes in _axes(config, study, {}, RIVAL_PLAN, platform)]


def _axes(config: Mapping[str, Any], study: Study, entry: Mapping[str, Any], plan: str, platform: str) -> list[Axes]:
    """The axes of what the study's entry names, driven by a plan."""
    further = study.settings["further"] if config["sweep"] == "full" else []
    sweeps = []
    for last in ({}, *further):
        layers = [config["sweeps"][config["sweep"]]]
        for settings in (config, study.settings, entry, last):
            layers.append(settings.get("axes", {}))
            layers.append(settings.get("platforms", {}).get(platform, {}).get("axes", {}))
        axes = resolve_axes(study.problem.axes, *layers)
        if "grid_size" in axes and plan not in PLANS_WITH_A_GRID:
            axes["grid_size"] = [None]
        sweeps.append(axes)
    return sweeps


def kernel_variants(
    config: Mapping[str, Any], study: Study, kernel: str, platform: str, arch: str | None = None
) -> list[str]:
    """The C++ names of a kernel's variants that must be compiled for its sweep on a platform.

    arch  the architecture of a GPU that is compiled for, such as sm_90; None for any

    Grid sizes may still be counted in multiprocessors, so restrictions on them are left out: no variant depends on the
    grid.
    """
    restrictions = [
        restriction
        for restriction in (*config["restrictions"], *study.settings["restrictions"])
        if "grid_size" not in expression(restriction).names
    ]
    target = EMULATOR if platform == EMULATOR else arch
    return variants_run(study.kernels[kernel], kernel_axes(config, study, kernel, platform), restrictions, target)
