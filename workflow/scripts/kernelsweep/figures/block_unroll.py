"""Block size by unroll factor at the reference array size: where each kernel runs best, as heat maps of bandwidth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.cm
import matplotlib.colors
import pandas
from matplotlib.figure import Figure

from kernelsweep.figures import style
from kernelsweep.figures.heatmap import draw_cells
from kernelsweep.measurements import (
    at_reference,
    device_text,
    has_times,
    no_bandwidth,
    reference_text,
    step_name,
    timed,
    undefined_kernels,
)
from kernelsweep.published import Published

MOST_PANELS_A_ROW = 3
# Cells side by side, over all panels: with more, four-digit numbers would meet.
MOST_CELLS_A_ROW = 18
CELL_IN = 0.19
# A panel's title and tick labels.
PANEL_FRAME_IN = 0.34
AXIS_LABEL_IN = 0.18
EMPTY_BODY_IN = 1.2
# The steps that have a panel of their own are tall; a panel of one row still needs room for its y label.
LEAST_ROWS = 3


@dataclass(frozen=True)
class _Panel:
    """One heat map: the steps (kernel, unroll factor) that are its rows, with their labels."""

    title: str
    steps: Sequence[tuple[str, int]]
    labels: Sequence[str]


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
) -> Figure:
    """A panel a kernel with several unroll factors; kernels with one share the first panel, a row each.

    Columns are block sizes, cells are annotated with GB/s, one colour scale for all. Failed points are hatched, with a
    letter for their status; combinations outside the sweep stay blank. Published times are for one block size only and
    are not drawn.
    """
    del published
    rows = at_reference(study, measurements, free=("block_size",))
    with_times = timed(rows, device)
    caption = _caption(rows, study, device)
    if with_times.empty:
        figure = style.new_figure(style.TWO_COLUMN_IN, EMPTY_BODY_IN, study["title"], "No bandwidth to draw.", caption)
        style.say_missing(figure.subplots(), no_bandwidth(rows, study, device, free=("block_size",)))
        return figure

    undefined = undefined_kernels(rows)
    panels = _panels(study, rows, undefined)
    block_sizes = sorted(rows["block_size"].unique())
    columns = max(1, min(len(panels), MOST_PANELS_A_ROW, MOST_CELLS_A_ROW // len(block_sizes)))
    grid_rows = math.ceil(len(panels) / columns)
    row_lengths = [
        max(LEAST_ROWS, *(len(panel.steps) for panel in panels[row * columns : (row + 1) * columns]))
        for row in range(grid_rows)
    ]
    body_in = sum(PANEL_FRAME_IN + CELL_IN * length for length in row_lengths) + AXIS_LABEL_IN
    figure = style.new_figure(style.TWO_COLUMN_IN, body_in, study["title"], _message(with_times), caption)
    grid = figure.subplots(grid_rows, columns, squeeze=False, height_ratios=row_lengths)
    largest = float(with_times["bandwidth_gbs"].max())
    values = with_times.set_index(["kernel", "unroll", "block_size"])["bandwidth_gbs"].unstack()
    statuses = rows.set_index(["kernel", "unroll", "block_size"])["status"].unstack()
    for axes, panel in zip(grid.flat, panels, strict=False):
        index = pandas.MultiIndex.from_tuples(panel.steps)
        cells = values.reindex(index=index, columns=block_sizes)
        draw_cells(axes, cells, statuses.reindex(index=index, columns=block_sizes).fillna(""), largest)
        axes.set_title(panel.title, loc="left", pad=3)
        axes.set_yticks([row + 0.5 for row in range(len(panel.steps))], panel.labels)
        axes.set_xticks([column + 0.5 for column in range(len(block_sizes))], [str(size) for size in block_sizes])
        axes.set_xlabel("")
        axes.set_ylabel("unroll factor" if panel.labels[0].startswith("×") else "")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for column in range(columns):
        lowest = grid.flat[max(index for index in range(len(panels)) if index % columns == column)]
        lowest.set_xlabel("block size (threads)")
    scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, largest), "cividis")
    bar = figure.colorbar(scale, ax=grid, aspect=25, pad=0.02, fraction=0.04)
    bar.set_label("GB/s")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    bar.outline.set_visible(False)
    return figure


def _panels(study: Mapping[str, Any], rows: pandas.DataFrame, undefined: set[str]) -> list[_Panel]:
    run = rows[rows["status"] != "skipped"]
    unrolls = {
        kernel["name"]: sorted(run.loc[run["kernel"] == kernel["name"], "unroll"].unique())
        for kernel in study["kernels"]
    }
    marks = {kernel: style.UNDEFINED_MARK if kernel in undefined else "" for kernel in unrolls}
    panels = [
        _Panel(kernel + marks[kernel], [(kernel, unroll) for unroll in factors], [f"×{unroll}" for unroll in factors])
        for kernel, factors in unrolls.items()
        if len(factors) > 1
    ]
    steps = [(kernel, factors[0]) for kernel, factors in unrolls.items() if len(factors) == 1]
    if not steps:
        return panels
    return [_Panel("one unroll factor", steps, [step_name(*step) + marks[step[0]] for step in steps]), *panels]


def _message(with_times: pandas.DataFrame) -> str:
    allowed = with_times[~with_times["kernel"].isin(undefined_kernels(with_times))]
    if allowed.empty:
        return "Only kernels with undefined behaviour have a time."
    best = allowed.sort_values(["bandwidth_gbs", "kernel", "unroll", "block_size"]).iloc[-1]
    return (
        f"Best: {step_name(best['kernel'], best['unroll'])} with blocks of {best['block_size']} threads,"
        f" {best['bandwidth_gbs']:,.0f} GB/s."
    )


def _caption(rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=("block_size",))
    text = f"{device_text(device)}. Reference point: {where}. Cells: bandwidth in GB/s; blank: not in the sweep."
    failed = sorted(set(rows["status"]) - {"ok"})
    if has_times(device) and failed:
        text += f" Hatched: {style.status_key(failed)}."
    if undefined_kernels(rows):
        text += f" {style.UNDEFINED_NOTE}"
    return text
