"""Check sweeps before any job starts: their number of points, and that every restriction can be computed at each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.config_file import CONFIG_FILE
from kernelsweep.sweep.expressions import admits, expression
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import launched_points
from kernelsweep.sweep.resolve import kernel_axes, listed_points
from kernelsweep.sweep.settings import Config
from kernelsweep.sweep.spaces import ValidPoints
from kernelsweep.sweep.study import Study

# A restriction is tried at up to this many of a kernel's points, which takes a fraction of a second.
_MOST_TRIED = 100_000

# Launches are computed at up to this many points that differ in them, from the first to the last.
_MOST_LAUNCHED = 10


def check_sweeps(config: Config, study: Study, platforms: Iterable[str]) -> None:
    """Raise UserError for a kernel with too many points, or for a restriction that can't be computed at a point."""
    shown = study.file
    restrictions = [
        (CONFIG_FILE, number, text)
        for number, text in enumerate(config.restrictions)
        if expression(text).names <= set(study.problem.axes)
    ]
    restrictions += [(shown, number, text) for number, text in enumerate(study.settings.restrictions)]
    for name, source in study.kernels.items():
        restrictions += [(f"{shown}: {name}", number, text) for number, text in enumerate(source.restrictions)]
    sweeps = {
        (platform, kernel): kernel_axes(config, study, kernel, platform)
        for platform in platforms
        for kernel in study.kernels
    }
    for file, number, text in restrictions:
        try:
            _check_restriction(text, study.name, [axes for of_kernel in sweeps.values() for axes in of_kernel])
        except UserError as error:
            raise UserError(f"{file}: restrictions.{number}: {error}") from error
    for platform, kernel in sweeps:
        try:
            listed = listed_points(config, study, kernel, platform)
        except UserError as error:
            raise UserError(f"{shown}: the kernel {kernel!r} on {platform}: {error}") from error
        _check_launches(study.kernels[kernel], listed)


def _check_launches(kernel: KernelSource, points: ValidPoints) -> None:
    """Raise UserError for a grid or a block that CUDA doesn't allow, or where a problem's own launches are wrong."""
    keys = points.keys(axis for axis in points.axes if axis in kernel.launches.launch_names)
    numbers = np.unique(keys, return_index=True)[1]
    chosen = np.linspace(0, len(numbers) - 1, min(len(numbers), _MOST_LAUNCHED), dtype=int)
    for point in launched_points(kernel, [points[int(number)] for number in numbers[chosen]]):
        kernel.plan(point)


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
