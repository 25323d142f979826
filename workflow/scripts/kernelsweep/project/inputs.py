"""Which files jobs read, where a rule alone can't say it.

Arguments after the project have the names of the rules' wildcards. A scope is a platform's results for all studies, or
for one (files.py).
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from pathlib import Path

from kernelsweep.base.code_hash import sha256_of
from kernelsweep.compile.build import names_gpu
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.names import is_recording, recording_name
from kernelsweep.home import EMULATOR_HEADERS, HOME, include_folders, shown
from kernelsweep.judge.comparison.which_files import PREVIOUS, earlier_files
from kernelsweep.observe.sanitizer import find_sanitizer
from kernelsweep.project import building
from kernelsweep.project.building import compiles_what_it_measures
from kernelsweep.project.files import OF_TARGETS, OTHERS, parts_of, path, scope_of
from kernelsweep.project.project import Project
from kernelsweep.project.resources import chunks_of_kernel
from kernelsweep.results import DRIVER_LIMITS, each_row
from kernelsweep.study.kernels.source import included_files as files_included
from kernelsweep.study.kernels.source import source_sha256
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.sweep.baselines.libraries import COMPILED
from kernelsweep.sweep.journal import journals_of

# Sources and builds


def kernel_file(project: Project, study: str, kernel: str) -> str:
    """A kernel's source."""
    return shown(project.kernel(study, kernel).path, project.root)


def kernel_files(project: Project, scope: str) -> list[str]:
    """The sources of a scope's kernels."""
    return [kernel_file(project, *kernel) for kernel in project.kernels_of(scope)]


# Every job of a kernel asks, and a kernel may have a thousand chunks.
@cache
def included(project: Project, study: str, kernel: str) -> list[str]:
    """The files that a kernel's source includes."""
    source = project.kernel(study, kernel)
    include = [project.root / name for name in include_folders(project.root)]
    return [shown(file, project.root) for file in files_included(source.path, include, source.options)]


def problem_files(project: Project, study: str) -> list[str]:
    """The files of a study's problem, where it is a file: after an edit, results may differ."""
    return [shown(file, project.root) for file in project.studies[study].problem.files]


def emulator_runtime(project: Project, target: str = EMULATOR) -> list[str]:
    """The emulator's compiled runtime, if the target is compiled with it.

    Not the sources, which each of a thousand chunks would ask the file system for: the plan has a hash of them.
    """
    return [path("emulator_runtime", target=target, suffix="o")] if target == EMULATOR else []


def emulator_headers(project: Project, target: str) -> list[str]:
    """The emulator's sources."""
    return sorted(shown(file, project.root) for file in (HOME / EMULATOR_HEADERS).glob("**/*.h*"))


def included_by_kernels(project: Project, scope: str) -> list[str]:
    """The files that the sources of a scope's kernels include."""
    return [file for kernel in project.kernels_of(scope) for file in included(project, *kernel)]


