"""The plan of each rule's jobs (plans.py). Arguments after the project have the names of the rules' wildcards.

A scope is a platform's results for all studies, or for one (files.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep import plans
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.names import is_recording, recording_folder, recording_name
from kernelsweep.home import include_folders
from kernelsweep.judge.comparison.which_files import PREVIOUS
from kernelsweep.project import building, inputs
from kernelsweep.project.files import OTHERS, parts_of, path, scope_of
from kernelsweep.project.project import Project
from kernelsweep.publish.drawing.figure_formats import FORMATS, QUICK_FORMATS
from kernelsweep.publish.figure_files import drawn_figures
from kernelsweep.publish.share.recording import read_environment
from kernelsweep.publish.steps.steps_page import named_in
from kernelsweep.study.kernel_sweep import axes_of_places, launched_points
from kernelsweep.study.kernels.source import code_sha256, read_source
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import in_words
from kernelsweep.study.resolve import kernel_axes, listed_points, restrictions_of
from kernelsweep.sweep.baselines import libraries
from kernelsweep.sweep.tries import next_try

# A study's settings that judgements depend on.
_JUDGED = ("title", "kinds", "titles", "tied", "axes", "kernels", "reference", "steps", "rivals", "limits", "claims")
_ANSWERED = (*_JUDGED, "causes", "search")

# What all jobs of a kernel need


def sweep(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any]:
    """A kernel's sweep on a platform, for sweep.kernel_sweep.KernelSweep."""
    settings = project.studies[study].settings
    return {
        "axes": kernel_axes(project.config, project.studies[study], kernel, platform),
        "restrictions": restrictions_of(project.studies[study], kernel),
        "tied": settings.tied,
        "searched": bool(settings.search),
    }


def kernel_settings(project: Project, study: str, kernel: str) -> dict[str, Any]:
    """What a job needs to read a kernel, for kernel_of_job(): its file, its problem, and its settings in the study."""
    of_study, source = project.studies[study], project.kernel(study, kernel)
    return {
        "file": inputs.kernel_file(project, study, kernel),
        "named": source.problem.named,
        "settings": of_study.entry(kernel).values(),
        "cxx": of_study.settings.cxx,
        "study_file": str(of_study.file),
    }


def _of_config(project: Project, key: str) -> Any:
    return project.config.values(key)[key]


def _settings(project: Project, study: str, *keys: str) -> dict[str, Any]:
    return project.studies[study].settings.values("compares", *keys)


# Builds


def build(project: Project, target: str, study: str, kernel: str) -> plans.BuildPlan:
    """What is compiled of a kernel."""
    return plans.BuildPlan(building.build_settings(project, study, kernel, target))


def runtime(project: Project, target: str) -> plans.BuildPlan:
    """What compiles the part of the emulator that all of its libraries have."""
    return plans.BuildPlan(building.compiler(project, target))


def cub(project: Project, target: str, library: str) -> plans.BuildPlan:
    """What compiles one of CUB's functions."""
    return plans.BuildPlan(building.compiler(project, target), libraries.LIBRARIES[library].options)


def problem(project: Project, study: str) -> plans.PointsPlan:
    """The points at which a study's problem is checked."""
    rivals = {name: call.values() for name, call in project.studies[study].settings.rival_calls.items()}
    seconds = project.config.measuring.timeout_seconds
    return plans.PointsPlan(_checked_kernels(project, study), project.config.seed, seconds, rivals)


def _checked_kernels(project: Project, study: str) -> list[dict[str, Any]]:
    """A study's kernels, each with a point at which its problem is checked: the smallest on the emulator.

    A kernel without points there has one of another platform, where a reference may take minutes.
    """
    of_study = project.studies[study]
    platforms = [EMULATOR, *(platform for platform in project.platforms if not is_recording(platform))]
    checked = []
    for kernel, source in of_study.kernels.items():
        for platform in platforms:
            listed = listed_points(project.config, of_study, kernel, platform)
            places = listed.at(listed.firsts(axes_of_places(listed, of_study.problem)))
            if not source.chooses_grid:  # There may be a million places, and each has a point.
                places = places.at(places.sizes(of_study.problem.size_axes).argsort(kind="stable")[:1])
            if points := launched_points(source, places):
                smallest = min(points, key=of_study.problem.size)
                checked.append({"kernel": kernel_settings(project, study, kernel), "point": dict(smallest)})
                break
    return checked


