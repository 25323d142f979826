"""Bandwidth against array size, a line for each ladder step, at the reference block size; cold and hot cache apart.

Libraries' reductions and the memory's measured limits are drawn too, if the study has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.limits import limit_bandwidths, limit_text
from kernelsweep.analysis.reference import at_reference, timed, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    no_bandwidth,
    reference_text,
    size_text,
)
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Legend,
    Panels,
    Width,
    empty_figure,
    panels_in_a_row,
    size_axis,
)

FIGURE = Declaration(
    title="Bandwidth against array size",
    purpose="bandwidth against array size, with the memory's peak",
    needs=("times",),
)
FREE = ("array_size", "cache")
# The least height of a panel; it grows with the lines of a legend beside it.
PANEL_IN = {TWO_COLUMNS: 2.7, ONE_COLUMN: 1.7}
LEGEND_LINE_IN = {TWO_COLUMNS: 0.162, ONE_COLUMN: 0.0}
LEGEND_TITLE = "step, in the ladder's order"
CACHES = ("cold", "hot")
HEADROOM = 1.08
RIVAL_STYLE = {"color": "black", "linewidth": 0.8, "marker": ".", "markersize": 3.0}
LIMIT_STYLE = {"color": style.GREY, "linewidth": 0.8, "zorder": 1}


@dataclass(frozen=True)
class _Lines:
    """The rows with a bandwidth: of the ladder's steps, of libraries and of the memory's limits."""

    steps: pandas.DataFrame
    rivals: pandas.DataFrame
    limits: pandas.DataFrame


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each cache state with times. Points that failed are gaps in their line, counted in the caption.

    Published times are of one array size and are not drawn.
    """
    steps = data.steps
    rows = data.at_reference(*FREE)
    rows = pandas.concat([step.rows(rows) for step in steps]).drop_duplicates()
    with_times = timed(rows, data.device).sort_values("array_size")
    caches = [cache for cache in CACHES if (with_times["cache"] == cache).any()]
    caption = _caption(data, rows)
    if not caches:
        reason = no_bandwidth(rows, data.settings, data.device, FREE)
        return empty_figure(Frame(width, data.title, "No bandwidth to draw.", caption), reason)
    lines = _Lines(with_times, _rivals(data), limit_bandwidths(data))
    message = _message(steps, with_times[with_times["cache"] == caches[0]], caches[0], data.device)
    legend_title = LEGEND_TITLE + (", then libraries" if not lines.rivals.empty else "")
    labels = [*step_labels(steps, undefined_kernels(with_times)), *_labels(lines)]
    height_in = max(PANEL_IN[width], LEGEND_LINE_IN[width] * (len(labels) + 1))
    frame = Frame(width, data.title, message, caption)
    legend = Legend(labels, legend_title, spacing=0.45)
    panels = panels_in_a_row(frame, legend, len(caches), [height_in], share_y=True)
    for axes, cache in zip(panels.grid[0], caches, strict=True):
        _draw_panel(axes, data, lines, cache)
    _scale(panels, lines, data.device["peak_bandwidth_gbs"])
    panels.draw_legend(_handles(panels.grid[0]))
    return panels.figure


def _draw_panel(axes: Axes, data: StudyData, lines: _Lines, cache: str) -> None:
    """One cache state's lines."""
    _draw_steps(axes, data.steps, lines.steps[lines.steps["cache"] == cache])
    settings, rivals, limits = data.settings, lines.rivals, lines.limits
    _draw_lines(axes, rivals[rivals["cache"] == cache], "kernel", settings["rivals"], RIVAL_STYLE)
    _draw_lines(axes, limits[limits["cache"] == cache], "limit", settings["limits"], LIMIT_STYLE)
    axes.set_title(f"{cache} cache", loc="left")


