"""The parameters of jobs, besides their files: if a job's parameters change, Snakemake runs it again.

Arguments after the project have the names of the rules' wildcards. A scope is a platform's results for all studies, or
for one (files.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep.baselines import libraries
from kernelsweep.build.build import compiler_of
from kernelsweep.code_hash import code_hash
from kernelsweep.compilers import code_variables
from kernelsweep.drawing.declaration import read_declaration
from kernelsweep.errors import BuildError
from kernelsweep.json_files import read_json
from kernelsweep.judge.comparison.which_files import NOW, folder_of
from kernelsweep.measure.tries import next_try
from kernelsweep.platforms.choose import recordings
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.names import is_recording, recording_name, recording_platform
from kernelsweep.project import files, inputs, observed
from kernelsweep.project.building import builds_while_measuring, gpu_units
from kernelsweep.project.project import Project
from kernelsweep.project.resources import spanned_points
from kernelsweep.publish.figure_files import drawn_figures
from kernelsweep.publish.page.chapters import CHAPTERS
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.candidates import axes_of_places
from kernelsweep.sweep.kernels.build_targets import EMULATOR, target_named
from kernelsweep.sweep.kernels.source import code_sha256
from kernelsweep.sweep.kernels.units import Unit, merged_units
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import launched_points, units
from kernelsweep.sweep.resolve import (
    combinations_of,
    kernel_axes,
    kernel_units,
    listed_points,
    restrictions_of,
    valid_count,
)
from kernelsweep.sweep.study_quantities import TIME, objective_of

# The sweep


def axes(project: Project, platform: str, study: str, kernel: str) -> list[Axes]:
    """A kernel's axes on a platform."""
    return kernel_axes(project.config, project.studies[study], kernel, platform)


def next_try_of(project: Project, platform: str, study: str, kernel: str) -> int:
    """The number of this run of a kernel's job; it grows where failures of the last run may have passed."""
    return next_try(Path(files.journal(platform, study, kernel)))


def next_proof(project: Project, platform: str, study: str, kernel: str) -> int:
    """The number of this run of a kernel's proof beside a GPU; it grows where failures of the last may have passed."""
    return next_try(Path(files.proof_journal(platform, study, kernel)))


def proven_axes(project: Project, study: str, kernel: str) -> list[Axes]:
    """The axes of a kernel's proof, which are those of the emulator on any platform."""
    return axes(project, EMULATOR, study, kernel)


def has_axes_for_emulator(project: Project, study: str, kernel: str) -> bool:
    """Whether a study or its kernel has axes for the emulator."""
    of_study = project.studies[study]
    return any(EMULATOR in settings["platforms"] for settings in (of_study.settings, of_study.entry(kernel)))


def library_axes(project: Project, platform: str, study: str, rival: str | None = None) -> list[Axes]:
    """The axes of a study's library on a platform, or without one of the driver."""
    return libraries.library_axes(project.config, project.studies[study], platform, rival)


def restrictions(project: Project, study: str, kernel: str | None = None) -> list[str]:
    """The conditions that every point of a study's kernel must meet; without one, of what is measured beside."""
    return restrictions_of(project.config, project.studies[study], kernel)


def setting(project: Project, study: str, key: str) -> Any:
    """One of a study's settings."""
    return project.studies[study].settings[key]


# What a study's configurations are compared by.
_COMPARED = ("quantities", "objective")


def races_points(project: Project, study: str) -> bool:
    """Whether slow points of a study get fewer visits. A point that is slow may be the best by another objective."""
    return bool(project.config["measuring"]["racing"]) and objective_of(project.studies[study].settings).name == TIME


def searched_quantities(project: Project, study: str) -> dict[str, Any]:
    """What a search compares configurations by; nothing else is measured otherwise for it."""
    return settings(project, study, *_COMPARED) if setting(project, study, "search") else {}


def settings(project: Project, study: str, *keys: str) -> dict[str, Any]:
    """Some of a study's settings."""
    return {key: project.studies[study].settings[key] for key in ("compares", *keys)}


def translation_units(project: Project, target: str, study: str, kernel: str) -> list[dict[str, Any]]:
    """The units of a target's binary, as plain values: with the variants that sweeps run, or that are counted."""
    return [asdict(unit) for unit in _units(project, target, study, kernel)]


