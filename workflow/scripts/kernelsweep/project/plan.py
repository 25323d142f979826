"""The plan of each job that has one (plans.py). Arguments after the project have the names of the rules' wildcards."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernelsweep.device.kinds import kind_of
from kernelsweep.plans import GradePlan, KernelPlan, ProofPlan, ScopePlan, StudyPlan
from kernelsweep.project import building, inputs, parameters
from kernelsweep.project.files import path, scope_of
from kernelsweep.project.project import Project
from kernelsweep.publish.drawing.figure_formats import formats_of
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.sweep.tries import next_try

# A study's settings that judgements depend on.
_JUDGED = ("title", "kinds", "kernels", "reference", "steps", "rivals", "limits", "claims", "causes", "search")


def kernel(project: Project, platform: str, study: str, kernel: str, cores: int | None, decides: bool) -> KernelPlan:
    """How a kernel is measured.

    decides  whether the run is for a verdict alone
    """
    of_job = (project, platform, study, kernel)
    return KernelPlan(
        **_run(
            project, platform, study, kernel, path("journal", platform=platform, study=study, kernel=kernel), decides
        ),
        sweep=parameters.sweep(*of_job),
        build=building.measuring_build(*of_job),
        search=parameters.setting(project, study, "search"),
        against=parameters.against(*of_job),
        store=path("unit_store"),
        processes=cores or 1,
        margin=project.config.compare.same_within,
        decides=decides,
    )


def proof(project: Project, platform: str, study: str, kernel: str) -> ProofPlan:
    """How a kernel is proven beside a GPU."""
    of_study = project.studies[study]
    return ProofPlan(
        **_run(project, platform, study, kernel, path("proof_journal", platform=platform, study=study, kernel=kernel)),
        sweep=parameters.sweep(project, EMULATOR, study, kernel),
        build=building.build_settings(project, study, kernel),
        has_own_axes=any(EMULATOR in settings.platforms for settings in (of_study.settings, of_study.entry(kernel))),
    )


def count(project: Project, study: str, kernel: str) -> ProofPlan:
    """How a kernel's accesses to memory are counted."""
    return ProofPlan(
        **_run(project, EMULATOR, study, kernel, path("count_journal", study=study, kernel=kernel)),
        sweep=parameters.sweep(project, EMULATOR, study, kernel),
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
        "measuring": project.config.values("measuring")["measuring"],
        "kernel": parameters.kernel_settings(project, study, kernel),
        "is_candidate": parameters.is_candidate(project, platform, study, kernel),
        "seed": project.config.seed,
    }


def study(project: Project, platform: str, study: str) -> StudyPlan:
    """What a study's tables and figures show."""
    scope = scope_of(platform, study)
    return StudyPlan(
        study=parameters.drawn_study(project, study),
        figures=parameters.figures(project, platform, study),
        widths=project.config.figure_widths,
        formats=formats_of(project.config.sweep),
        definitions=parameters.metric_definitions(project, study),
        found_metrics=inputs.found_metrics(project, scope),
        accesses=parameters.told_accesses(project, platform, study),
        edited=parameters.edited_kernels(project, scope),
        gridded=parameters.kernels_with_a_grid(project, study),
    )


def scope(project: Project, scope: str) -> ScopePlan:
    """What the judgements on a scope's results depend on."""
    studies, metrics = project.studies_of(scope), project.config.metrics
    return ScopePlan(
        studies=parameters.settings_by_study(project, scope, _JUDGED),
        measurements=inputs.measurements_by_study(project, scope),
        gridded={study: parameters.kernels_with_a_grid(project, study) for study in studies},
        uncertainties={name: float(metric.values()["uncertainty"]) for name, metric in metrics.items()},
        found_metrics=inputs.found_metrics(project, scope),
        kernels=parameters.planned_kernels(project, scope),
        edited=parameters.edited_kernels(project, scope),
        page=path("page", scope=scope),
    )


def grade(project: Project, platform: str) -> GradePlan:
    """How candidates are judged."""
    grading = project.grading
    assert grading, "only the target grade asks"
    timed = [name for name, one in grading.candidates.items() if kind_of(platform).has_clock and not one.refused]
    return GradePlan(
        of_study=grading.of_study,
        against=grading.against,
        candidates={name: asdict(one) for name, one in grading.candidates.items()},
        drawn=[point for points in grading.drawn.values() for point in points],
        journals={name: path("journal", platform=platform, study=grading.study, kernel=name) for name in timed},
        sizes=project.studies[grading.study].problem.size_axes,
        margin=project.config.compare.same_within,
    )
