"""The parameters of jobs, besides their files: if a job's parameters change, Snakemake runs it again.

Arguments after the project have the names of the rules' wildcards. A scope is a platform's results for all studies, or
for one (files.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep.device.kinds import kind_of
from kernelsweep.device.names import is_recording, recording_name
from kernelsweep.home import include_folders
from kernelsweep.json_files import read_json
from kernelsweep.project import building, inputs
from kernelsweep.project.building import build_settings
from kernelsweep.project.files import parts_of, path, scope_of
from kernelsweep.project.project import Project
from kernelsweep.publish.figure_files import drawn_figures
from kernelsweep.study.kernel_sweep import axes_of_places, launched_points
from kernelsweep.study.kernels.source import code_sha256
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.resolve import kernel_axes, listed_points, restrictions_of
from kernelsweep.sweep.baselines import libraries

# The sweep


def sweep(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any]:
    """A kernel's sweep on a platform, for sweep.kernel_sweep.KernelSweep."""
    settings = project.studies[study].settings
    return {
        "axes": kernel_axes(project.config, project.studies[study], kernel, platform),
        "restrictions": restrictions_of(project.studies[study], kernel),
        "tied": settings.tied,
        "searched": bool(settings.search),
    }


def sweep_beside_kernels(project: Project, platform: str, study: str, rival: str | None = None) -> dict[str, Any]:
    """The sweep of a study's library on a platform, or without a library of the driver."""
    of_study = project.studies[study]
    return {
        "sweeps": libraries.library_axes(project.config, of_study, platform, rival),
        "restrictions": restrictions_of(of_study, None),
        "tied": of_study.settings.tied,
    }


def rival_calls(project: Project, study: str) -> dict[str, Any]:
    """How a study calls each library's function, by the function's name."""
    return {name: call.values() for name, call in project.studies[study].settings.rival_calls.items()}


def rival_call(project: Project, study: str, rival: str) -> Any:
    """How a study calls a library's function."""
    return rival_calls(project, study)[rival]


def device_state(project: Project, platform: str) -> Any:
    """What a GPU may change without a new name, as its clocks; None of the emulator."""
    return project.models[platform].state if platform in project.models else None


def setting(project: Project, study: str, key: str) -> Any:
    """One of a study's settings."""
    return project.studies[study].settings.values(key)[key]


def settings(project: Project, study: str, *keys: str) -> dict[str, Any]:
    """Some of a study's settings."""
    return project.studies[study].settings.values("compares", *keys)