@cache
def kernel_code(project: Project, study: str, kernel: str) -> str:
    """A hash of the code of a kernel and of the files that it includes. Comments don't count."""
    names = [inputs.kernel_file(project, study, kernel), *inputs.included(project, study, kernel)]
    return code_hash(project.root / name for name in names)


def kernel_codes(project: Project, scope: str) -> list[str]:
    """Hashes of the code of a scope's kernels, without comments."""
    return [kernel_code(project, study, kernel) for study, kernel in project.kernels_of(scope)]


@cache
def _code_to_record(project: Project, study: str, kernel: str) -> str:
    included = (project.root / name for name in inputs.included(project, study, kernel))
    return code_sha256(project.kernel(study, kernel).path, included)


def codes_to_record(project: Project, platform: str) -> dict[str, str]:
    """A hash of each kernel's code, by which a recording of these results tells what was edited since."""
    return {
        f"{study}/{kernel}": _code_to_record(project, study, kernel) for study, kernel in project.kernels_of(platform)
    }


def edited_kernels(project: Project, scope: str) -> list[str]:
    """The kernels of a recording that were edited after they were recorded, as `study/kernel`; none elsewhere."""
    platform, _ = files.parts_of(scope)
    if not is_recording(platform):
        return []
    recorded = _recorded_codes(project, recording_name(platform))
    names = [(f"{study}/{kernel}", study, kernel) for study, kernel in project.kernels_of(scope)]
    return [name for name, *of in names if name in recorded and recorded[name] != _code_to_record(project, *of)]


def edited_by_recording(project: Project) -> dict[str, list[str]]:
    """The edited kernels of each recording with results, by platform."""
    platforms = map(recording_platform, recordings(project.root))
    return {
        platform: edited_kernels(project, platform) for platform in platforms if Path(files.folder(platform)).is_dir()
    }


@cache
def _recorded_codes(project: Project, name: str) -> dict[str, str]:
    codes = read_json(project.root / files.recording(name, "environment.json")).get("kernel_codes")
    return codes if isinstance(codes, dict) else {}


def pictured_codes(project: Project, study: str) -> list[str]:
    """Hashes of the code of a study's kernels that have an access picture, without comments."""
    return [kernel_code(project, study, kernel) for kernel in inputs.pictured_kernels(project, study)]


@cache
def compiler(project: Project, target: str) -> dict[str, Any]:
    """What compiles for a target on this machine: the compiler's release, and the environment variables that change
    its code. The release is None where the compiler is missing here, as where jobs run on other machines.
    """
    try:
        release = compiler_of(target)
    except BuildError:
        release = None
    return {"release": release, "variables": code_variables()}


def measuring_compiler(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any] | None:
    """What compiles a kernel while it is measured; None where another job compiles it before."""
    compiles = builds_while_measuring(project, platform, study, kernel)
    return compiler(project, project.target(platform)) if compiles else None


def unit_count(project: Project, target: str, study: str, kernel: str) -> int:
    """How many units a kernel has."""
    return len(_units(project, target, study, kernel))


def _units(project: Project, target: str, study: str, kernel: str) -> list[Unit]:
    source = project.kernel(study, kernel)
    if not target_named(target).is_emulator:
        return gpu_units(project, target, study, kernel)
    run = kernel_units(project.config, project.studies[study], kernel, EMULATOR, target)
    drawn = [step.point for step in observed.accesses(project, study) if step.kernel == kernel]
    return merged_units([run, units(source, [*observed.counted(project, study, kernel).points, *drawn])])


def kernel_settings(project: Project, study: str, kernel: str) -> dict[str, Any]:
    """What a job needs besides a kernel's file to read the kernel: its problem, and its settings in the study."""
    of_study, source = project.studies[study], project.kernel(study, kernel)
    return {"named": source.problem.named, "settings": of_study.entry(kernel), "cxx": of_study.settings["cxx"]}


def checked_kernels(project: Project, study: str) -> list[dict[str, Any]]:
    """A study's kernels, each with a point at which its problem is checked: the smallest on the emulator.

    A kernel without points there has one of another platform, where a reference may take minutes.
    """
    platforms = [EMULATOR, *(platform for platform in project.platforms if not is_recording(platform))]
    checked = []
    for kernel in project.studies[study].kernels:
        points = next(filter(None, (_of_each_size(project, platform, study, kernel) for platform in platforms)), [])
        if points:
            smallest = min(points, key=project.studies[study].problem.size)
            settings = kernel_settings(project, study, kernel)
            file = inputs.kernel_file(project, study, kernel)
            checked.append({"kernel": settings, "file": file, "point": dict(smallest)})
    return checked


