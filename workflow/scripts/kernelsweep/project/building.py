"""What is compiled of a kernel, and by which job: a build before it is measured, or the job that measures it."""

from __future__ import annotations

from functools import cache

from kernelsweep.platforms.kinds import GPU, kind_of
from kernelsweep.project.project import Project
from kernelsweep.sweep.kernels.units import Unit, merged_units, spread_units
from kernelsweep.sweep.resolve import kernel_units

# A kernel with more units is compiled by the job that measures it, while the GPU runs the units that are ready. Fewer
# are compiled before, in a second or two on 16 cores: then other kernels' jobs need not wait for cores.
MOST_UNITS_BEFORE = 32


@cache
def builds_while_measuring(project: Project, platform: str, study: str, kernel: str) -> bool:
    """Whether the job that measures a kernel compiles it: for a search, only the configurations that it proposes."""
    if not kind_of(platform).has_clock:
        return False
    searched = bool(project.studies[study].settings["search"])
    return searched or len(gpu_units(project, project.target(platform), study, kernel)) > MOST_UNITS_BEFORE


def gpu_units(project: Project, target: str, study: str, kernel: str) -> list[Unit]:
    """The units of a kernel with the variants that sweeps run on the GPUs of an architecture."""
    platforms = [platform for platform in project.models if project.target(platform) == target] or [GPU]
    run = [kernel_units(project.config, project.studies[study], kernel, platform, target) for platform in platforms]
    return spread_units(merged_units(run))