def settings_by_study(project: Project, scope: str, keys: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Some settings of each of a scope's studies."""
    return {study: settings(project, study, *keys) for study in project.studies_of(scope)}


def kernel_settings(project: Project, study: str, kernel: str) -> dict[str, Any]:
    """What a job needs besides a kernel's file to read the kernel: its problem, and its settings in the study."""
    of_study, source = project.studies[study], project.kernel(study, kernel)
    return {"named": source.problem.named, "settings": of_study.entry(kernel).values(), "cxx": of_study.settings.cxx}


def checked_kernels(project: Project, study: str) -> list[dict[str, Any]]:
    """A study's kernels, each with a point at which its problem is checked: the smallest on the emulator.

    A kernel without points there has one of another platform, where a reference may take minutes.
    """
    of_study = project.studies[study]
    platforms = [EMULATOR, *(platform for platform in project.platforms if not is_recording(platform))]
    checked = []
    for kernel, source in of_study.kernels.items():
        for platform in platforms:
            listed = listed_points(project.config, of_study, kernel, platform)
            places = listed.groups(axes_of_places(listed, of_study.problem))
            if points := launched_points(source, [listed[int(numbers[0])] for numbers in places]):
                told, file = kernel_settings(project, study, kernel), inputs.kernel_file(project, study, kernel)
                smallest = min(points, key=of_study.problem.size)
                checked.append({"kernel": told, "file": file, "point": dict(smallest)})
                break
    return checked


def is_candidate(project: Project, platform: str, study: str, kernel: str) -> bool:
    """Whether a kernel is one that nobody trusts."""
    return bool(inputs.against(project, platform, study, kernel))


def against(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any] | None:
    """What a job needs to run a candidate's points in pairs with another kernel's (sweep/against.py)."""
    is_beside = inputs.against(project, platform, study, kernel) and kind_of(platform).has_clock
    if not project.grading or not is_beside:
        return None
    other = project.grading.against
    return {
        "kernel": kernel_settings(project, study, other),
        "file": inputs.kernel_file(project, study, other),
        "sweep": sweep(project, platform, study, other),
        "journal": path("journal", platform=platform, study=study, kernel=other),
        "include": include_folders(project.root),
    }


def configuration(project: Project) -> dict[str, Any]:
    """The settings of a run and of its studies, as environment.json has them."""
    studies = {study: project.studies[study].settings.values() for study in project.config.studies}
    return {"config": project.config.values(), "studies": studies}


@cache
def code_to_record(project: Project, study: str, kernel: str) -> str:
    """A hash of a kernel's code without blanks, as recordings have it."""
    included = (project.root / name for name in inputs.included(project, study, kernel))
    return code_sha256(project.kernel(study, kernel).path, included)


def codes_to_record(project: Project, platform: str) -> dict[str, str]:
    """The hash of each kernel's code, by `study/kernel`: by these, a recording tells what was edited since."""
    return {
        f"{study}/{kernel}": code_to_record(project, study, kernel) for study, kernel in project.kernels_of(platform)
    }


def edited_kernels(project: Project, scope: str) -> list[str]:
    """The kernels of a recording that were edited after they were recorded, as `study/kernel`; none elsewhere."""
    platform, _ = parts_of(scope)
    if not is_recording(platform):
        return []
    recorded = _recorded_codes(project, recording_name(platform))
    names = [(f"{study}/{kernel}", study, kernel) for study, kernel in project.kernels_of(scope)]
    return [name for name, *of in names if name in recorded and recorded[name] != code_to_record(project, *of)]


@cache
def _recorded_codes(project: Project, name: str) -> dict[str, str]:
    codes = read_json(project.root / path("recorded", name=name, file="environment.json")).get("kernel_codes")
    return codes if isinstance(codes, dict) else {}


# Tables, figures, page


def metric_definitions(project: Project, study: str) -> dict[str, Mapping[str, str]]:
    """The metrics that are collected for a study, by name: its own, then the metrics that all studies share.

    Without their uncertainties: these change judgements only, and nothing has to be collected again.
    """
    names = dict.fromkeys([*project.studies[study].settings.metrics, *project.config.profiling.metrics])
    table = project.config.metrics
    return {name: {key: text for key, text in table[name].values().items() if key != "uncertainty"} for name in names}


def pictured_kernels(project: Project, study: str) -> dict[str, dict[str, Any]]:
    """What a job needs to draw the pictured steps of each kernel of a study that has some; a picture comes once."""
    found: dict[str, dict[str, Any]] = {}
    for step in {step.name: step for step in building.accesses(project, study)}.values():
        kernel = step.kernel
        told = found.setdefault(
            kernel,
            {
                "file": inputs.kernel_file(project, study, kernel),
                "kernel": kernel_settings(project, study, kernel),
                "build": build_settings(project, study, kernel),
                "steps": [],
            },
        )
        told["steps"].append({"name": step.name, "point": dict(step.point)})
    return found


def told_accesses(project: Project, platform: str, study: str) -> dict[int, dict[str, Any]]:
    """The pictures of a study's steps by the step's place in the story: files relative to its results, and points."""
    shown = inputs.accesses(project, scope_of(platform, study))
    folder = Path(path("steps", platform=platform, study=study)).parent
    found = {}
    for step in building.accesses(project, study):
        if (file := path("accesses", study=study, name=step.name)) in shown:
            found[step.place] = {"file": Path(os.path.relpath(file, folder)).as_posix(), "point": dict(step.point)}
    return found


def kernels_with_a_grid(project: Project, study: str) -> list[str]:
    """The kernels of a study whose number of blocks the sweep chooses."""
    return [name for name, kernel in project.studies[study].kernels.items() if kernel.chooses_grid]


def drawn_study(project: Project, study: str) -> dict[str, Any]:
    """The settings of a study that its tables and figures read."""
    values = project.studies[study].settings.values()
    return {key: value for key, value in values.items() if key not in ("causes", "claims", "problem")}


def figures(project: Project, platform: str, study: str) -> list[str]:
    """A study's figures; without a clock, no figures of times."""
    return drawn_figures(project.studies[study], kind_of(platform).has_clock)


def planned_kernels(project: Project, scope: str) -> list[dict[str, Any]]:
    """The kernels of a scope's run (analysis.row_counts.PlannedKernel)."""
    (platform, _), plan = parts_of(scope), []
    recorded = is_recording(platform)
    for study, kernel in project.kernels_of(scope):
        source = project.kernel(study, kernel)
        cannot_run = None if recorded else source.unsupported_on(project.target(platform))
        plan.append({"study": study, "kernel": kernel, "is_made": not recorded, "cannot_run": cannot_run})
    return plan


def page_title(project: Project, study: str | None = None) -> str:
    """The title of a page: its study's, or that of all studies."""
    return project.studies[study].settings.title if study else "kernelsweep"


def profiled_settings(project: Project, study: str) -> dict[str, Any]:
    """The settings of a study by which its profiled points are chosen."""
    return settings(project, study, "problem", "reference", "steps", "profiled")


def page_studies(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """The page's information about a scope's studies besides their results, in their order."""
    platform, _ = parts_of(scope)
    return {
        study: {
            **explored,
            **settings(project, study, "description"),
            "figures": figures(project, platform, study),
            "file": f"config/studies/{study}.yaml",
            "kernels": [inputs.kernel_file(project, study, kernel) for kernel in project.studies[study].kernels],
        }
        for study, explored in explored_studies(project, scope).items()
    }


def explored_studies(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """What the explorer needs to know of a scope's studies."""
    return {
        study: {
            **settings(project, study, "title", "kinds", "reference", "tied"),
            "names": list(project.studies[study].kernels),
            "gridded": kernels_with_a_grid(project, study),
        }
        for study in project.studies_of(scope)
    }