def mistake(project: Project, study: str) -> plans.ValuePlan:
    """The mistake for which a study is left out."""
    return plans.ValuePlan(project.mistakes[study])


# Measuring


def device(project: Project, platform: str) -> plans.ValuePlan:
    """What a GPU may change without a new name, as its clocks; None of the emulator."""
    return plans.ValuePlan(project.models[platform].state if platform in project.models else None)


def environment(project: Project, platform: str) -> plans.EnvironmentPlan:
    """What environment.json says of a run."""
    studies = {study: project.studies[study].settings.values() for study in project.config.studies}
    codes = {
        f"{study}/{kernel}": _code_to_record(project, study, kernel) for study, kernel in project.kernels_of(platform)
    }
    return plans.EnvironmentPlan(
        {"config": project.config.values(), "studies": studies}, codes, project.target(platform)
    )


@cache
def _code_to_record(project: Project, study: str, kernel: str) -> str:
    """A hash of a kernel's code without blanks, as recordings have it."""
    included = (project.root / name for name in inputs.included(project, study, kernel))
    return code_sha256(project.kernel(study, kernel).path, included)


def library(project: Project, platform: str, study: str, rival: str) -> plans.BesidePlan:
    """How a library's function is measured."""
    return plans.BesidePlan(
        **_beside(project, platform, study, rival),
        seed=project.config.seed,
        journal=path("journal", platform=platform, study=study, kernel=rival),
        call=project.studies[study].settings.rival_calls[rival].values(),
    )


def driver(project: Project, platform: str, study: str) -> plans.BesidePlan:
    """How the driver's copy and fill are measured."""
    return plans.BesidePlan(
        **_beside(project, platform, study),
        limits=inputs.driver_limits(project, study),
        reference=project.studies[study].settings.reference,
    )


def _beside(project: Project, platform: str, study: str, rival: str | None = None) -> dict[str, Any]:
    """What is measured of a study's library on a platform, or without a library of the driver, depends on."""
    of_study = project.studies[study]
    return {
        "problem": of_study.settings.values("problem")["problem"],
        "sweep": {
            "sweeps": libraries.library_axes(project.config, of_study, platform, rival),
            "restrictions": restrictions_of(of_study, None),
            "tied": of_study.settings.tied,
        },
        "measuring": _of_config(project, "measuring"),
    }


@cache  # All chunks of a kernel have the same.
def kernel(
    project: Project, platform: str, study: str, kernel: str, cores: int | None, decides: bool
) -> plans.KernelPlan:
    """How a kernel is measured.

    decides  whether the run is for a verdict alone
    """
    of_job = (project, platform, study, kernel)
    journal = path("journal", platform=platform, study=study, kernel=kernel)
    return plans.KernelPlan(
        **_run(*of_job, journal, decides),
        sweep=sweep(*of_job),
        build=building.measuring_build(*of_job),
        search=project.studies[study].settings.values("search")["search"],
        against=_against(*of_job),
        store=path("unit_store"),
        processes=cores or 1,
        margin=project.config.compare.same_within,
        decides=decides,
    )


def _against(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any] | None:
    """What a job needs to run a candidate's points in pairs with another kernel's (sweep/against.py)."""
    is_beside = inputs.against(project, platform, study, kernel) and kind_of(platform).has_clock
    if not project.grading or not is_beside:
        return None
    other = project.grading.against
    return {
        "kernel": kernel_settings(project, study, other),
        "sweep": sweep(project, platform, study, other),
        "journal": path("journal", platform=platform, study=study, kernel=other),
        "include": include_folders(project.root),
    }


