"""Which files each target of the Snakefile asks for.

Each raises UserError where this run can't make them, with what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kernelsweep.drawing.figure_formats import file_names, formats_of
from kernelsweep.errors import UserError
from kernelsweep.judge.comparison.which_files import NOW, PREVIOUS, check_sides, compared_platform, side_files
from kernelsweep.observe.profiling import profiled_platforms
from kernelsweep.observe.sanitizer import sanitized_platforms
from kernelsweep.platforms.choose import recordings
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.names import is_recording
from kernelsweep.project import files, inputs, observed
from kernelsweep.project.project import Project
from kernelsweep.sweep.kernels.build_targets import EMULATOR, target_named


def everything(project: Project) -> list[str]:
    """The target `all`."""
    made = [path for platform in project.platforms for path in _results(project, platform)]
    made += [path for platform in project.platforms for path in inputs.joined_metrics(project, platform)]
    if recordings(project.root):
        made += [files.beside_recordings(platform) for platform in project.models]
    return made


def study(project: Project, name: str) -> list[str]:
    """The target of a study."""
    platforms = [platform for platform in project.platforms if project.can_have(platform, name)]
    scopes = [files.scope_of(platform, name) for platform in platforms or project.platforms]
    return [path for scope in scopes for path in _results(project, scope)]


def _results(project: Project, scope: str) -> list[str]:
    """The mark that ends a scope's run, and every file that a user sees.

    Snakemake makes a deleted file again only if a target names it.
    """
    platform, study = files.parts_of(scope)
    made = [files.end(scope), files.page(scope), files.summary(scope)]
    made += [*inputs.judgements(project, scope), *inputs.tables_and_figures(project, scope)]
    made += inputs.accesses(project, scope)
    if not study:
        made += [files.measurements(platform), files.builds(platform), files.environment(platform)]
    if not is_recording(platform):
        made += [*inputs.proofs(project, scope), *([] if study else [files.proofs(platform)])]
        made += [*inputs.points(project, scope), *inputs.samples(project, scope), *inputs.builds(project, scope)]
        # No other job reads these, so that a new check is no reason to measure again. Their priority puts them first.
        of_scope = project.studies_of(scope)
        made += [files.checked_problem(name) for name in of_scope]
    return made


def build(project: Project) -> list[str]:
    """Every kernel's binaries: for the architecture that the configuration names, or for the run's platforms.

    For a GPU, a search compiles what it proposes, so that nothing is compiled before.
    """
    if project.config["arch"] == "native":
        measured = [platform for platform in project.platforms if not is_recording(platform)]
        targets = [project.target(platform) for platform in measured] or [EMULATOR]
    else:
        targets = [project.config["arch"]]
    return [
        files.build("bin", target, study, kernel)
        for study in project.config["studies"]
        for kernel in project.studies[study].kernels
        for target in dict.fromkeys(targets)
        if target_named(target).is_emulator or not project.studies[study].settings["search"]
    ]


def compare(project: Project) -> list[str]:
    """The comparison that the configuration asks for."""
    before, after = project.config["compare"]["before"], project.config["compare"]["after"]
    platform = compared_platform(after, project.platforms)
    check_sides(before, after, platform)
    if after == NOW and kind_of(platform).has_clock and not is_recording(platform):
        _check_visits(project.config)
    # Here as well as in the inputs: if the comparison exists, Snakemake doesn't ask for those.
    for side in {before, after} - {PREVIOUS, NOW}:
        side_files(side, project.config["studies"])
    figure = file_names("ratios", "two_columns", formats_of(project.config["sweep"]))
    texts = ("comparison.md", "comment.md", "comparison.csv", "comparison.json")
    shown = (*texts, *figure, ".verdict")
    return [files.comparison(name, platform) for name in shown]


def _check_visits(config: Mapping[str, Any]) -> None:
    """Raise UserError if this run would measure points that can't be compared."""
    if config["measuring"]["visits"] < 2:
        key = "quick_visits" if config["sweep"] == "quick" else "visits"
        raise UserError(
            f"config/config.yaml: measuring.{key} is 1, and one visit doesn't show how far processes lie apart. Set 3, "
            "measure the kernels as they were before the edit, and compare them after it (docs/comparing.md)."
        )


