"""What is compiled of a kernel, and by which job; the points of a kernel that are counted and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import prod
from typing import Any

from kernelsweep.base.code_hash import code_hash
from kernelsweep.base.compilers import code_variables
from kernelsweep.compile import build, nvcc
from kernelsweep.compile.build import DEFAULT_ARCHITECTURE
from kernelsweep.device.emulator import MULTIPROCESSORS
from kernelsweep.device.kinds import GPU, kind_of
from kernelsweep.errors import BuildError
from kernelsweep.home import EMULATOR_HEADERS, HOME, include_folders, of_home
from kernelsweep.observe.chosen_points import (
    DRAWN_BLOCK,
    PicturedStep,
    nearest_point,
    pictured_steps,
    points_to_profile,
)
from kernelsweep.plans import OF_MACHINE
from kernelsweep.project.files import path
from kernelsweep.project.project import Project
from kernelsweep.study.kernel_sweep import KernelSweep, units
from kernelsweep.study.kernels.launches import OF_TOOLKITS
from kernelsweep.study.kernels.units import EMULATOR, Unit, merged_units, spread_units
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import kernel_axes, kernel_units, restrictions_of
from kernelsweep.study.settings import StudySettings
from kernelsweep.study.study import Study

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
    restrictions = restrictions_of(of_study, kernel)
    settings = _of_small_problem(project, of_study, swept[0])
    sweep = KernelSweep(
        source, swept, MULTIPROCESSORS, restrictions, EMULATOR, settings.tied, searched=bool(settings.search)
    )
    # Those to profile on a GPU, without those that can't run; else the point nearest to the reference point.
    profiled = [each.point for each in points_to_profile(settings, sweep) if not each.skipped]
    if profiled or not settings.steps:  # Without steps, it is the nearest already.
        return profiled
    nearest = nearest_point(settings.reference, sweep)
    return [nearest] if nearest else []


def _of_small_problem(project: Project, study: Study, axes: Mapping[str, Sequence[Any]]) -> StudySettings:
    """A study's settings, whose reference point has few elements, but those of a block if any of `axes` has.

    Sizes that config.yaml's `axes` name stay.
    """
    reference, named = dict(study.settings.reference), project.config.axes
    sizes = [axis for axis in study.problem.size_axes if isinstance(reference.get(axis), int)]
    given = {axis: max(named[axis]) for axis in sizes if axis in named}
    reference |= given
    if not given and prod(reference[axis] for axis in sizes) < DRAWN_BLOCK:
        fill = {axis: [value for value in axes[axis] if value ** len(sizes) >= DRAWN_BLOCK] for axis in sizes}
        reference |= {axis: values[0] for axis, values in fill.items() if values}
    while not given and prod(reference[axis] for axis in sizes) > _MOST_ELEMENTS:
        reference |= {axis: reference[axis] // 2 for axis in sizes}
    return study.settings.changed(reference=reference)


@cache
def accesses(project: Project, study: str) -> list[PicturedStep]:
    """The steps of a study's story that have a picture of their accesses."""
    of_study = project.studies[study]
    return pictured_steps(of_study, {kernel: counted(project, study, kernel) for kernel in of_study.kernels})


@cache
def compiles_what_it_measures(project: Project, platform: str, study: str) -> bool:
    """Whether the job that measures a kernel compiles it: for a search, only the configurations that it proposes.

    For this machine's GPU, too, while the GPU is opened and runs the units that are ready. A cluster's nodes with GPUs
    may have no compiler, and their time costs more than this machine's.
    """
    is_here = platform in project.models and project.models[platform].count > 0
    return is_here or not kind_of(platform).has_clock or bool(project.studies[study].settings.search)


@cache
def compiled_units(project: Project, target: str, study: str, kernel: str) -> list[Unit]:
    """The units of a kernel with the variants that sweeps run on a target, or that are counted or drawn there."""
    source, of_study = project.kernel(study, kernel), project.studies[study]
    if target == EMULATOR:
        run = kernel_units(project.config, of_study, kernel, EMULATOR, target)
        drawn = [step.point for step in accesses(project, study) if step.kernel == kernel]
        return merged_units([run, units(source, [*counted(project, study, kernel), *drawn])])
    platforms = [platform for platform in project.models if project.target(platform) == target] or [GPU]
    every = [kernel_units(project.config, of_study, kernel, platform, target) for platform in platforms]
    return spread_units(merged_units(every))


def build_settings(
    project: Project, study: str, kernel: str, target: str = EMULATOR, platform: str = EMULATOR
) -> dict[str, Any]:
    """What the build of a kernel depends on besides its files, as plain values (compile/builder.py).

    platform  a GPU, as which the emulator compiles
    """
    source = project.kernel(study, kernel)
    return {
        **_compiler_of(project, target, study),
        "units": compiled_units(project, target, study, kernel),
        "options": list(source.options),
        "constants": source.entry.host_variables,
        "gpu": DEFAULT_ARCHITECTURE if kind_of(platform).target else project.target(platform),
        "is_candidate": bool(project.grading and kernel in project.grading.candidates),
    }


def measuring_build(project: Project, platform: str, study: str, kernel: str) -> dict[str, Any] | None:
    """The settings by which the job that measures a kernel compiles it; None where another job does so before."""
    if not compiles_what_it_measures(project, platform, study):
        return None
    target = project.target(platform)
    if target == EMULATOR:
        return build_settings(project, study, kernel)
    return _compiler_of(project, target, study)


def _compiler_of(project: Project, target: str, study: str) -> dict[str, Any]:
    """What compiles a study, with the compiler of each release of the CUDA toolkit that an axis names."""
    settings = compiler(project, target)
    releases = [] if target == EMULATOR else project.studies[study].settings.axes.get(OF_TOOLKITS, [])
    toolkits = {release: _told(nvcc.version, release) for release in map(str, releases)}
    return {**settings, OF_MACHINE: {**settings[OF_MACHINE], "toolkits": toolkits}}


def _told(asked: Callable[[str], str], of: str) -> str | None:
    """A compiler's release; None where it is missing here, as where jobs run on other machines."""
    with suppress(BuildError):
        return asked(of)
    return None


@cache
def compiler(project: Project, target: str) -> dict[str, Any]:
    """What compiles for a target on this machine: the compiler's release, and the environment variables that change
    its code.
    """
    return {
        "target": target,
        OF_MACHINE: {"release": _told(build.compiler_of, target), "variables": code_variables()},
        "include": include_folders(project.root),
        "emulator": of_home(EMULATOR_HEADERS, project.root),
        "runtime": path("emulator_runtime", target=target, suffix="o") if target == EMULATOR else None,
        "emulator_code": code_hash(sorted((HOME / EMULATOR_HEADERS).glob("**/*.h*"))) if target == EMULATOR else None,
        # Not an output: Snakemake deletes those before a job starts, and compiled units must survive.
        "store": path("unit_store"),
    }
