"""Which files each job reads.

Arguments after the project have the names of the rules' wildcards. A scope is a platform's results for all studies, or
for one (files.py).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kernelsweep.baselines.libraries import COMPILED
from kernelsweep.code_hash import sha256_of
from kernelsweep.drawing.figure_formats import file_names, formats_of
from kernelsweep.home import EMULATOR_HEADERS, HOME, include_folders, shown
from kernelsweep.judge.comparison.which_files import NOW, PREVIOUS, side_files
from kernelsweep.observe.sanitizer import TOOLS, find_sanitizer
from kernelsweep.platforms.choose import recordings
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.names import is_recording, recording_name
from kernelsweep.project import files, observed
from kernelsweep.project.building import builds_while_measuring
from kernelsweep.project.project import Project
from kernelsweep.project.resources import chunks_of_kernel
from kernelsweep.publish import figure_files
from kernelsweep.publish.html_files import PAGE_FILES
from kernelsweep.publish.page.chapters import CHAPTERS
from kernelsweep.publish.page.glossary import GLOSSARY
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.sweep.kernels.build_targets import EMULATOR, target_named
from kernelsweep.sweep.kernels.source import included_files

# The chapters (publish/page/chapters.py) that are made before the page, for all studies and for one. The page shows the
# others where they exist.
MADE_CHAPTERS = ("claims", "best")


# Builds


def kernel_file(project: Project, study: str, kernel: str) -> str:
    """A kernel's source."""
    return _relative(project, project.kernel(study, kernel).path)


def kernel_files(project: Project, scope: str) -> list[str]:
    """The sources of a scope's kernels."""
    return [kernel_file(project, study, kernel) for study, kernel in project.kernels_of(scope)]


# Every job of a kernel asks, and a kernel may have a thousand chunks.
@cache
def included(project: Project, study: str, kernel: str) -> list[str]:
    """The files that a kernel's source includes."""
    source = project.kernel(study, kernel)
    include = [project.root / name for name in include_folders(project.root)]
    return [_relative(project, path) for path in included_files(source.path, include, source.options)]


def problem_files(project: Project, study: str) -> list[str]:
    """The files of a study's problem, where it is a file: after an edit, results may differ."""
    return [_relative(project, path) for path in project.studies[study].problem.files]


@cache
def emulator_headers(project: Project, target: str) -> list[str]:
    """The emulator's sources, if the target is compiled against them."""
    if not target_named(target).is_emulator:
        return []
    return sorted(_relative(project, path) for path in (HOME / EMULATOR_HEADERS).glob("**/*.h*"))


def emulator_runtime(project: Project, target: str) -> list[str]:
    """The emulator's runtime, if the target is linked with it."""
    return [files.emulator_runtime("o", target)] if target_named(target).is_emulator else []


def build(project: Project, platform: str, study: str, kernel: str, suffix: str) -> str:
    """A kernel's binary on a platform (suffix bin), or the report on its build (json)."""
    return files.build(suffix, project.target(platform), study, kernel)


def measured_build(project: Project, platform: str, study: str, kernel: str, suffix: str) -> list[str]:
    """The binary of a kernel that is measured, or its report; none where the job that measures it compiles it, too."""
    if builds_while_measuring(project, platform, study, kernel):
        return []
    return [build(project, platform, study, kernel, suffix)]


def observed_build(project: Project, platform: str, study: str, kernel: str, suffix: str) -> list[str]:
    """The binary of a kernel that is observed, or its report; none of a search, whose job builds some of its points."""
    searched = searched_points(project, platform, study, kernel)
    return [] if searched else [build(project, platform, study, kernel, suffix)]


