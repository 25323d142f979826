"""Block size by grid size at the reference array size, as heat maps: how many blocks, of how many threads?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_MARK, no_bandwidth, reference_text, step_name
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import (
    Panel,
    PanelAxis,
    as_panel,
    bandwidth_caption,
    bandwidth_figure,
    bandwidths,
)
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width
from kernelsweep.drawing.style import styled
from kernelsweep.publish.best_cells import best_cells

FIGURE = Declaration(
    title="Block size by number of blocks",
    purpose="bandwidth by block size and number of blocks",
    needs=("times",),
)
FREE = ("block_size",)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each kernel (and unroll factor) whose grid size is swept.

    Rows are grid sizes, multiples of the device's multiprocessors (SMs) written as such; columns are the kernel's
    block sizes. Cells are annotated with GB/s, one colour scale for all, and the best is outlined. Failed points are
    hatched, with a letter for their status; combinations outside the sweep stay blank.
    """
    rows = bandwidths(_with_grids(data.at_reference(*FREE)), data.device)
    best, message = best_cells(rows, data)
    frame = Frame(width, FIGURE.heading(data.title), message, _caption(data, rows))
    reason = no_bandwidth(rows, data.settings, data.device, FREE)
    if data.has_times and rows.empty:
        reason = f"No kernel has several grid sizes at {reference_text(data.settings, FREE)} in this sweep."
    return bandwidth_figure(frame, _panels(data, rows, best), "block size (threads)", reason)


def _with_grids(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of kernels that ran with several grid sizes at one block size and unroll factor."""
    grids = rows.groupby(["kernel", "unroll", "block_size"])["grid_size"].nunique()
    return rows[rows["kernel"].isin(set(grids[grids > 1].index.get_level_values("kernel")))]


def _panels(data: StudyData, rows: pandas.DataFrame, best: list[Any]) -> list[Panel]:
    undefined = undefined_kernels(rows)
    run = rows[rows["status"] != "skipped"]
    panels = []
    for kernel in data.kernel_names:
        for unroll in sorted(run.loc[run["kernel"] == kernel, "unroll"].unique()):
            shown = rows[(rows["kernel"] == kernel) & (rows["unroll"] == unroll)]
            grids = {int(grid): _grid_text(int(grid), data.device) for grid in sorted(shown["grid_size"].unique())}
            down = PanelAxis(["grid_size"], grids, "blocks")
            # A block size that the kernel does not support has no column.
            blocks = sorted(shown.loc[shown["status"] != "skipped", "block_size"].unique())
            across = PanelAxis(["block_size"], {block: str(block) for block in blocks})
            title = step_name(kernel, int(unroll)) + (UNDEFINED_MARK if kernel in undefined else "")
            shown = shown.assign(grid_size=shown["grid_size"].astype(int))
            panels.append(as_panel(title, shown, down, across, best))
    return panels


def _grid_text(grid_size: int, device: Mapping[str, Any]) -> str:
    """A grid size in words: "288", or "2 per SM" for a multiple of the multiprocessors."""
    times, rest = divmod(grid_size, device["multiprocessors"])
    return f"{grid_size:,}" if rest or not times else f"{times} per SM"


def _caption(data: StudyData, rows: pandas.DataFrame) -> str:
    multiprocessors = f" SM: one of the device's {data.device['multiprocessors']} multiprocessors."
    return bandwidth_caption(data, rows, FREE, cells="outlined: the fastest and its ties", further=multiprocessors)