def proof(project: Project, platform: str, study: str, kernel: str) -> plans.ProofPlan:
    """How a kernel is proven beside a GPU."""
    of_study = project.studies[study]
    return plans.ProofPlan(
        **_run(project, platform, study, kernel, path("proof_journal", platform=platform, study=study, kernel=kernel)),
        sweep=sweep(project, EMULATOR, study, kernel),
        build=building.build_settings(project, study, kernel, platform=platform),
        has_own_axes=any(EMULATOR in settings.platforms for settings in (of_study.settings, of_study.entry(kernel))),
    )


def count(project: Project, study: str, kernel: str) -> plans.ProofPlan:
    """How a kernel's accesses to memory are counted."""
    return plans.ProofPlan(
        **_run(project, EMULATOR, study, kernel, path("count_journal", study=study, kernel=kernel)),
        sweep=sweep(project, EMULATOR, study, kernel),
        build=building.build_settings(project, study, kernel),
        points=[*map(dict, building.counted(project, study, kernel))],
    )


def _run(
    project: Project, platform: str, study: str, kernel: str, journal: str, decides: bool = False
) -> dict[str, Any]:
    """What every run of a kernel's points depends on."""
    return {
        "journal": journal,
        "number": next_try(Path(journal), decides),
        "measuring": _of_config(project, "measuring"),
        "kernel": kernel_settings(project, study, kernel),
        "is_candidate": bool(inputs.against(project, platform, study, kernel)),
        "seed": project.config.seed,
    }


# Observing


def profile(project: Project, platform: str, study: str, kernel: str) -> plans.ObservedPlan:
    """How a kernel is profiled."""
    return plans.ObservedPlan(
        **_observed(project, platform, study, kernel),
        timeout_seconds=project.config.profiling.timeout_seconds,
        study=_settings(project, study, "problem", "reference", "steps", "profiled"),
        # Without their uncertainties: these change judgements only, and nothing has to be collected again.
        metrics={
            name: {key: value for key, value in definition.items() if key != "uncertainty"}
            for name, definition in _metric_definitions(project, study).items()
        },
        profiling=_of_config(project, "profiling"),
    )


# Under compute-sanitizer, a point has so many seconds at most: meanwhile, nothing is timed. Of 35 kernels, 2,168 points
# took 47 s in all (H200); one whose threads wait for locks took minutes.
_SANITIZED_SECONDS = 20.0


def sanitize(project: Project, platform: str, study: str, kernel: str) -> plans.ObservedPlan:
    """How a kernel runs under compute-sanitizer."""
    return plans.ObservedPlan(
        **_observed(project, platform, study, kernel),
        timeout_seconds=min(project.config.measuring.timeout_seconds, _SANITIZED_SECONDS),
        small_axes=sweep(project, EMULATOR, study, kernel)["axes"],
    )


def _observed(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any]:
    """What a kernel's points under any tool depend on."""
    return {
        "kernel": kernel_settings(project, study, kernel),
        "sweep": sweep(project, platform, study, kernel),
        "build": building.compiler(project, project.target(platform)),
        "seed": project.config.seed,
    }


def _metric_definitions(project: Project, study: str) -> dict[str, Mapping[str, str]]:
    """The metrics that are collected for a study, by name: its own, then the metrics that all studies share."""
    names = dict.fromkeys([*project.studies[study].settings.metrics, *project.config.profiling.metrics])
    table = project.config.metrics
    return {name: table[name].values() for name in names}


def accesses(project: Project, study: str) -> plans.PointsPlan:
    """The points whose accesses are drawn."""
    seconds = project.config.measuring.timeout_seconds
    return plans.PointsPlan(_pictured_kernels(project, study), project.config.seed, seconds)