def _of_each_size(project: Project, platform: str, study: str, kernel: str) -> list[Point]:
    """A point of each problem size that a kernel has on a platform."""
    of_study = project.studies[study]
    listed = listed_points(project.config, of_study, kernel, platform)
    points = [listed[int(numbers[0])] for numbers in listed.groups(axes_of_places(listed, of_study.problem))]
    return launched_points(of_study.kernels[kernel], points)


def compiler_options(project: Project, study: str, kernel: str) -> list[str]:
    """The further options that nvcc is given for a kernel."""
    return list(project.kernel(study, kernel).options)


def constants(project: Project, study: str, kernel: str) -> list[str]:
    """The variables in constant memory that are set before a kernel runs."""
    return list(project.kernel(study, kernel).launches.constants)


def plain_counting_points(project: Project, study: str, kernel: str) -> list[dict[str, Any]]:
    """The points of all devices as plain values."""
    return [dict(point) for point in observed.counted(project, study, kernel).points]


def plain_accesses(project: Project, study: str) -> list[dict[str, Any]]:
    """Pictured steps as plain values, one a picture."""
    steps = {step.name: step for step in observed.accesses(project, study)}
    return [{"name": name, "kernel": step.kernel, "point": dict(step.point)} for name, step in steps.items()]


def all_kernel_settings(project: Project, study: str) -> dict[str, dict[str, Any]]:
    """What a job needs to read the kernels of a study."""
    return {kernel: kernel_settings(project, study, kernel) for kernel in project.studies[study].kernels}


def told_accesses(project: Project, platform: str, study: str) -> dict[int, str]:
    """The pictures of a study's steps, relative to the folder of its results; by the step's place in the story."""
    shown, folder = inputs.accesses(project, files.scope_of(platform, study)), Path(files.steps(platform, study)).parent
    paths = {step.place: files.accesses(study, step.name) for step in observed.accesses(project, study)}
    return {place: Path(os.path.relpath(path, folder)).as_posix() for place, path in paths.items() if path in shown}


def resolved_configuration(project: Project) -> dict[str, Any]:
    """The configuration and the studies' settings, for environment.json."""
    studies = {study: project.studies[study].settings for study in project.config["studies"]}
    return {"config": project.config, "studies": studies}


# Judgements