def history(project: Project) -> list[str]:
    """Each kernel's best time over its versions, for the platforms with times that are measured here."""
    measured = [platform for platform in _timed(project, "history") if not is_recording(platform)]
    if not measured:
        raise UserError("The target history needs the journal of a GPU: a recording has no earlier versions.")
    if not any(project.studies[study].compares_times for study in project.config["studies"]):
        raise UserError("The target history needs a study whose kernels all do the same work; this run has none.")
    names = ("history.md", "history.csv", *file_names("history", "two_columns"))
    return [files.history(name, platform) for platform in measured for name in names]


def profile(project: Project) -> list[str]:
    """The metrics of every GPU."""
    platforms = profiled_platforms(list(project.models), project.platforms, "The target profile")
    return [files.metrics(platform) for platform in platforms]


def prove(project: Project) -> list[str]:
    """The proofs of every kernel on the platforms that are measured here, and the mark that they found nothing."""
    platforms = [platform for platform in project.platforms if not is_recording(platform)] or [EMULATOR]
    return [path for platform in platforms for path in (files.proofs(platform), files.proofs_end(platform))]


def count(project: Project) -> list[str]:
    """The emulator's counts and proofs."""
    return [files.metrics(EMULATOR), files.proofs_end(EMULATOR)]


def counted_against_ncu(project: Project) -> list[str]:
    """The pages that compare counts with the counters of recordings."""
    names = observed.profiled_recordings(project)
    if not names:
        raise UserError("No recording in resources/recordings/ has counters (metrics.csv.gz) to compare counts with.")
    return [files.counted_against_ncu(name) for name in names]


def sanitize(project: Project) -> list[str]:
    """compute-sanitizer's verdict on every GPU's kernels."""
    platforms = sanitized_platforms(list(project.models), project.platforms)
    return [
        path
        for platform in platforms
        for path in (files.findings("md", platform), files.findings("csv", platform), files.sanitizer_end(platform))
    ]


def archive(project: Project) -> list[str]:
    """Every platform's results in a file."""
    return [files.archive(platform) for platform in project.platforms]


def header(project: Project) -> list[str]:
    """The C++ header of each study's best configurations, on the platforms with times."""
    return [files.constants(*one) for one in _with_results(project, _timed(project, "header"))]


def t4(project: Project) -> list[str]:
    """The measurements of every study that has some, in the T4 format."""
    return [files.t4(*one) for one in _with_results(project, _timed(project, "t4"))]


def _timed(project: Project, target: str) -> list[str]:
    """The platforms with times. Raises UserError if there are none."""
    timed = [platform for platform in project.platforms if kind_of(platform).has_clock]
    if not timed:
        raise UserError(f"The target {target} needs times, and the emulator has none: name another platform.")
    return timed


def _with_results(project: Project, platforms: Iterable[str]) -> list[tuple[str, str]]:
    """The platforms with the run's studies that each can have, and whose kernels do the same work."""
    studies = [name for name in project.config["studies"] if project.studies[name].compares_times]
    return [(platform, name) for platform in platforms for name in studies if project.can_have(platform, name)]


def redraw(project: Project) -> list[str]:
    """Tables, figures and judgements of every platform with measurements."""
    folders = sorted([*Path(files.RESULTS).glob("*/"), *Path(files.RESULTS).glob("recording/*/")])
    measured = [folder.relative_to(files.RESULTS).as_posix() for folder in folders]
    return [
        path
        for platform in measured
        if Path(files.measurements(platform)).is_file()
        for path in (*inputs.tables_and_figures(project, platform), *inputs.judgements(project, platform))
    ]