def searched_points(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The points that a search has measured; none where nothing is searched."""
    is_search = bool(project.studies[study].settings["search"]) and kind_of(platform).has_clock
    return [files.points(platform, study, kernel)] if is_search else []


def build_reports(project: Project, platform: str) -> list[str]:
    """The reports on the builds of a platform's kernels that are compiled before they are measured."""
    return [
        report
        for study, kernel in project.kernels_of(platform)
        for report in measured_build(project, platform, study, kernel, "json")
    ]


def cub(project: Project, platform: str, rival: str, suffix: str) -> list[str]:
    """The library with a rival's functions (suffix so), or its report (json); none for a Python package's function."""
    return [files.cub(suffix, project.target(platform), rival)] if rival in COMPILED else []


# Measurements


def chunks(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The outputs of a kernel's chunks, or an empty list if one job measures the whole kernel."""
    count = chunks_of_kernel(project, platform, study, kernel)
    if count == 1:
        return []
    return [files.chunk(platform, study, kernel, number, count) for number in range(1, count + 1)]


def kernel_points(project: Project, scope: str) -> list[str]:
    """The points of a scope's kernels, which are measured here: one file a kernel."""
    platform, _ = files.parts_of(scope)
    return [files.points(platform, study, kernel) for study, kernel in project.kernels_of(scope)]


def points(project: Project, scope: str) -> list[str]:
    """The points of a scope's kernels, and of its baselines, libraries and driver's limits: one file each.

    Without a clock, only the kernels are measured: the others show nothing but times.
    """
    platform, _ = files.parts_of(scope)
    found = kernel_points(project, scope)
    if not kind_of(platform).has_clock:
        return found
    settings = {study: project.studies[study].settings for study in project.studies_of(scope)}
    return [
        *found,
        *(files.baselines(platform, study) for study in settings if settings[study]["baselines"]),
        *(files.rival(platform, study, rival) for study in settings for rival in settings[study]["rivals"]),
        *(files.driver_limits(platform, study) for study in settings if driver_limits(project, study)),
    ]


def driver_limits(project: Project, study: str) -> list[str]:
    """Which of the driver's copy and fill are limits of a study."""
    return [name for name in project.studies[study].settings["limits"] if name in DRIVER_LIMITS]


def samples(project: Project, scope: str) -> list[str]:
    """The samples of a scope's kernels: one file a kernel."""
    platform, _ = files.parts_of(scope)
    return [files.samples(platform, study, kernel) for study, kernel in project.kernels_of(scope)]


def builds(project: Project, scope: str) -> list[str]:
    """The builds of a scope's kernels: one file a kernel."""
    platform, _ = files.parts_of(scope)
    return [files.kernel_builds(platform, study, kernel) for study, kernel in project.kernels_of(scope)]


def measurements(project: Project, scope: str) -> list[str]:
    """The sources of a scope's judgements, tables and figures: points measured here, or a recording's measurements."""
    platform, _ = files.parts_of(scope)
    return [files.measurements(platform)] if is_recording(platform) else points(project, scope)


def proofs(project: Project, scope: str) -> list[str]:
    """The proofs of a scope's kernels. A recording has none.

    compute-sanitizer proves what the emulator can't run, and kernels of undefined behaviour, which both may show. Where
    it isn't installed, such kernels are not proven.
    """
    platform, _ = files.parts_of(scope)
    if is_recording(platform):
        return []
    kernels = project.kernels_of(scope)
    found = [files.kernel_proofs(platform, study, kernel) for study, kernel in kernels]
    is_elsewhere = platform in project.config["gpu_models"]
    if not kind_of(platform).needs_gpu or not (is_elsewhere or find_sanitizer()):
        return found
    return found + [
        files.sanitized_proofs(platform, study, kernel)
        for study, kernel in kernels
        if project.kernel(study, kernel).gpu_only or project.kernel(study, kernel).undefined_behaviour
    ]


def kernel_findings(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The findings of each of compute-sanitizer's tools for a kernel."""
    return [files.sanitized("json", platform, study, kernel, tool) for tool in TOOLS]


def measurements_by_study(project: Project, scope: str) -> dict[str, list[str]]:
    """A scope's measurements by study, so that a reader needs only one study in memory."""
    platform, _ = files.parts_of(scope)
    return {study: measurements(project, files.scope_of(platform, study)) for study in project.studies_of(scope)}


def joined_measurements(project: Project, scope: str) -> list[str]:
    """A platform's measurements in one file; for a single study the files that it is measured into."""
    platform, study = files.parts_of(scope)
    return measurements(project, scope) if study else [files.measurements(platform)]


def device(project: Project, platform: str) -> str:
    """The description of a platform's device."""
    return files.device(platform)


def environment(project: Project, scope: str) -> list[str]:
    """environment.json, if it exists before the scope's results: where points are measured, it follows all studies."""
    platform, study = files.parts_of(scope)
    return [files.environment(platform)] if is_recording(platform) or not study else []


# Metrics


def kernel_metrics(project: Project, scope: str) -> list[str]:
    """The metrics of a scope's kernels, counted or from Nsight Compute: one file a kernel."""
    platform, _ = files.parts_of(scope)
    kernels = project.kernels_of(scope)
    if kind_of(platform).counts:
        return [files.counts(platform, study, kernel) for study, kernel in kernels]
    return [files.profiled_metrics(platform, study, kernel) for study, kernel in kernels]


def made_metrics(project: Project, scope: str) -> list[str]:
    """The metrics that are made before a scope's judgements, tables and figures.

    These are a recording's metrics, or Nsight Compute's if the configuration asks for them. Counts are made only by the
    target `count`; once they exist, they follow every edit, as points do.
    """
    platform, _ = files.parts_of(scope)
    if is_recording(platform):
        recorded = files.recording(recording_name(platform), "metrics.csv.gz")
        return [files.metrics(platform)] if Path(recorded).is_file() else []
    parts = kernel_metrics(project, scope)
    if kind_of(platform).counts:
        return [path for path in parts if Path(path).is_file()]
    return parts if project.config["profile"] else []


def found_metrics(project: Project, scope: str) -> dict[str, str]:
    """Existing metrics that this run uses but does not update, each with its hash."""
    platform, _ = files.parts_of(scope)
    if is_recording(platform) or made_metrics(project, scope):
        return {}
    return _hashes(kernel_metrics(project, scope))


def joined_metrics(project: Project, platform: str) -> list[str]:
    """A platform's metrics in one file, if this run makes the metrics of every kernel."""
    complete = made_metrics(project, platform) == kernel_metrics(project, platform)
    return [files.metrics(platform)] if complete else []


def page_metrics(project: Project, scope: str) -> list[str]:
    """The metrics that are made before a scope's page."""
    platform, study = files.parts_of(scope)
    return made_metrics(project, scope) if study else joined_metrics(project, platform)


def accesses(project: Project, scope: str) -> list[str]:
    """The pictures of who accesses what in a scope's studies.

    They are the emulator's, which runs beside a GPU as well, for the proofs. A run of recordings alone shows those that
    exist.
    """
    pictures = [
        files.accesses(study, step.name)
        for study in project.studies_of(scope)
        for step in observed.accesses(project, study)
    ]
    are_made = any(not is_recording(platform) for platform in project.platforms)
    return [path for path in dict.fromkeys(pictures) if are_made or Path(path).is_file()]


def drawn_accesses(project: Project, study: str) -> list[str]:
    """All pictures of a study."""
    return list(dict.fromkeys(files.accesses(study, step.name) for step in observed.accesses(project, study)))


def pictured_kernels(project: Project, study: str) -> list[str]:
    """The kernels of a study that have a picture."""
    return list(dict.fromkeys(step.kernel for step in observed.accesses(project, study)))


def pictured_sources(project: Project, study: str) -> list[str]:
    """The sources of a study's kernels that have an access picture."""
    return [kernel_file(project, study, kernel) for kernel in pictured_kernels(project, study)]


def pictured_includes(project: Project, study: str) -> list[str]:
    """The files that a study's kernels with an access picture include."""
    kernels = pictured_kernels(project, study)
    return list(dict.fromkeys(path for kernel in kernels for path in included(project, study, kernel)))


def pictured_builds(project: Project, study: str, suffix: str) -> list[str]:
    """The emulator's binaries (suffix bin) or build reports (json) of a study's kernels with an access picture."""
    return [files.build(suffix, EMULATOR, study, kernel) for kernel in pictured_kernels(project, study)]


def findings(project: Project, platform: str) -> list[str]:
    """The findings of each of compute-sanitizer's tools for every kernel."""
    kernels = project.kernels_of(platform)
    return [path for study, kernel in kernels for path in kernel_findings(project, platform, study, kernel)]


# Judgements, tables, figures, page


def compared(project: Project, platform: str, side: str) -> list[str]:
    """The measurements of a side, "before" or "after", of the comparison that the configuration asks for."""
    named = project.config["compare"][side]
    if named == PREVIOUS:
        return []
    if named != NOW:
        return side_files(named, project.config["studies"])
    return [files.measurements(platform)] if is_recording(platform) else kernel_points(project, platform)


def compared_proofs(project: Project, platform: str) -> list[str]:
    """The proofs of the kernels of a comparison's side `after`, if it is measured now: an edit can bring a race."""
    return proofs(project, platform) if project.config["compare"]["after"] == NOW else []


def compared_device(project: Project, platform: str) -> str | list[str]:
    """The device of a comparison's side `after`, if it is measured now; a folder of results has its own description."""
    return files.device(platform) if project.config["compare"]["after"] == NOW else []


def own_figures(project: Project, study: str) -> list[str]:
    """The files of a study's own figures that it names."""
    own, named = figure_files.own_figures(study, project.root), project.studies[study].settings["figures"]
    return [_relative(project, own[name]) for name in named if name in own]


def published_data(project: Project, study: str) -> list[str]:
    """The published figures that a study is compared with."""
    published = project.studies[study].settings["published"]
    named = [published["file"], published["ratios"]] if published else []
    return [f"resources/published/{name}" for name in named if name]


def drawn_files(project: Project, study: str, has_clock: bool) -> list[str]:
    """The names of the files of a study's figures, on platforms with a clock or without."""
    drawn = figure_files.drawn_figures(project.studies[study], project.root, has_clock)
    widths, formats = project.config["figure_widths"], formats_of(project.config["sweep"])
    of_figures = (file for name in drawn for width in widths for file in file_names(name, width, formats))
    return [*of_figures, figure_files.TEXTS_FILE, figure_files.CAPTIONS_FILE]


def tables_and_figures(project: Project, scope: str) -> list[str]:
    """The tables and figures of a scope's studies."""
    platform, _ = files.parts_of(scope)
    return [
        path
        for study in project.studies_of(scope)
        for path in (
            *(files.table(suffix, platform, study) for suffix in ("md", "csv", "tex")),
            files.short_table(platform, study),
            files.steps(platform, study),
            *(files.figure(file, platform, study) for file in drawn_files(project, study, kind_of(platform).has_clock)),
        )
    ]


def judgements(project: Project, scope: str) -> list[str]:
    """A scope's judged claims and best configurations, for readers and for programs."""
    chapters = [CHAPTERS[name] for name in MADE_CHAPTERS]
    return [f"{files.folder(scope)}/{file}" for chapter in chapters for file in (*chapter.files, chapter.data)]


def made_chapters(project: Project, scope: str) -> list[str]:
    """The files of the page's chapters that are made before it."""
    return [f"{files.folder(scope)}/{file}" for name in MADE_CHAPTERS for file in CHAPTERS[name].files]


def found_chapters(project: Project, scope: str) -> dict[str, str]:
    """The existing files of the page's other chapters, each with its hash; only a page of all studies has these."""
    _, study = files.parts_of(scope)
    if study:
        return {}
    others = [chapter for name, chapter in CHAPTERS.items() if name not in MADE_CHAPTERS]
    return _hashes([f"{files.folder(scope)}/{file}" for chapter in others for file in chapter.files])


def page_sources(project: Project, scope: str) -> list[str]:
    """The page's template, style, scripts and glossary."""
    return [_relative(project, file) for file in (*PAGE_FILES, GLOSSARY)]


def page_builds(project: Project, scope: str) -> list[str]:
    """The builds that a scope's page shows: none without a clock, since its explorer shows timed points."""
    platform, study = files.parts_of(scope)
    if not kind_of(platform).has_clock:
        return []
    return builds(project, scope) if study and not is_recording(platform) else [files.builds(platform)]


def page_samples(project: Project, scope: str) -> list[str]:
    """The samples that a scope's page shows, which recordings don't keep."""
    platform, _ = files.parts_of(scope)
    return samples(project, scope) if kind_of(platform).has_clock and not is_recording(platform) else []


def compared_recordings(project: Project) -> list[str]:
    """The recordings' measurements and environments."""
    kept = ("measurements.csv.gz", "environment.json")
    return [files.recording(name, file) for name in recordings(project.root) for file in kept]


def _hashes(paths: list[str]) -> dict[str, str]:
    """The hashes of those files that exist."""
    return {path: sha256_of(path) for path in paths if Path(path).is_file()}


def _relative(project: Project, path: Path) -> str:
    return shown(path, project.root)
