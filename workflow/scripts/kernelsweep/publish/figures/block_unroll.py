"""Block size by unroll factor at the reference array size: where each kernel runs best, as heat maps of bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_MARK, failures_text, no_bandwidth, step_name
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
    title="Block size by unroll factor",
    purpose="bandwidth by block size and unroll factor",
    needs=("times",),
)
FREE = ("block_size",)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each kernel with several unroll factors; kernels with one share the first panel, a row each.

    A kernel with undefined behaviour and one unroll factor is left out, and named below.

    Columns are block sizes, cells are annotated with GB/s, one colour scale for all. Failed points are hatched, with a
    letter for their status; combinations outside the sweep stay blank. Where a kernel's grid size is swept, the
    fastest one is drawn. Published times are for one block size only and are not drawn.
    """
    rows = bandwidths(data.at_reference(*FREE), data.device)
    left_out = _published_alone(rows)
    rows = rows[~rows["kernel"].isin(left_out)]
    cells = _fastest_grids(rows)
    best, message = best_cells(cells, data)
    frame = Frame(width, FIGURE.heading(data.title), message, _caption(data, rows, cells, left_out))
    reason = no_bandwidth(rows, data.settings, data.device, FREE)
    return bandwidth_figure(frame, _panels(data, cells, best), "block size (threads)", reason)


def _published_alone(rows: pandas.DataFrame) -> list[str]:
    """The kernels with undefined behaviour and one unroll factor: there for the published code's sake."""
    undefined = rows[rows["kernel"].isin(undefined_kernels(rows))]
    factors = undefined[undefined["status"] != "skipped"].groupby("kernel")["unroll"].nunique()
    return sorted(factors[factors == 1].index)


def _fastest_grids(rows: pandas.DataFrame) -> pandas.DataFrame:
    """One row for each kernel, unroll factor and block size: the fastest, or the first if none has a time."""
    ordered = rows.sort_values(["bandwidth_gbs", "grid_size", "status"], ascending=[False, True, True])
    return ordered.drop_duplicates(["kernel", "unroll", "block_size"])


def _panels(data: StudyData, cells: pandas.DataFrame, best: list[Any]) -> list[Panel]:
    undefined = undefined_kernels(cells)
    blocks = PanelAxis(["block_size"], {size: str(size) for size in sorted(cells["block_size"].unique())})
    panels, single = [], {}
    for kernel in data.kernel_names:
        mark = UNDEFINED_MARK if kernel in undefined else ""
        of_kernel = cells[cells["kernel"] == kernel]
        factors = sorted(of_kernel.loc[of_kernel["status"] != "skipped", "unroll"].unique())
        if len(factors) == 1:
            single[kernel, factors[0]] = step_name(kernel, factors[0]) + mark
        elif factors:
            down = PanelAxis(["unroll"], {factor: f"×{factor}" for factor in factors}, "unroll factor")
            panels.append(as_panel(kernel + mark, of_kernel, down, blocks, best))
    if single:
        panels.insert(0, as_panel("one unroll factor", cells, PanelAxis(["kernel", "unroll"], single), blocks, best))
    return panels


def _caption(data: StudyData, rows: pandas.DataFrame, cells: pandas.DataFrame, left_out: Sequence[str]) -> str:
    other_grids = rows.drop(cells.index)
    grids = ""
    if not other_grids.empty:
        grids = " Where the grid size is swept too: the fastest grid."
        hidden = failures_text(list(other_grids.loc[other_grids["status"] != "skipped", "status"]))
        grids += f" Failed at the others: {hidden}." if data.has_times and hidden else ""
    if left_out:
        grids += f" Left out, with undefined behaviour and one unroll factor: {' and '.join(left_out)}."
    return bandwidth_caption(data, rows, FREE, cells="outlined: the fastest and its ties", further=grids)
