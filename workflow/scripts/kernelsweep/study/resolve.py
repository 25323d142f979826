"""From the configuration and a study to a kernel's axes and variants on a platform."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.study.axes import Axes, resolve_axes
from kernelsweep.study.kernel_sweep import launched_points, points_of_search, swept_points, units
from kernelsweep.study.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.study.kernels.units import Unit
from kernelsweep.study.settings import AxesLayer, Config
from kernelsweep.study.spaces import ValidPoints, tied_rows
from kernelsweep.study.study import Study


def kernel_axes(config: Config, study: Study, kernel: str, platform: str) -> list[Axes]:
    """A kernel's axes on a platform: the sweep's, replaced by the platform's, the study's, the kernel's and the run's.

    Returns the sweep's axes; in a full sweep, the axes of the study's further points follow.
    """
    return swept_axes(config, study, study.entry(kernel), study.kernels[kernel].chooses_grid, platform)


def swept_axes(config: Config, study: Study, entry: AxesLayer, chooses_grid: bool, platform: str) -> list[Axes]:
    """The axes of the points of a study's kernel, or of what is measured beside the kernels.

    entry         the kernel's in the study; its axes replace the study's
    chooses_grid  whether the axis grid_size says how many blocks are launched; else the axis has no value

    Returns the sweep's axes, in a quick sweep with fewer values; in a full sweep, the axes of the study's
    further points follow.
    """
    settings, is_quick = study.settings, config.sweep == "quick"
    searched = settings.search.at if settings.search else {}
    sweeps = []
    for last in (AxesLayer(), *([] if is_quick else settings.further)):
        layers = [config.sweeps.quick if is_quick else config.sweeps.full, config.axes_on(platform)]
        layers += [settings.axes, {axis: [value] for axis, value in searched.items()}, settings.axes_on(platform)]
        for layer in (entry, last):
            layers += [layer.axes, layer.axes_on(platform)]
        axes = resolve_axes(study.problem.axes, *layers, config.axes)
        if is_quick:
            # A platform's values are chosen for what it can run, and the run's are what the user wants to see.
            kept = {*config.axes}.union(*(place.axes_on(platform) for place in (config, settings, entry)))
            # A kernel is judged by its best configuration, so these stay.
            named = {
                axis: value
                for axis, value in settings.reference.items()
                if axis in config.sweeps.quick or not study.problem.axes[axis].of_kernel
            }
            axes = _quick_axes(axes, config.sweeps.quick, named, settings.tied, kept)
        if GRID_SIZE in axes and not chooses_grid:
            axes[GRID_SIZE] = [None]
        sweeps.append(axes)
    return sweeps


def _quick_axes(
    axes: Mapping[str, Sequence[Any]],
    quick: Mapping[str, Sequence[Any]],
    reference: Mapping[str, Any],
    tied: Sequence[Sequence[str]],
    kept: Collection[str],
) -> Axes:
    """A kernel's axes with the values only that the quick sweep or the study's reference point names.

    axes       as the study and the kernel have them
    quick      config.yaml's sweeps.quick
    reference  the study's reference point
    tied       groups of axes that vary together: of these, the rows in which each value is named
    kept       axes that keep their values, such as those of one platform

    An axis, or a group, of which no value is named keeps all of them.
    """
    named = {axis: {*quick.get(axis, ()), reference.get(axis)} for axis in axes}
    chosen = {axis: list(values) for axis, values in axes.items()}
    group_of = {axis: tuple(group) for group in tied for axis in group if axis in axes}
    for group in dict.fromkeys(group_of.get(axis, (axis,)) for axis in axes):
        if any(axis in kept for axis in group):
            continue
        told = [axis for axis in group if axis in quick or axis in reference]
        rows = tied_rows(chosen, group)
        found = [row for row in rows if told and all(row[group.index(axis)] in named[axis] for axis in told)]
        for number, axis in enumerate(group):
            chosen[axis] = [row[number] for row in found or rows]
    return chosen


def restrictions_of(study: Study, kernel: str | None = None) -> list[str]:
    """The conditions that every point of a study's kernel must meet; without a kernel, of what is measured beside."""
    of_kernel = study.entry(kernel).restrictions if kernel else ()
    return [*study.settings.restrictions, *of_kernel]


def listed_points(config: Config, study: Study, kernel: str, platform: str) -> ValidPoints:
    """A kernel's points on a platform.

    Of a study with a search, these are points_of_search().
    Grids that are counted in multiprocessors are those of a device with one.
    """
    found = points_of_axes(study, kernel, kernel_axes(config, study, kernel, platform))
    return points_of_search(found, study.problem, platform) if study.settings.search else found


def points_of_axes(study: Study, kernel: str, axes: Sequence[Axes]) -> ValidPoints:
    """A kernel's points on these axes that meet every restriction, whether they are run or not."""
    return swept_points(axes, 1, restrictions_of(study, kernel), study.settings.tied)


def kernel_units(config: Config, study: Study, kernel: str, platform: str, target: str | None = None) -> list[Unit]:
    """The translation units with a kernel's variants that must be compiled for its sweep on a platform.

    target  what is compiled for: an architecture such as sm_90, or the emulator; None for a GPU of any architecture

    Restrictions on grid sizes are left out; no variant depends on the grid.
    """
    source = study.kernels[kernel]
    if source.unsupported_on(target):
        return []
    points = listed_points(config, study, kernel, platform)
    return units(source, points.at(points.firsts(source.variant_axes)))


# Launches are computed at up to this many points that differ in them, from the first to the last.
_MOST_LAUNCHED = 10


def check_sweeps(config: Config, study: Study, platforms: Iterable[str]) -> None:
    """Raise UserError for a kernel with too many points, or for one at which a launch or a restriction is wrong."""
    sweeps = [(platform, kernel) for platform in platforms for kernel in study.kernels]
    for platform, kernel in sweeps:
        try:
            listed = listed_points(config, study, kernel, platform)
        except UserError as error:
            where = study.file.line(f"kernels.{kernel}")
            raise UserError(f"{where}: the kernel {kernel!r} on {platform}: {error}") from error
        _check_launches(study.kernels[kernel], listed)


def _check_launches(kernel: KernelSource, points: ValidPoints) -> None:
    """Raise UserError for a grid or a block that CUDA doesn't allow, or where a problem's own launches are wrong."""
    numbers = points.firsts(axis for axis in points.axes if axis in kernel.launches.launch_names)
    chosen = np.linspace(0, len(numbers) - 1, min(len(numbers), _MOST_LAUNCHED), dtype=int)
    for point in launched_points(kernel, [points[int(number)] for number in numbers[chosen]]):
        kernel.plan(point)
