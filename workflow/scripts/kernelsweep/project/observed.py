"""The points of a project's kernels that are observed: whose accesses to memory are counted, and which are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from kernelsweep.json_files import check_device, read_json
from kernelsweep.observe.chosen_points import PicturedStep, nearest_point, pictured_steps, points_to_profile
from kernelsweep.platforms.choose import recordings
from kernelsweep.platforms.emulator import MULTIPROCESSORS
from kernelsweep.project.files import path
from kernelsweep.project.project import Project
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.resolve import kernel_axes, restrictions_of
from kernelsweep.sweep.study import Study

# A platform that no setting names.
_NO_PLATFORM = ""


@dataclass(frozen=True)
class CountedPoints:
    """A kernel's points to count.

    points  the points that Nsight Compute is given on the emulator's number of multiprocessors and on that of each
            recording with counters, so that counts can be compared with these
    own     those on the emulator's number
    """

    points: Sequence[Point]
    own: Sequence[Point]


# Each kernel's build, and its study's pictures, ask.
@cache
def counted(project: Project, study: str, kernel: str) -> CountedPoints:
    """A kernel's points to count."""
    of_study, source = project.studies[study], project.kernel(study, kernel)
    # The steps of a story are counted where a GPU runs them; else nothing but the study's values for the emulator tells
    # how much data that can take.
    platform = _NO_PLATFORM if of_study.settings.steps else EMULATOR
    swept = kernel_axes(project.config, of_study, kernel, platform)[:1]
    restrictions = restrictions_of(project.config, of_study, kernel)
    settings = of_study.settings
    sweep = KernelSweep(source, swept, 0, restrictions, EMULATOR, settings.tied, bool(settings.search))
    devices = [MULTIPROCESSORS, *(_multiprocessors(project, name) for name in profiled_recordings(project))]
    own, *others = [_counted_points(of_study, replace(sweep, multiprocessors=count)) for count in devices]
    return CountedPoints(list(dict.fromkeys(sum(others, own))), own)


def _counted_points(study: Study, sweep: KernelSweep) -> list[Point]:
    """The points to profile on a GPU, without those that can't run; else the point nearest to the reference point."""
    profiled = [each.point for each in points_to_profile(study.settings, sweep) if not each.skipped]
    if profiled or not study.settings.steps:  # Without steps, it is the nearest already.
        return profiled
    nearest = nearest_point(study.settings.reference, sweep)
    return [nearest] if nearest else []


@cache
def accesses(project: Project, study: str) -> list[PicturedStep]:
    """The steps of a study's story that have a picture of their accesses."""
    of_study = project.studies[study]
    return pictured_steps(
        project.config, of_study, {kernel: counted(project, study, kernel).own for kernel in of_study.kernels}
    )


def profiled_recordings(project: Project) -> list[str]:
    """The recordings that have counters, the newest first."""
    file = path("recorded", file="metrics.csv.gz")
    return [name for name in recordings(project.root) if (project.root / file.format(name=name)).is_file()]


def _multiprocessors(project: Project, recording: str) -> int:
    """The multiprocessors of a recording's GPU, by which some launches choose their grid."""
    file = path("recorded", name=recording, file="environment.json")
    environment = read_json(project.root / file)
    check_device(environment.get("device"), file)
    return int(environment["device"]["multiprocessors"])