def _pictured_kernels(project: Project, study: str) -> list[dict[str, Any]]:
    """What a job needs to draw the pictured steps of each kernel of a study that has some; a picture comes once."""
    steps = {step.name: step for step in building.accesses(project, study)}.values()
    return [
        {
            "kernel": kernel_settings(project, study, kernel),
            "build": building.build_settings(project, study, kernel),
            "included": inputs.included(project, study, kernel),
            "steps": [{"name": step.name, "point": dict(step.point)} for step in steps if step.kernel == kernel],
            "own_axes": [axis for axis, kind in project.studies[study].settings.kinds.items() if kind == "kernel"],
        }
        for kernel in dict.fromkeys(step.kernel for step in steps)
    ]


# Judgements, tables, figures, pages


def study(project: Project, platform: str, study: str) -> plans.StudyPlan:
    """What a study's tables and figures show."""
    scope = scope_of(platform, study)
    return plans.StudyPlan(
        study=_drawn_study(project, study),
        figures=drawn_figures(project.studies[study], kind_of(platform).has_clock),
        widths=project.config.figure_widths,
        font=project.config.font,
        formats=QUICK_FORMATS if project.config.sweep == "quick" else FORMATS,
        definitions=_metric_definitions(project, study),
        found_metrics=inputs.found_metrics(project, scope),
        accesses=_step_pictures(project, platform, study),
        named={name: _named_in(kernel.path) for name, kernel in project.studies[study].kernels.items()},
        edited=_edited_kernels(project, scope),
        gridded=_gridded(project, study),
    )


@cache  # Both platforms' jobs ask.
def _named_in(source: Path) -> list[str]:
    return named_in(read_source(source))


def story(project: Project) -> plans.StoryPlan:
    """What the text on a study's steps shows besides files."""
    return plans.StoryPlan()


def _step_pictures(project: Project, platform: str, study: str) -> dict[int, dict[str, Any]]:
    """The pictures of a study's steps by the step's place in the story: files relative to its results, and points."""
    if not (shown := inputs.accesses(project, scope_of(platform, study))):
        return {}
    folder = os.path.relpath(shown[0], Path(path("steps", platform=platform, study=study)).parent)
    return {
        step.place: {"file": f"{folder}/{step.name}.svg", "point": dict(step.point)}
        for step in building.accesses(project, study)
    }


def _gridded(project: Project, study: str) -> list[str]:
    """The kernels of a study whose number of blocks the sweep chooses."""
    return [name for name, kernel in project.studies[study].kernels.items() if kernel.chooses_grid]


def _drawn_study(project: Project, study: str) -> dict[str, Any]:
    """The settings of a study that its tables and figures read."""
    values = project.studies[study].settings.values()
    return {key: value for key, value in values.items() if key not in ("causes", "claims", "problem")}


def _edited_kernels(project: Project, scope: str) -> list[str]:
    """The kernels of a recording that were edited after they were recorded, as `study/kernel`; none elsewhere."""
    platform, _ = parts_of(scope)
    if not is_recording(platform):
        return []
    recorded = _recorded_codes(project, recording_name(platform))
    names = [(f"{study}/{kernel}", study, kernel) for study, kernel in project.kernels_of(scope)]
    return [name for name, *of in names if name in recorded and recorded[name] != _code_to_record(project, *of)]


@cache
def _recorded_codes(project: Project, name: str) -> dict[str, str]:
    return read_environment(project.root / recording_folder(name)).kernel_codes


def view(project: Project, platform: str, study: str) -> plans.ViewPlan:
    """What a view of the explorer shows."""
    return plans.ViewPlan(
        study=_drawn_study(project, study),
        edited=_edited_kernels(project, scope_of(platform, study)),
        gridded=_gridded(project, study),
        view=project.config.view,
        width=project.config.width,
        font=project.config.font,
    )


def font(project: Project) -> plans.ValuePlan:
    """The type of a picture."""
    return plans.ValuePlan(project.config.font)


def reference(project: Project, study: str) -> plans.ValuePlan:
    """A study's reference point."""
    return plans.ValuePlan(project.studies[study].settings.reference)


