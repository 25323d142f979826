"""The number of points of a job, its priority and cores, and what it asks a cluster for."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

from kernelsweep.device.kinds import kind_of
from kernelsweep.project.building import compiled_units, compiles_what_it_measures
from kernelsweep.project.files import scope_of
from kernelsweep.project.project import Project
from kernelsweep.study.kernel_sweep import searched_count
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.resolve import listed_points

# The cores of a job that compiles what it measures, where Snakemake knows of no limit, as in workflow/profiles/slurm.
CLUSTER_CORES = 4

# One core of so many proves kernels while others measure and compile: else a proof would wait for the GPU.
PART_PROVING = 4

# Priorities: of what all others wait for, of baselines, and of measuring. A kernel's place among the others is added to
# the last, and is its build's priority.
FIRST, BASELINES, MEASURING = 3_000_000, 2_000_000, 1_000_000


@cache
def spanned_points(project: Project, platform: str, study: str, kernel: str) -> int:
    """The number of points that a kernel's axes span on a platform, including those that are skipped.

    Of a study with a search, it is the number of points that the search measures.
    """
    of_study = project.studies[study]
    listed = listed_points(project.config, of_study, kernel, platform)
    if of_study.settings.search and kind_of(platform).has_clock:
        return searched_count(listed, of_study.problem, of_study.settings.search.budget)
    return len(listed)


def chunks_of_kernel(project: Project, platform: str, study: str, kernel: str) -> int:
    """The number of chunks that a kernel's sweep is cut into; 1 if one job measures, or searches, the whole kernel."""
    if project.studies[study].settings.search:
        return 1
    return max(1, math.ceil(spanned_points(project, platform, study, kernel) / project.config.points_per_job))


def points_of_job(project: Project, platform: str, study: str, kernel: str, chunks: str | None = None) -> int:
    """The most points that a job of a kernel measures.

    chunks  the number of chunks, if the job measures one of them; the kernel's own job then measures none
    """
    points = spanned_points(project, platform, study, kernel)
    if chunks:
        return math.ceil(points / int(chunks))
    return points if chunks_of_kernel(project, platform, study, kernel) == 1 else 0


def measuring_threads(project: Project, platform: str, study: str, kernel: str, cores: int | None) -> int:
    """The cores of the job that measures a kernel: one, unless it compiles the kernel, too.

    cores  Snakemake's; None where it doesn't know, as on a cluster

    A search takes the cores that prove no kernel, and the GPUs that are free. Sweeps share them, so that each GPU has
    one to measure.
    """
    if not compiles_what_it_measures(project, platform, study):
        return 1
    if not kind_of(platform).has_clock:  # It compiles first, and then measures.
        return min(len(compiled_units(project, project.target(platform), study, kernel)), cores or CLUSTER_CORES)
    if project.studies[study].settings.search:
        units, gpus = spanned_points(project, platform, study, kernel), 1
    else:
        units = len(compiled_units(project, project.target(platform), study, kernel))
        gpus = project.models[platform].count or 1
    cores = cores or CLUSTER_CORES
    return max(1, min(units + 1, (cores - math.ceil(cores / PART_PROVING)) // gpus))


def proving_threads(project: Project, study: str, kernel: str, cores: int | None) -> int:
    """The cores of the job that proves a kernel on the emulator, beside a GPU; `cores` as for measuring_threads()."""
    return max(1, min(len(compiled_units(project, EMULATOR, study, kernel)), (cores or CLUSTER_CORES) // PART_PROVING))


def measuring_priority(project: Project, platform: str, study: str, kernel: str, chunks: str | None = None) -> int:
    """The priority of a job that measures points: one study after another, so that the first are drawn meanwhile.

    The studies with the most points come first, and in each the kernels with the most points. So the last study is
    small, and no GPU is still busy for long when others are idle. All come before builds: a GPU measures as soon as one
    kernel is built. Beside a GPU, the emulator comes last.
    """
    if project.models and not kind_of(platform).has_clock:
        return -1
    if not points_of_job(project, platform, study, kernel, chunks):
        return 0
    return MEASURING + _place(project, platform, study, kernel)


@cache
def _place(project: Project, platform: str, study: str, kernel: str) -> int:
    """The place of a kernel among those of its run, from 1 for the fewest points."""
    # A study that config.yaml doesn't list is run alone.
    scope = platform if study in project.config.studies else scope_of(platform, study)
    points = {one: spanned_points(project, platform, *one) for one in project.kernels_of(scope)}
    of_study: Counter[str] = Counter()
    for (name, _), count in points.items():
        of_study[name] += count
    by_points = sorted(points, key=lambda one: (of_study[one[0]], one[0], points[one]))
    return 1 + by_points.index((study, kernel))


def build_priority(project: Project, target: str, study: str | None = None, kernel: str | None = None) -> int:
    """The priority of a kernel's build for a target, or of what all of the target's kernels need: as they are measured.

    Beside a GPU, the emulator's builds come last, as the proofs that need them: the GPU waits for none.
    """
    if target == EMULATOR and project.models:
        return -1
    platforms = [platform for platform in project.models if project.target(platform) == target]
    if study is None or kernel is None or not platforms:
        return FIRST
    return _place(project, platforms[0], study, kernel)


def build_threads(project: Project, target: str, study: str, kernel: str, cores: int | None) -> int:
    """The cores on which a kernel's units are compiled side by side; the jobs that measure meanwhile have theirs.

    cores  Snakemake's; None where it doesn't know, as on a cluster
    """
    units, gpus = len(compiled_units(project, target, study, kernel)), gpu_count(project)
    return min(units, max(1, cores - most_measuring(gpus, cores))) if gpus and cores else units


def gpu_count(project: Project) -> int:
    """The number of this machine's GPUs that this run measures on."""
    return sum(model.count for model in project.models.values())


def most_measuring(gpus: int, cores: int) -> int:
    """How many jobs that measure may run at once on `gpus` GPUs of this machine.

    A job on each GPU, and some that have prepared everything and wait for one: to prepare a kernel of a small study
    takes a core several times as long as the GPU needs for it. The other cores build, prove and draw meanwhile.
    """
    return max(1, min(max(gpus + 2, cores // 3), cores - 1))


def resource(project: Project, platform: str, name: str) -> str | int | None:
    """The amount of a resource that a job at a platform's device asks for; None if it needs none."""
    own = project.config.gpu_models[platform].resources if platform in project.config.gpu_models else {}
    return own.get(name, 1 if name == "gpu" and kind_of(platform).needs_gpu else None)