def _scale(panels: Panels, lines: _Lines, peak: float | None) -> None:
    """One axis of bandwidths for all panels, with the memory's peak where it is known."""
    axes = panels.grid[0]
    drawn = pandas.concat([rows["bandwidth_gbs"] for rows in (lines.steps, lines.rivals, lines.limits)])
    axes[0].set_ylim(0, max(drawn.max(), peak or 0.0) * HEADROOM)
    for number in panels.left:
        axes[number].set_ylabel("bandwidth (GB/s)")
    panels.label_x_at_the_bottom()
    axes[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if peak is not None:
        _peak_line(axes, peak)


def _draw_steps(axes: Axes, steps: Sequence[Step], rows: pandas.DataFrame) -> None:
    sizes = sorted(int(size) for size in rows["array_size"].unique())
    labels = step_labels(steps, undefined_kernels(rows))
    for index, (step, label) in enumerate(zip(steps, labels, strict=True)):
        # Sizes without a time become NaN, so that the line breaks there.
        values = step.rows(rows).set_index("array_size")["bandwidth_gbs"].reindex(sizes)
        axes.plot(
            sizes,
            values,
            label=label,
            **style.line_look(index),
            linewidth=1.0,
            markersize=3.6,
            markeredgecolor="white",
            markeredgewidth=0.3,
        )
    size_axis(axes, sizes)
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _rivals(data: StudyData) -> pandas.DataFrame:
    """The libraries' timed rows at the reference point and at the other array sizes and cache states."""
    rows = at_reference(data.settings, data.device_rows, free=(*FREE, "block_size"))
    return timed(rows[rows["kernel"].isin(data.settings["rivals"])], data.device)


def _draw_lines(axes: Axes, rows: pandas.DataFrame, column: str, names: Sequence[str], look: Mapping[str, Any]) -> None:
    """A line for each name that has rows, all of one look but for their dashes."""
    for index, name in enumerate(names):
        of_name = rows[rows[column] == name].sort_values("array_size")
        if not of_name.empty:
            label = limit_text(name) if column == "limit" else name
            dashes = style.DASHES[index % len(style.DASHES)]
            axes.plot(of_name["array_size"], of_name["bandwidth_gbs"], label=label, linestyle=dashes, **look)


def _labels(lines: _Lines) -> list[str]:
    """The labels of libraries and limits."""
    return [*lines.rivals["kernel"].unique(), *(limit_text(limit) for limit in lines.limits["limit"].unique())]


def _handles(panels: Sequence[Axes]) -> list[Line2D]:
    """A line of each label, from the first panel that has it, in the order of drawing."""
    lines = [line for axes in panels for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    return list({str(line.get_label()): line for line in reversed(lines)}.values())[::-1]


def _peak_line(panels: Sequence[Axes], peak: float) -> None:
    for axes in panels:
        axes.axhline(peak, color=style.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    panels[0].annotate(
        f"memory's theoretical peak, {peak:,.0f} GB/s",
        (0.02, peak),
        xycoords=panels[0].get_yaxis_transform(),
        xytext=(0, -2),
        textcoords="offset points",
        va="top",
        color=style.GREY,
    )


def _message(steps: Sequence[Step], rows: pandas.DataFrame, cache: str, device: Mapping[str, Any]) -> str:
    rows = rows[~rows["kernel"].isin(undefined_kernels(rows))]
    if rows.empty:
        return "Only steps with undefined behaviour have a time."
    size = int(rows["array_size"].max())
    largest = rows[rows["array_size"] == size]
    best = max(
        (step.rows(largest)["bandwidth_gbs"].max(), label)
        for step, label in zip(steps, step_labels(steps), strict=True)
        if not step.rows(largest).empty
    )
    text = f"At array size {size_text(size)}, {cache} cache, {best[1]} is fastest and reads {best[0]:,.0f} GB/s"
    peak = device["peak_bandwidth_gbs"]
    return text + ("." if peak is None else f", {best[0] / peak:.0%} of the memory's peak.")


def _caption(data: StudyData, rows: pandas.DataFrame) -> str:
    where = reference_text(data.settings, free=FREE)
    text = (
        f"{device_text(data.device)}. Reference point: {where}.{grids_text(data.steps)}"
        " Each input byte counted once; 1 GB/s is 10⁹ bytes/s."
    )
    failed = failures_text(list(rows["status"]))
    if data.has_times and failed:
        text += f" Points without a time (gaps): {failed}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
