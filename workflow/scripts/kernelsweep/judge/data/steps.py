"""The steps of a study's ladder: their rows, and their names in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

import numpy as np
import pandas

from kernelsweep.errors import UserError
from kernelsweep.judge.data.words import list_texts, step_name
from kernelsweep.study.axes import LARGEST_GRID, grid_on_device
from kernelsweep.study.expressions import number
from kernelsweep.study.settings import StudySettings, sides_of


@dataclass(frozen=True)
class Step:
    """One step of a study's ladder.

    axes       its values on axes, besides its grid
    name       for readers: `interleaved`, `unrolled ×8`
    grid_size  None where the kernel sets the number of blocks itself
    grid       the sides of its first launch's grid, as expressions over the axes
    """

    kernel: str
    axes: Mapping[str, Any]
    name: str
    grid_size: int | None = None
    grid: Sequence[str | float] = ("grid_size",)

    def rows(self, measurements: pandas.DataFrame) -> pandas.DataFrame:
        """This step's rows. Where its launches fit the grid to the array, small arrays have a smaller grid."""
        are_own = [(measurements["kernel"] == self.kernel).to_numpy(bool)]
        for axis in self.axes.keys() & {*measurements}:
            is_own = (measurements[axis] == self.axes[axis]) | measurements[axis].isna()
            are_own.append(is_own.fillna(False).to_numpy(bool))
        rows = measurements[np.logical_and.reduce(are_own)]  # One selection: each copies all columns.
        if self.grid_size is None:
            return rows
        blocks = [self._blocks({**row, "grid_size": self.grid_size}) for row in rows.to_dict("records")]
        return rows[(rows["grid_size"] == blocks).fillna(False).astype(bool)]

    def _blocks(self, point: Mapping[Any, Any]) -> int:
        """The blocks of the first launch at a point, as measurements.csv has them; 0 if an axis has no value there."""
        try:
            return prod(ceil(number(side, point)) for side in self.grid)
        except UserError:
            return 0


def ladder_steps(study: StudySettings, device: Mapping[str, Any]) -> list[Step]:
    """The steps of the study's ladder, in the order of its story, for a device with its multiprocessors."""
    steps, first = [], {kernel.name: sides_of(kernel.launches[0].grid) for kernel in study.kernels if kernel.launches}
    varied = varied_axes([step.axes for step in study.steps])
    named = [axis for axis in (study.steps[0].axes if study.steps else ()) if axis in {"unroll", *varied}]
    for step in study.steps:
        ladder_step = Step(step.kernel, step.axes, step_name(step.kernel, {axis: step.axes[axis] for axis in named}))
        if step.grid_size is not None:
            blocks = grid_on_device(step.grid_size, device["multiprocessors"], study.reference["block_size"])
            ladder_step = replace(ladder_step, grid_size=blocks, grid=first.get(step.kernel, ladder_step.grid))
        steps.append(ladder_step)
    return steps


def varied_axes(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """The axes on which steps have several values."""
    return [axis for axis in (steps[0] if steps else ()) if len({step[axis] for step in steps}) > 1]


def step_labels(steps: Sequence[Step]) -> list[str]:
    """The steps' names, with the grid sizes where these differ."""
    shown = [step.grid_size if _grids_differ(steps) else None for step in steps]
    return [step.name + (f" ({grid:,} blocks)" if grid else "") for step, grid in zip(steps, shown, strict=True)]


def grids_text(steps: Sequence[Step]) -> str:
    """A caption's sentence on the steps' own grid sizes, " 1,056 thread blocks: cascaded and warp_shuffle.".

    "" without any, and where step_labels() names them.
    """
    names: dict[int, list[str]] = {}
    for step in steps:
        if step.grid_size is not None and not _grids_differ(steps):
            names.setdefault(step.grid_size, []).append(step.name)
    known = {grid: f"{grid:,} thread blocks" for grid in names} | {LARGEST_GRID: "As many thread blocks as needed"}
    return "".join(f" {known[grid]}: {list_texts([*dict.fromkeys(of)], len(of))}." for grid, of in names.items())


def _grids_differ(steps: Sequence[Step]) -> bool:
    """Whether the steps' own grid sizes are several; one that is as large as needed is named in captions."""
    grids = {step.grid_size for step in steps if step.grid_size is not None}
    return len(grids) > 1 and LARGEST_GRID not in grids
