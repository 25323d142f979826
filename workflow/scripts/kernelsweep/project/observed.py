"""The points of a project's kernels that are observed: whose accesses to memory are counted, and which are drawn."""

from __future__ import annotations

from functools import cache
from math import prod

from kernelsweep.observe.chosen_points import PicturedStep, nearest_point, pictured_steps, points_to_profile
from kernelsweep.platforms.emulator import MULTIPROCESSORS
from kernelsweep.project.project import Project
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.resolve import kernel_axes, restrictions_of
from kernelsweep.sweep.settings import StudySettings
from kernelsweep.sweep.study import Study

# A platform that no setting names.
_NO_PLATFORM = ""

# A larger problem is halved until it has no more elements. What a block does is the same.
_MOST_ELEMENTS = 2**18


# Each kernel's build, and its study's pictures, ask.
@cache
def counted(project: Project, study: str, kernel: str) -> list[Point]:
    """A kernel's points to count: those that Nsight Compute is given, of a small problem and on MULTIPROCESSORS."""
    of_study, source = project.studies[study], project.kernel(study, kernel)
    # The steps of a story are counted where a GPU runs them; else nothing but the study's values for the emulator tells
    # how much data that can take.
    platform = _NO_PLATFORM if of_study.settings.steps else EMULATOR
    swept = kernel_axes(project.config, of_study, kernel, platform)[:1]
    restrictions = restrictions_of(project.config, of_study, kernel)
    settings = _of_small_problem(project, of_study)
    sweep = KernelSweep(
        source, swept, MULTIPROCESSORS, restrictions, EMULATOR, settings.tied, searched=bool(settings.search)
    )
    # Those to profile on a GPU, without those that can't run; else the point nearest to the reference point.
    profiled = [each.point for each in points_to_profile(settings, sweep) if not each.skipped]
    if profiled or not settings.steps:  # Without steps, it is the nearest already.
        return profiled
    nearest = nearest_point(settings.reference, sweep)
    return [nearest] if nearest else []


def _of_small_problem(project: Project, study: Study) -> StudySettings:
    """A study's settings, whose reference point has few elements, or the sizes that config.yaml's `axes` name."""
    reference, named = dict(study.settings.reference), project.config.axes
    sizes = [axis for axis in study.problem.size_axes if isinstance(reference.get(axis), int)]
    given = {axis: max(named[axis]) for axis in sizes if axis in named}
    reference |= given
    while not given and prod(reference[axis] for axis in sizes) > _MOST_ELEMENTS:
        reference |= {axis: reference[axis] // 2 for axis in sizes}
    return study.settings.changed(reference=reference)


@cache
def accesses(project: Project, study: str) -> list[PicturedStep]:
    """The steps of a study's story that have a picture of their accesses."""
    of_study = project.studies[study]
    return pictured_steps(
        project.config, of_study, {kernel: counted(project, study, kernel) for kernel in of_study.kernels}
    )
