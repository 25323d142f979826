"""The number of points of a job, its priority and cores, and what it asks a cluster for."""

from __future__ import annotations

import math
from functools import cache

from kernelsweep.device.kinds import kind_of
from kernelsweep.project.building import compiled_units, compiles_what_it_measures
from kernelsweep.project.project import Project
from kernelsweep.study.kernel_sweep import searched_count
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.resolve import listed_points

# The cores of a job that compiles what it measures, where Snakemake knows of no limit, as in workflow/profiles/slurm.
CLUSTER_CORES = 4

# One core of so many proves kernels while others measure and compile: else a proof would wait for the GPU.
PART_PROVING = 4

# Priorities: of what all others wait for, and of what no GPU waits for.
FIRST, LAST = 1_000, -1


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


def priority(project: Project, study: str, platform: str = "", target: str = "") -> int:
    """The priority of a job that measures or builds a study's kernels: the first study is drawn while others run.

    Beside a GPU, the emulator comes last.
    """
    if project.models and (target == EMULATOR or (platform and not kind_of(platform).has_clock)):
        return LAST
    studies = project.config.studies
    return FIRST - 1 - (studies.index(study) if study in studies else 0)


def build_threads(project: Project, target: str, study: str, kernel: str, cores: int | None) -> int:
    """The cores on which a kernel's units are compiled side by side; the jobs that measure meanwhile have theirs."""
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