def judged_settings(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """Each study's settings for judging claims."""
    keys = ("title", "problem", "kernels", "reference", "steps", "rivals", "limits", "claims", *_COMPARED)
    return {study: settings(project, study, *keys) for study in project.studies_of(scope)}


def uncertainties(project: Project) -> dict[str, float]:
    """By metric, how far its value may lie from run to run, as a fraction; 0 for counts."""
    return {name: float(entry["uncertainty"]) for name, entry in project.config["metrics"].items()}


def compared_settings(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """Each study's settings for finding best configurations, without studies whose kernels don't compete."""
    return {
        study: settings(project, study, "title", "problem", "kernels", "reference", "search", *_COMPARED)
        for study in project.studies_of(scope)
        if project.studies[study].compares_times
    }


def kernels_with_a_grid(project: Project, scope: str) -> dict[str, list[str]]:
    """By study, the kernels whose number of blocks the sweep chooses."""
    return {
        study: [name for name, kernel in project.studies[study].kernels.items() if kernel.chooses_grid]
        for study in project.studies_of(scope)
    }


def compared_results(project: Project, platform: str) -> str:
    """The folder of results with the journals of earlier measurements."""
    after = project.config["compare"]["after"]
    return files.folder(platform) if after == NOW else str(folder_of(after))


def versioned_kernels(project: Project, platform: str) -> dict[str, tuple[str, str]]:
    """The files with each kernel's points and its journal, by `study/kernel`, without kernels that don't compete."""
    return {
        f"{study}/{kernel}": (files.points(platform, study, kernel), files.journal(platform, study, kernel))
        for study, kernel in project.kernels_of(platform)
        if project.studies[study].compares_times
    }


# Tables, figures, page


def shown_settings(project: Project, study: str) -> dict[str, Any]:
    """A study's settings for its table and figures: all but the claims, which are judged on their own."""
    return {key: value for key, value in project.studies[study].settings.items() if key != "claims"}


def metric_definitions(project: Project, study: str) -> dict[str, Mapping[str, str]]:
    """The metrics that are collected for a study, by name: its own, then the metrics that all studies share.

    Without their uncertainties: these change judgements only, and nothing has to be collected again.
    """
    names = dict.fromkeys([*project.studies[study].settings["metrics"], *project.config["profiling"]["metrics"]])
    table = project.config["metrics"]
    return {name: {key: text for key, text in table[name].items() if key != "uncertainty"} for name in names}


def figures(project: Project, platform: str, study: str) -> dict[str, str]:
    """The files that draw a study's figures, by the figures' names; without a clock, no figures of times."""
    drawn = drawn_figures(project.studies[study], project.root, kind_of(platform).has_clock)
    return {name: os.path.relpath(file, project.root) for name, file in drawn.items()}


def planned_kernels(project: Project, scope: str) -> list[dict[str, Any]]:
    """The plan of a scope's run, against which its rows are counted: its kernels, each with its axes.

    A recording keeps no plan: its kernels have no axes.
    """
    platform, _ = files.parts_of(scope)
    return [_planned(project, platform, study, kernel) for study, kernel in project.kernels_of(scope)]


def _planned(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any]:
    source, recorded = project.kernel(study, kernel), is_recording(platform)
    of_study = project.studies[study]
    listed = None if recorded else listed_points(project.config, of_study, kernel, platform)
    combinations = combinations_of(project.config, of_study, kernel, platform)
    valid = valid_count(project.config, of_study, kernel, platform) if listed is not None else 0
    return {
        "study": study,
        "kernel": kernel,
        "rows": None if listed is None or source.chooses_grid else spanned_points(project, platform, study, kernel),
        "is_made": not recorded,
        "excluded": combinations - valid if listed else 0,
        "valid": valid,
        "searched": bool(of_study.settings["search"]) and kind_of(platform).has_clock,
        "file": files.points(platform, study, kernel),
        "cannot_run": None if recorded else source.unsupported_on(project.target(platform)),
    }


def page_title(project: Project, scope: str) -> str:
    """The title of a scope's page."""
    _, study = files.parts_of(scope)
    return project.studies[study].settings["title"] if study else "kernelsweep"


def answered_settings(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """Each study's settings for a run's answer: what it is called, and at which sizes its kernels are compared."""
    return {
        study: settings(project, study, "title", "problem", "reference", "limits", "search")
        for study in project.studies_of(scope)
    }


def page_studies(project: Project, scope: str) -> dict[str, dict[str, Any]]:
    """The page's information about a scope's studies besides their results, in their order."""
    platform, _ = files.parts_of(scope)
    return {
        study: {
            **settings(project, study, "title", "description", "problem", "reference", "tied", "limits", "search"),
            "names": list(project.studies[study].kernels),
            "gridded": [name for name, kernel in project.studies[study].kernels.items() if kernel.chooses_grid],
            "figures": {
                name: {"file": file, **asdict(read_declaration(project.root / file))}
                for name, file in figures(project, platform, study).items()
            },
            "file": f"config/studies/{study}.yaml",
            "kernels": [inputs.kernel_file(project, study, kernel) for kernel in project.studies[study].kernels],
        }
        for study in project.studies_of(scope)
    }


def page_chapters(project: Project, scope: str) -> list[str]:
    """The chapters that follow the studies on a scope's page."""
    _, study = files.parts_of(scope)
    return list(inputs.MADE_CHAPTERS if study else CHAPTERS)


def page_measurements(project: Project, scope: str) -> list[str]:
    """Where a reader of a scope's page finds the measurements: one file, or the folder of one file a kernel."""
    platform, study = files.parts_of(scope)
    if study and not is_recording(platform):
        return [files.folder(f"{platform}/points/{study}")]
    return [files.measurements(platform)]


def page_metrics(project: Project, scope: str) -> list[str]:
    """Where a reader of a scope's page finds the metrics: one file, or the folder of one file a kernel."""
    platform, study = files.parts_of(scope)
    if not study and (joined := inputs.joined_metrics(project, platform)):
        return joined
    parts = [*inputs.made_metrics(project, scope), *inputs.found_metrics(project, scope)]
    return parts if len(parts) < 2 else [os.path.commonpath(parts)]


def held_recordings(project: Project) -> dict[str, str]:
    """The folders of the recordings that a GPU's times are held against, by name."""
    return {name: files.recording(name) for name in recordings(project.root)}
