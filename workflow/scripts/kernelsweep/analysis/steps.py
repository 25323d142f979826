"""The steps of a study's ladder: their rows, and their names in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas

from kernelsweep.analysis.words import step_name
from kernelsweep.results import POINT_COLUMNS
from kernelsweep.sweep.axes import LARGEST_GRID, grid_on_device
from kernelsweep.sweep.settings import StudySettings

# The vectors that threads load, and the blocks of a cluster, in kernels whose launches fit their grid to the array.
_VECTOR_BYTES = 16
_CLUSTER_SIZE = 8


@dataclass(frozen=True)
class Step:
    """One step of a study's ladder; grid_size is None where the kernel sets the number of blocks itself."""

    kernel: str
    unroll: int
    grid_size: int | None = None

    @property
    def values(self) -> dict[str, int]:
        """The step's values on axes, besides its grid."""
        return {"unroll": self.unroll}

    @property
    def name(self) -> str:
        """The step for readers: `interleaved`, `unrolled ×8`."""
        return step_name(self.kernel, self.unroll)

    def rows(self, measurements: pandas.DataFrame) -> pandas.DataFrame:
        """This step's rows. Where its launches fit the grid to the array, small arrays have a smaller grid."""
        unrolls = measurements["unroll"]
        is_own = (measurements["kernel"] == self.kernel) & ((unrolls == self.unroll) | unrolls.isna())
        rows = measurements[is_own.fillna(False).astype(bool)]
        if self.grid_size is None:
            return rows
        own = rows["grid_size"].isin([self.grid_size, _whole_clusters(self.grid_size)])
        fitted = (rows["grid_size"] < self.grid_size) & _fitted(rows)
        chosen = rows[(own | fitted).fillna(False).astype(bool)]
        largest = chosen.groupby(list(POINT_COLUMNS))["grid_size"].transform("max")
        return chosen[chosen["grid_size"] == largest]


def _fitted(rows: pandas.DataFrame) -> pandas.Series[bool]:
    """The rows whose grid just covers their array, in whole clusters or not as the studies' launches have it."""
    # Converted to integers, since pandas with pyarrow makes a column of text from no rows.
    element_bytes = rows["dtype"].map(lambda dtype: np.dtype(dtype).itemsize).astype("int64")
    sizes = rows["array_size"] * element_bytes
    needed = -(-sizes // (rows["block_size"] * rows["unroll"] * _VECTOR_BYTES))
    fitted: pandas.Series[bool] = (rows["grid_size"] == needed) | (rows["grid_size"] == _whole_clusters(needed))
    return fitted


def _whole_clusters(blocks: Any) -> Any:
    """A number of blocks (or many), rounded up to whole thread block clusters."""
    return -(-blocks // _CLUSTER_SIZE) * _CLUSTER_SIZE


def ladder_steps(study: StudySettings, device: Mapping[str, Any]) -> list[Step]:
    """The steps of the study's ladder, in the order of its story, for a device with its multiprocessors."""
    return [
        Step(
            str(step.kernel),
            int(step.unroll),
            None
            if step.grid_size is None
            else grid_on_device(step.grid_size, device["multiprocessors"], study.reference["block_size"]),
        )
        for step in study.steps
    ]


def step_labels(steps: Sequence[Step]) -> list[str]:
    """The steps' names, with the grid sizes where these differ."""
    shown = [step.grid_size if _grids_differ(steps) else None for step in steps]
    return [step.name + (f" ({grid:,} blocks)" if grid else "") for step, grid in zip(steps, shown, strict=True)]


def grids_text(steps: Sequence[Step]) -> str:
    """A caption's sentence on the steps' own grid sizes, " Thread blocks: cascaded 1,056.".

    "" without any, and where step_labels() names them.
    """
    grids = [
        f"{step.name} {'as many as needed' if step.grid_size == LARGEST_GRID else f'{step.grid_size:,}'}"
        for step in steps
        if step.grid_size is not None and not _grids_differ(steps)
    ]
    return f" Thread blocks: {', '.join(dict.fromkeys(grids))}." if grids else ""


def _grids_differ(steps: Sequence[Step]) -> bool:
    """Whether the steps' own grid sizes are several; one that is as large as needed is named in captions."""
    grids = {step.grid_size for step in steps if step.grid_size is not None}
    return len(grids) > 1 and LARGEST_GRID not in grids
