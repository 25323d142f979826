"""Bandwidth against array size, a line a ladder step, at the reference block size; cold and hot cache side by side.

Beside the steps, where the study has them: libraries' reductions, and what the memory was measured to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.limits import limit_bandwidths, limit_text
from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, has_times, timed, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import (
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    no_bandwidth,
    reference_text,
    size_text,
)
from kernelsweep.drawing import style

BODY_IN = 2.7
LEGEND_LINE_IN = 0.162
EMPTY_BODY_IN = 1.2
# A panel in one column, where they stand one above the other.
NARROW_PANEL_IN = 1.7
LEGEND_TITLE = "step, in the ladder's order"
CACHES = ("cold", "hot")
HEADROOM = 1.08
RIVAL_STYLE = {"color": "black", "linewidth": 0.8, "marker": ".", "markersize": 3.0}
LIMIT_STYLE = {"color": style.GREY, "linewidth": 0.8, "zorder": 1}


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A panel a cache state that has times; published times have no bandwidth curve and are not drawn.

    measurements  with the rows of rivals and limits

    Points that failed are gaps in their line, counted in the caption.
    """
    del published
    steps = ladder_steps(study, device)
    rows = at_reference(study, measurements, free=("array_size", "cache"))
    rows = pandas.concat([step.rows(rows) for step in steps]).drop_duplicates()
    with_times = timed(rows, device).sort_values("array_size")
    caches = [cache for cache in CACHES if (with_times["cache"] == cache).any()]
    caption = _caption(steps, rows, study, device)
    if not caches:
        message = "No bandwidth to draw."
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], message, caption)
        style.say_missing(figure.subplots(), no_bandwidth(rows, study, device, free=("array_size", "cache")))
        return figure
    rivals = _rivals(study, measurements, device)
    limits = limit_bandwidths(study, measurements, device)
    message = _message(steps, with_times[with_times["cache"] == caches[0]], caches[0], device)
    title = LEGEND_TITLE + (", then libraries" if not rivals.empty else "")
    labels = [*step_labels(steps, undefined_kernels(with_times)), *_labels(rivals, limits)]
    if style.is_narrow(width_in):
        legend_in = style.legend_below_in(labels, width_in, title)
        heights = [*[NARROW_PANEL_IN] * len(caches), legend_in]
        figure = style.new_figure(width_in, sum(heights), study["title"], message, caption)
        *panels, below = figure.subplots(len(heights), 1, height_ratios=heights)
        for axes in panels[1:]:
            axes.sharey(panels[0])
    else:
        body_in = max(BODY_IN, LEGEND_LINE_IN * (len(labels) + 1))
        figure = style.new_figure(width_in, body_in, study["title"], message, caption)
        panels, below = list(figure.subplots(1, len(caches), sharey=True, squeeze=False)[0]), None
    for axes, cache in zip(panels, caches, strict=True):
        _panel(axes, steps, with_times[with_times["cache"] == cache])
        _lines(axes, rivals[rivals["cache"] == cache], "kernel", study["rivals"], RIVAL_STYLE)
        _lines(axes, limits[limits["cache"] == cache], "limit", study["limits"], LIMIT_STYLE)
        axes.set_title(f"{cache} cache", loc="left")
    peak = device["peak_bandwidth_gbs"]
    drawn = pandas.concat([frame["bandwidth_gbs"] for frame in (with_times, rivals, limits)])
    top = max(drawn.max(), peak or 0.0)
    panels[0].set_ylim(0, top * HEADROOM)
    for axes in panels if below else panels[:1]:
        axes.set_ylabel("bandwidth (GB/s)")
    for axes in panels[:-1] if below else []:
        axes.set_xlabel("")
    panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if peak is not None:
        _peak_line(panels, peak)
    handles = _handles(panels)
    if below:
        style.legend_below(below, handles, width_in, title)
        return figure
    panels[-1].legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
        handlelength=3.2,
        labelspacing=0.45,
        borderpad=0.1,
        title=title,
        title_fontsize=style.TEXT_PT,
        alignment="left",
    )
    return figure


def _panel(axes: Axes, steps: Sequence[Step], rows: pandas.DataFrame) -> None:
    sizes = sorted(int(size) for size in rows["array_size"].unique())
    labels = step_labels(steps, undefined_kernels(rows))
    for index, (step, label) in enumerate(zip(steps, labels, strict=True)):
        # Sizes without a time become NaN, so that the line breaks there instead of bridging the gap.
        values = step.rows(rows).set_index("array_size")["bandwidth_gbs"].reindex(sizes)
        axes.plot(
            sizes,
            values,
            label=label,
            color=style.LINE_COLOURS[index % len(style.LINE_COLOURS)],
            linestyle=style.DASHES[index % len(style.DASHES)],
            marker=style.MARKERS[index % len(style.MARKERS)],
            linewidth=1.0,
            markersize=3.6,
            markeredgecolor="white",
            markeredgewidth=0.3,
        )
    style.size_axis(axes, sizes)
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _rivals(study: Mapping[str, Any], measurements: pandas.DataFrame, device: Mapping[str, Any]) -> pandas.DataFrame:
    """The libraries' timed rows at the reference point and at the other array sizes and cache states."""
    rows = at_reference(study, measurements, free=("array_size", "cache", "block_size"))
    return timed(rows[rows["kernel"].isin(study["rivals"])], device)


def _lines(axes: Axes, rows: pandas.DataFrame, column: str, names: Sequence[str], look: Mapping[str, Any]) -> None:
    """A line for each name that has rows, all of one look but for their dashes."""
    for index, name in enumerate(names):
        of_name = rows[rows[column] == name].sort_values("array_size")
        if not of_name.empty:
            label = limit_text(name) if column == "limit" else name
            dashes = style.DASHES[index % len(style.DASHES)]
            axes.plot(of_name["array_size"], of_name["bandwidth_gbs"], label=label, linestyle=dashes, **look)


def _labels(rivals: pandas.DataFrame, limits: pandas.DataFrame) -> list[str]:
    """What the lines of both are called."""
    return [*rivals["kernel"].unique(), *(limit_text(limit) for limit in limits["limit"].unique())]


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


def _caption(steps: Sequence[Step], rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=("array_size", "cache"))
    text = (
        f"{device_text(device)}. Reference point: {where}.{grids_text(steps)}"
        " Each input byte counted once; 1 GB/s is 10⁹ bytes/s."
    )
    failed = failures_text(list(rows["status"]))
    if has_times(device) and failed:
        text += f" Points without a time (gaps): {failed}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