def build(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """A kernel's binary on a platform, and the report on its build."""
    target = project.target(platform)
    return [path("build", target=target, study=study, kernel=kernel, suffix=suffix) for suffix in ("bin", "json")]


def build_reports(project: Project, platform: str) -> list[str]:
    """The reports on the builds of a platform's kernels that one job compiles and another measures."""
    return [
        build(project, platform, study, kernel)[1]
        for study, kernel in project.kernels_of(platform)
        if not compiles_what_it_measures(project, platform, study)
    ]


def builds(project: Project, target: str, suffix: str) -> list[str]:
    """The binaries (suffix bin), or the reports on the builds (json), of the run's kernels for a target.

    For a GPU, a search compiles what it proposes, so that nothing is compiled before.
    """
    return [
        path("build", target=target, study=study, kernel=kernel, suffix=suffix)
        for study in project.config.studies
        for kernel in project.studies[study].kernels
        if target == EMULATOR or not project.studies[study].settings.search
    ]


def measured_build(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """What a kernel that is measured is built from, or its build, if another job compiles it before."""
    if compiles_what_it_measures(project, platform, study):
        return emulator_runtime(project, project.target(platform))
    return build(project, platform, study, kernel)


def observed_build(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The build of a kernel that is observed; none of a search, whose job builds some of its points."""
    return [] if searched_points(project, platform, study, kernel) else build(project, platform, study, kernel)


def searched_points(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The points that a search has measured; none where nothing is searched."""
    is_search = bool(project.studies[study].settings.search) and kind_of(platform).has_clock
    return [path("points", platform=platform, study=study, kernel=kernel)] if is_search else []


def cub(project: Project, platform: str, rival: str, suffix: str) -> list[str]:
    """The library with a rival's functions (suffix so), or its report (json); none for a Python package's function."""
    return [path("cub", target=project.target(platform), library=rival, suffix=suffix)] if rival in COMPILED else []


# Measurements


def device(project: Project, scope: str) -> str:
    """The description of a scope's device."""
    return path("device", platform=parts_of(scope)[0])


def against(project: Project, platform: str, study: str, kernel: str) -> list[str]:
    """The points of the kernel beside which a candidate runs: how long one of its may take follows from them."""
    grading = project.grading
    if not grading or study != grading.study or kernel == grading.against:
        return []
    return [path("points", platform=platform, study=study, kernel=grading.against)]


def of_kernels(project: Project, scope: str, file: str) -> list[str]:
    """A kind of file (files.py) of each of a scope's kernels."""
    platform, _ = parts_of(scope)
    return [path(file, platform=platform, study=study, kernel=kernel) for study, kernel in project.kernels_of(scope)]


def of_candidates(project: Project, platform: str, file: str) -> list[str]:
    """A kind of file (files.py) of each candidate, and of the kernel beside which they run."""
    assert project.grading, "only the target grade asks"
    return of_kernels(project, scope_of(platform, project.grading.study), file)


def chunks(project: Project, platform: str, study: str, kernel: str, chunk: str | None = None) -> list[str]:
    """The outputs of a kernel's chunks; none if one job measures the whole kernel, nor for the job of a chunk."""
    count = chunks_of_kernel(project, platform, study, kernel)
    files = path("chunk", platform=platform, study=study, kernel=kernel, chunks=count)
    return [files.format(chunk=number) for number in range(1, count + 1)] if count > 1 and not chunk else []


def points(project: Project, scope: str) -> list[str]:
    """The points of a scope's kernels, and of its libraries and driver's limits: one file each.

    Without a clock, only the kernels are measured: the others show nothing but times.
    """
    platform, _ = parts_of(scope)
    found = of_kernels(project, scope, "points")
    if not kind_of(platform).has_clock:
        return found
    settings = {study: project.studies[study].settings for study in project.studies_of(scope)}
    return [
        *found,
        *(
            path("rival", platform=platform, study=study, rival=rival)
            for study in settings
            for rival in settings[study].rival_names
        ),
        *(path("driver_limits", platform=platform, study=study) for study in settings if driver_limits(project, study)),
    ]


def driver_limits(project: Project, study: str) -> list[str]:
    """Which of the driver's copy and fill are limits of a study."""
    return [name for name in project.studies[study].settings.limits if name in DRIVER_LIMITS]


def measurements(project: Project, scope: str) -> list[str]:
    """The sources of a scope's judgements, tables and figures: points measured here, or a recording's measurements."""
    platform, _ = parts_of(scope)
    return [path("measurements", platform=platform)] if is_recording(platform) else points(project, scope)


def measurements_by_study(project: Project, scope: str) -> dict[str, list[str]]:
    """A scope's measurements by study, so that a reader needs only one study in memory."""
    platform, _ = parts_of(scope)
    return {study: measurements(project, scope_of(platform, study)) for study in project.studies_of(scope)}


def joined_measurements(project: Project, scope: str) -> list[str]:
    """A platform's measurements in one file; for a single study the files that it is measured into."""
    platform, study = parts_of(scope)
    return measurements(project, scope) if study else [path("measurements", platform=platform)]


def environment(project: Project, scope: str) -> list[str]:
    """environment.json, if it exists before the scope's results: where points are measured, it follows all studies."""
    platform, study = parts_of(scope)
    return [path("environment", platform=platform)] if is_recording(platform) or not study else []


def proofs(project: Project, scope: str) -> list[str]:
    """The proofs of a scope's kernels. A recording has none."""
    if is_recording(parts_of(scope)[0]):
        return []
    return [*of_kernels(project, scope, "kernel_proofs"), *sanitized_proofs(project, scope)]


def sanitized_proofs(project: Project, scope: str) -> list[str]:
    """compute-sanitizer's proofs of a scope's kernels, on a GPU.

    By config.yaml's `sanitize`, it checks what the emulator can't run, kernels whose code may differ there by nvcc's
    macros, kernels of undefined behaviour, which both may show, and kernels that were edited since the emulator ran
    them; what it has checked once follows each edit. Where it isn't installed, the first are not proven.
    """
    platform, _ = parts_of(scope)
    is_elsewhere = platform in project.config.gpu_models
    if is_recording(platform) or not kind_of(platform).needs_gpu or not (is_elsewhere or find_sanitizer()):
        return []
    found = []
    for study, kernel in project.kernels_of(scope):
        source, is_chosen = project.kernel(study, kernel), project.config.sanitize == "all"
        if project.config.sanitize == "unproven":
            files = [source.path, *(project.root / file for file in included(project, study, kernel))]
            is_special = bool(source.entry.gpu_only or source.entry.undefined_behaviour or names_gpu(files))
            is_chosen = is_special or _is_edited(project, platform, study, kernel)
        if is_chosen:
            found.append(path("sanitized_proofs", platform=platform, study=study, kernel=kernel))
    return found


@cache
def _is_edited(project: Project, platform: str, study: str, kernel: str) -> bool:
    """Whether a kernel was edited since this run found proofs of it, or before that."""
    own = {"platform": platform, "study": study, "kernel": kernel}
    proofs = Path(path("kernel_proofs", **own))
    if Path(path("sanitized_proofs", **own)).is_file():
        return True
    if not proofs.is_file():
        return False
    now = source_sha256(project.kernel(study, kernel).path, map(Path, included(project, study, kernel)))
    return any(row["source_sha256"] != now for row in islice(each_row(proofs), 1))


# Metrics and other observations


def kernel_metrics(project: Project, scope: str) -> list[str]:
    """The metrics of a scope's kernels, counted or from Nsight Compute: one file a kernel."""
    platform, _ = parts_of(scope)
    return of_kernels(project, scope, "counts" if kind_of(platform).counts else "profiled_metrics")


def made_metrics(project: Project, scope: str) -> list[str]:
    """The metrics that are made before a scope's judgements, tables and figures.

    These are a recording's metrics, or Nsight Compute's if the configuration asks for them. Counts are made only by the
    target `count`; once they exist, they follow every edit, as points do.
    """
    platform, _ = parts_of(scope)
    if is_recording(platform):
        recorded = path("recorded", name=recording_name(platform), file="metrics.csv.gz")
        return [path("metrics", platform=platform)] if Path(recorded).is_file() else []
    parts = kernel_metrics(project, scope)
    if kind_of(platform).counts:
        return [part for part in parts if Path(part).is_file()]
    return parts if project.config.profile else []


def found_metrics(project: Project, scope: str) -> dict[str, str]:
    """Existing metrics that this run uses but does not update, each with its hash."""
    platform, _ = parts_of(scope)
    if is_recording(platform) or made_metrics(project, scope):
        return {}
    return {file: sha256_of(file) for file in kernel_metrics(project, scope) if Path(file).is_file()}


def accesses(project: Project, scope: str) -> list[str]:
    """The folders with the pictures of who accesses what in a scope's studies.

    They are the emulator's, which runs beside a GPU as well, for the proofs. A run of recordings alone shows those that
    exist.
    """
    folders = [
        path("accesses", study=study) for study in project.studies_of(scope) if building.accesses(project, study)
    ]
    are_made = any(not is_recording(platform) for platform in project.platforms)
    return [folder for folder in folders if are_made or Path(folder).is_dir()]


# Judgements, tables, figures, page


def compared(project: Project, platform: str) -> list[str]:
    """The measurements that are compared with earlier ones."""
    return measurements(project, platform) if is_recording(platform) else of_compared(project, platform, "points")


def compared_proofs(project: Project, platform: str) -> list[str]:
    """The emulator's proofs of the kernels that are compared. A recording has none."""
    return [] if is_recording(platform) else of_compared(project, platform, "kernel_proofs")


def compared_accesses(project: Project, platform: str) -> list[str]:
    """The pictures of accesses of the studies with kernels that are compared. A recording's kernels are not drawn."""
    if is_recording(platform):
        return []
    studies = dict.fromkeys(study for study, _ in compared_kernels(project, platform))
    return [path("accesses", study=study) for study in studies if building.accesses(project, study)]


def of_compared(project: Project, platform: str, file: str) -> list[str]:
    """A kind of file (files.py) of each kernel that is compared."""
    compared = compared_kernels(project, platform)
    return [path(file, platform=platform, study=study, kernel=kernel) for study, kernel in compared]


def compared_kernels(project: Project, platform: str) -> list[tuple[str, str]]:
    """The kernels that are compared, each with its study: nobody waits for those that were never measured.

    They are of the run's studies, or of others if of the run's no kernel was measured. All of the run's are compared
    where another sweep is compared with, and where no kernel at all was measured.
    """
    kernels = project.kernels_of(platform)
    if project.config.compare.before != PREVIOUS:
        return kernels
    return measured_kernels(project, platform) or measured_kernels(project, scope_of(platform, OTHERS)) or kernels


def measured_kernels(project: Project, scope: str) -> list[tuple[str, str]]:
    """A scope's kernels that have been measured on its platform, each with its study."""
    platform, _ = parts_of(scope)
    kernels = [(path("journal", platform=platform, study=of[0], kernel=of[1]), of) for of in project.kernels_of(scope)]
    return [of for journal, of in kernels if journals_of(Path(journal))]


def compared_with(project: Project, platform: str) -> list[str]:
    """The earlier measurements; none for those in the journals."""
    return earlier_files(project.config.compare.before, platform, project.config.studies)


def published_numbers(project: Project, study: str) -> list[str]:
    """The file of numbers that others have published, if a study names one."""
    name = project.studies[study].settings.published
    return [f"resources/published/{name}"] if name else []


def before_end(project: Project, folder: str) -> list[str]:
    """What a run of a scope makes before it ends; another target's ends with its answer."""
    if Path(folder).name in OF_TARGETS:
        return []
    page = path("page", scope=folder)
    return [page, *joined_measurements(project, folder), *proofs(project, folder), *tables_and_figures(project, folder)]


def tables_and_figures(project: Project, scope: str) -> list[str]:
    """The tables of a scope's studies, the texts on their steps, and the folders with their figures."""
    platform, _ = parts_of(scope)
    return [
        file.format(platform=platform, study=study)
        for study in project.studies_of(scope)
        for file in (*PUBLISHED_FILES, path("steps"))
    ]


# What a study's data alone are published as. The table is in Markdown, CSV and LaTeX.
PUBLISHED_FILES = (
    *(path("table", suffix=suffix) for suffix in ("md", "csv", "tex")),
    path("best_table"),
    path("counters_table"),
    path("figures"),
)