def scope(project: Project, scope: str) -> plans.ScopePlan:
    """What the judgements on a scope's results depend on."""
    studies, metrics = project.studies_of(scope), project.config.metrics
    return plans.ScopePlan(
        studies={study: _settings(project, study, *_ANSWERED) for study in studies},
        measurements=inputs.measurements_by_study(project, scope),
        gridded={study: _gridded(project, study) for study in studies},
        uncertainties={name: float(metric.values()["uncertainty"]) for name, metric in metrics.items()},
        found_metrics=inputs.found_metrics(project, scope),
        kernels=_planned_kernels(project, scope),
        edited=_edited_kernels(project, scope),
        page=path("page", scope=scope),
        store=path("unit_store"),
    )


def _planned_kernels(project: Project, scope: str) -> list[dict[str, Any]]:
    """The kernels of a scope's run (analysis.row_counts.PlannedKernel)."""
    (platform, _), plan = parts_of(scope), []
    recorded = is_recording(platform)
    for study, kernel in project.kernels_of(scope):
        source = project.kernel(study, kernel)
        cannot_run = None if recorded else source.unsupported_on(project.target(platform))
        of_file = {"is_made": not recorded, "file": inputs.kernel_file(project, study, kernel)}
        plan.append({"study": study, "kernel": kernel, "cannot_run": cannot_run, **of_file})
    return plan


def page(project: Project, scope: str) -> plans.PagePlan:
    """What a scope's page shows besides results."""
    platform, study = parts_of(scope)
    return plans.PagePlan(
        title=project.studies[study].settings.title if study else "kernelsweep",
        index=path("index"),
        studies={
            study: {
                **explored,
                **_settings(project, study, "description"),
                "figures": drawn_figures(project.studies[study], kind_of(platform).has_clock),
                "file": str(project.studies[study].file),
                "kernels": [inputs.kernel_file(project, study, kernel) for kernel in project.studies[study].kernels],
            }
            for study, explored in _explored_studies(project, project.studies_of(scope)).items()
        },
    )


def _explored_studies(project: Project, studies: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the explorer needs to know of studies."""
    return {
        study: {
            **_settings(project, study, "title", "kinds", "titles", "reference", "tied", "rivals", "limits", "colours"),
            "names": list(project.studies[study].kernels),
            "gridded": _gridded(project, study),
        }
        for study in studies
    }


def comparison(project: Project, platform: str) -> plans.ComparisonPlan:
    """What is compared on a platform."""
    kernels = inputs.compared_kernels(project, platform)
    studies = [*dict.fromkeys(study for study, _ in kernels)]
    is_of_edit = project.config.compare.before == PREVIOUS
    further = inputs.measured_kernels(project, scope_of(platform, OTHERS)) if is_of_edit else []
    steps = [(study, step) for study in studies for step in building.accesses(project, study)]
    return plans.ComparisonPlan(
        compare=_of_config(project, "compare"),
        results=path("folder", scope=platform),
        sizes={study: [*project.studies[study].problem.size_axes] for study in studies},
        store=path("unit_store"),
        explored=_explored_studies(project, studies),
        index=path("index"),
        never_measured=len({*project.kernels_of(platform)}.difference(kernels)),
        others=sorted({study for study, _ in further}.difference(studies)),
        pictured={f"{study}/{step.kernel}": (step.name, in_words(step.point)) for study, step in reversed(steps)},
    )


def grade(project: Project, platform: str) -> plans.GradePlan:
    """How candidates are judged."""
    grading = project.grading
    assert grading, "only the target grade asks"
    timed = [name for name, one in grading.candidates.items() if kind_of(platform).has_clock and not one.refused]
    return plans.GradePlan(
        of_study=grading.of_study,
        against=grading.against,
        candidates={name: asdict(one) for name, one in grading.candidates.items()},
        drawn=[point for points in grading.drawn.values() for point in points],
        journals={name: path("journal", platform=platform, study=grading.study, kernel=name) for name in timed},
        sizes=project.studies[grading.study].problem.size_axes,
        margin=project.config.compare.same_within,
        index=path("index"),
    )
