"""Check sweeps before any job starts: their number of points, and that every restriction can be computed at each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.config_file import CONFIG_FILE
from kernelsweep.sweep.expressions import admits, expression
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import ValidPoints
from kernelsweep.sweep.resolve import kernel_axes, listed_points
from kernelsweep.sweep.study import Study

# One kernel's sweep with more points would take weeks, and its table more memory than most machines have.
MOST_POINTS = 10_000_000

# A restriction is tried at up to this many of a kernel's points, which takes a fraction of a second.
_MOST_TRIED = 100_000

# Launches are computed at up to this many points that differ in them, from the first to the last. A second's worth.
_MOST_LAUNCHED = 20_000


def check_sweeps(config: Mapping[str, Any], study: Study, platforms: Iterable[str]) -> None:
    """Raise UserError for a kernel with too many points, or for a restriction that can't be computed at a point."""
    shown = study.file
    restrictions = [
        (CONFIG_FILE, number, text)
        for number, text in enumerate(config["restrictions"])
        if study.problem.lists_excluded or expression(text).names <= set(study.problem.axes)
    ]
    restrictions += [(shown, number, text) for number, text in enumerate(study.settings["restrictions"])]
    sweeps = {
        (platform, kernel): kernel_axes(config, study, kernel, platform)
        for platform in platforms
        for kernel in study.kernels
    }
    for (platform, kernel), of_kernel in sweeps.items():
        listed = listed_points(config, study, kernel, platform)
        spanned = sum(math.prod(len(values) for values in axes.values()) for axes in of_kernel)
        count = spanned if listed is None else len(listed)
        if count > MOST_POINTS:
            raise UserError(
                f"{shown}: the axes of {kernel!r} span {count:,} points on {platform}; at most {MOST_POINTS:,} are "
                "swept. Take values away."
            )
        if listed is not None:
            _check_launches(study.kernels[kernel], listed)
    for file, number, text in restrictions:
        try:
            _check_restriction(text, study.name, [axes for of_kernel in sweeps.values() for axes in of_kernel])
        except UserError as error:
            raise UserError(f"{file}: restrictions.{number}: {error}") from error


def _check_launches(kernel: KernelSource, points: ValidPoints) -> None:
    """Raise UserError for a grid or a block that CUDA doesn't allow, or where a problem's own launches are wrong."""
    if kernel.listed:
        keys = points.combinations.keys(axis for axis in points.axes if axis in kernel.listed.launch_names)
        numbers = np.unique(keys, return_index=True)[1]
        for number in numbers[:: math.ceil(len(numbers) / _MOST_LAUNCHED) or 1]:
            kernel.listed.at(points[int(number)])


def _check_restriction(text: str, study: str, sweeps: Iterable[Axes]) -> None:
    """Raise UserError if no kernel of a study has the axes of a restriction, or if it can't be computed at a point."""
    condition = expression(text)
    names = sorted(condition.names)
    there = {name for axes in sweeps for name in names if axes.get(name, [None]) not in ([None], [""])}
    for name in names:
        if name not in there:
            raise UserError(f"{text!r}: no kernel of the study {study} has the axis {name}.")
    for values in {tuple(tuple(_known(name, axes)) for name in names) for axes in sweeps}:
        for point in itertools.islice(itertools.product(*values), _MOST_TRIED):
            admits(text, dict(zip(names, point, strict=True)))


def _known(name: str, axes: Axes) -> Iterable[Any]:
    """An axis' values, without the grids that are counted in multiprocessors: no device is known yet."""
    values = axes.get(name, [None])
    return [value for value in values if not isinstance(value, str)] if name == "grid_size" else values
