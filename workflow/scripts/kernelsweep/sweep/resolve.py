"""From the configuration and a study to a kernel's axes and variants on a platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.sweep.axes import Axes, axes_on_device, resolve_axes
from kernelsweep.sweep.candidates import considered
from kernelsweep.sweep.kernels.source import GRID_SIZE
from kernelsweep.sweep.kernels.units import Unit
from kernelsweep.sweep.points import ValidPoints, names_grid, units, valid_points
from kernelsweep.sweep.quick import quick_axes
from kernelsweep.sweep.spaces import combination_count
from kernelsweep.sweep.study import Study


def kernel_axes(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> list[Axes]:
    """A kernel's axes on a platform: the sweep's, replaced by the platform's, the study's, the kernel's and the run's.

    Returns the sweep's axes; in a full sweep, the axes of the study's further points follow.
    """
    return swept_axes(config, study, study.entry(kernel), study.kernels[kernel].chooses_grid, platform)


def swept_axes(
    config: Mapping[str, Any], study: Study, entry: Mapping[str, Any], chooses_grid: bool, platform: str
) -> list[Axes]:
    """The axes of the points of a study's kernel, or of what is measured beside the kernels.

    entry         the kernel's in the study; its axes replace the study's
    chooses_grid  whether the axis grid_size says how many blocks are launched; else the axis has no value

    Returns the sweep's axes, in a quick sweep with fewer values (quick.py); in a full sweep, the axes of the study's
    further points follow.
    """
    further = study.settings["further"] if config["sweep"] == "full" else []
    sweeps = []
    for last in ({}, *further):
        searched = study.settings["search"]["at"] if study.settings["search"] else {}
        layers = [config["sweeps"][config["sweep"]], _axes_of_platform(config, platform)]
        layers += [study.settings["axes"], {axis: [value] for axis, value in searched.items()}]
        layers.append(_axes_of_platform(study.settings, platform))
        for settings in (entry, last):
            layers += [settings.get("axes", {}), _axes_of_platform(settings, platform)]
        axes = resolve_axes(study.problem.axes, *layers, config["axes"])
        if config["sweep"] == "quick":
            # A platform's values are chosen for what it can run, and the run's are what the user wants to see.
            kept = {*config["axes"]}.union(
                *(_axes_of_platform(place, platform) for place in (config, study.settings, entry))
            )
            quick = config["sweeps"]["quick"]
            # A kernel is judged by its best configuration, so these stay.
            named = {
                axis: value
                for axis, value in study.settings["reference"].items()
                if axis in quick or not study.problem.axes[axis].of_kernel
            }
            axes = quick_axes(axes, quick, named, study.settings["tied"], kept)
        if GRID_SIZE in axes and not chooses_grid:
            axes[GRID_SIZE] = [None]
        sweeps.append(axes)
    return sweeps


def _axes_of_platform(settings: Mapping[str, Any], platform: str) -> Mapping[str, Any]:
    axes: Mapping[str, Any] = settings.get("platforms", {}).get(platform, {}).get("axes", {})
    return axes


def restrictions_of(config: Mapping[str, Any], study: Study, kernel: str | None = None) -> list[str]:
    """The conditions that every point of a study's kernel must meet; without a kernel, of what is measured beside."""
    of_kernel = study.kernels[kernel].restrictions if kernel else ()
    return [*config["restrictions"], *study.settings["restrictions"], *of_kernel]


def listed_points(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> ValidPoints:
    """A kernel's points on a platform.

    Of a study with a search, these are the points that the search may measure, or a selection to check (candidates.py).
    Grids that are counted in multiprocessors are those of a device with one.
    """
    found = _valid(config, study, kernel, platform)
    return considered(found, study.problem, platform) if study.settings["search"] else found


def valid_count(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> int:
    """The number of points of a kernel that meet every restriction, whether they are run or not."""
    return len(_valid(config, study, kernel, platform))


def _valid(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> ValidPoints:
    sweeps = [axes_on_device(axes, 1) for axes in kernel_axes(config, study, kernel, platform)]
    restrictions = [text for text in restrictions_of(config, study, kernel) if not names_grid(text)]
    return valid_points(sweeps, restrictions, study.settings["tied"])


def combinations_of(config: Mapping[str, Any], study: Study, kernel: str, platform: str) -> int:
    """The number of combinations of a kernel's axis values, before restrictions."""
    sweeps = kernel_axes(config, study, kernel, platform)
    return sum(combination_count(axes, study.settings["tied"]) for axes in sweeps)


def kernel_units(
    config: Mapping[str, Any], study: Study, kernel: str, platform: str, target: str | None = None
) -> list[Unit]:
    """The translation units with a kernel's variants that must be compiled for its sweep on a platform.

    target  what is compiled for: an architecture such as sm_90, or the emulator; None for a GPU of any architecture

    Restrictions on grid sizes are left out; no variant depends on the grid.
    """
    source = study.kernels[kernel]
    if source.unsupported_on(target):
        return []
    points = listed_points(config, study, kernel, platform)
    return units(source, (points[int(alike[0])] for alike in points.groups(source.variant_axes)))
