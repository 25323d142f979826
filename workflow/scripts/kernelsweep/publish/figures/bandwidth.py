"""Bandwidth against array size: each kernel's best configuration, and the published one; cold and hot cache apart.

Kernels that take the same time everywhere share a line. At most MOST_LINES have a colour: the story's first step, and
those nearest to the fastest at any size; the others are grey. Below, the time of each over the shortest at that size.
The memory's measured limits are drawn too, if the study has them; libraries are drawn by `rivals`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from kernelsweep.analysis.limits import limit_bandwidths, limit_text
from kernelsweep.analysis.reference import shown_status, timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    no_bandwidth,
    reference_text,
)
from kernelsweep.drawing import palette, style
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
    wrap,
)
from kernelsweep.drawing.series import draw_lines, line_handles
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import fastest_by_size, find_best

FIGURE = Declaration(
    title="Bandwidth against array size",
    purpose="bandwidth of each kernel's best configuration against array size, with the memory's peak",
    needs=("times",),
)
FREE = ("array_size", "cache", "block_size")
# The least height of a panel's two parts; the upper one grows with the lines of a legend beside it.
PANEL_IN = {TWO_COLUMNS: 2.1, ONE_COLUMN: 1.3}
RATIO_IN = {TWO_COLUMNS: 1.0, ONE_COLUMN: 0.7}
LEGEND_LINE_IN = {TWO_COLUMNS: 0.162, ONE_COLUMN: 0.0}
LEGEND_TITLE = "best configuration; thin: the published one"
# Kernels whose best times are within this factor of each other at every size share a line.
ALIKE_WITHIN = 1.05
# No two lines have one colour.
MOST_LINES = len(palette.LINE_COLOURS)
LABEL_PT = {TWO_COLUMNS: 150.0, ONE_COLUMN: ONE_COLUMN.points - 80.0}
CACHES = ("cold", "hot")
HEADROOM = 1.12
# A peak further above the data than this is named instead of drawn: it would flatten every line.
FURTHEST_PEAK = 1.6
# Times over the shortest are drawn up to this.
LARGEST_RATIO = 16.0
RATIO_TICKS = (1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
THIN = {"linewidth": 0.5, "marker": "", "zorder": 1.5}
OTHERS_LOOK: dict[str, Any] = {"color": palette.GREY, "linewidth": 0.6, "alpha": 0.6, "zorder": 1.2}
LIMIT_STYLE: dict[str, Any] = {"color": palette.GREY, "linewidth": 0.8, "zorder": 1}


@dataclass(frozen=True)
class _Lines:
    """The rows with a bandwidth: kernels' best and published configurations, the memory's limits.

    groups        the kernels that share a line, in the order of their story
    labels        the label of each group
    others        the kernels that are drawn in grey
    others_label  their label; "" without any
    """

    groups: Sequence[Sequence[str]]
    labels: Sequence[str]
    others: Sequence[str]
    others_label: str
    best: pandas.DataFrame
    published: pandas.DataFrame
    limits: pandas.DataFrame


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each cache state with times. Sizes at which a kernel failed are gaps in its line.

    Published times are of one array size and are not drawn.
    """
    rows = data.at_reference(*FREE)
    with_times = timed(rows, data.device)
    caches = [cache for cache in CACHES if (with_times["cache"] == cache).any()]
    caption = _caption(data, rows)
    if not caches:
        reason = no_bandwidth(rows, data.settings, data.device, FREE)
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No bandwidth to draw.", caption), reason)
    lines = _lines_of(data, with_times, width)
    if lines.others:
        caption += (
            f" Grey: all but the first step and the {MOST_LINES - 1} lines that come nearest to the shortest time at"
            " any size."
        )
    message = _message(data, with_times[with_times["cache"] == caches[0]])
    others = [lines.others_label] if lines.others else []
    labels = [*lines.labels, *others, *map(limit_text, lines.limits["limit"].unique())]
    label_lines = sum(label.count("\n") + 1 for label in labels) + 1
    height_in = max(PANEL_IN[width], LEGEND_LINE_IN[width] * label_lines)
    legend = Legend(labels, LEGEND_TITLE, spacing=0.45)
    panels = panels_in_a_row(
        Frame(width, FIGURE.heading(data.title), message, caption),
        legend,
        len(caches),
        [height_in, RATIO_IN[width]],
        share_y=True,
    )
    for upper, lower, cache in zip(*panels.grid, caches, strict=True):
        _draw_bandwidths(upper, data, lines, cache)
        _draw_ratios(lower, lines, lines.best[lines.best["cache"] == cache])
    _scale(panels, data, lines)
    panels.draw_legend(_handles(lines, data.settings["limits"]))
    return panels.figure


def _lines_of(data: StudyData, rows: pandas.DataFrame, width: Width) -> _Lines:
    best = _best(rows)
    times = best.pivot_table(index=["cache", "array_size"], columns="kernel", values="time_us")
    groups: list[list[str]] = []
    for kernel in (name for name in data.kernel_names if name in times):
        for group in groups:
            ratios = times[kernel] / times[group[0]]
            if (
                times[kernel].isna().equals(times[group[0]].isna())
                and ratios.between(1 / ALIKE_WITHIN, ALIKE_WITHIN)[ratios.notna()].all()
            ):
                group.append(kernel)
                break
        else:
            groups.append([kernel])
    undefined = undefined_kernels(rows)
    shown = _coloured(groups, times, undefined)
    others = [kernel for group in groups if group not in shown for kernel in group]

    def label(kernels: Sequence[str], start: str = "") -> str:
        names = [kernel + (UNDEFINED_MARK if kernel in undefined else "") for kernel in kernels]
        return "\n".join(wrap(start + ", ".join(names), LABEL_PT[width])) if names else ""

    return _Lines(
        shown, [*map(label, shown)], others, label(others, "grey: "), best, _published(data, rows), _limits(data)
    )


def _coloured(groups: Sequence[list[str]], times: pandas.DataFrame, undefined: Collection[str]) -> list[list[str]]:
    """The first group, which has the story's first step, and those that come nearest to the shortest time at any size.

    At most MOST_LINES, in the order of the story.
    """
    shortest = times.drop(columns=[kernel for kernel in times if kernel in undefined]).min(axis=1)
    ratios = {group[0]: (times[group[0]] / shortest).min() for group in groups[1:]}
    nearest = sorted(ratios, key=lambda kernel: ratios[kernel])[: MOST_LINES - 1]
    return [group for group in groups if group is groups[0] or group[0] in nearest]


def _best(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The row with the shortest time of each kernel at each array size and cache state."""
    ordered = rows.sort_values(["time_us", "block_size", "unroll"])
    return ordered.groupby(["kernel", "array_size", "cache"], sort=False).head(1).sort_values("array_size")


def _published(data: StudyData, rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of each kernel's last ladder step, at the reference's block size."""
    at_block = rows[rows["block_size"] == data.settings["reference"]["block_size"]]
    last = {step.kernel: step for step in data.steps}
    found = [step.rows(at_block) for step in last.values()]
    return pandas.concat(found).sort_values("array_size") if found else at_block.head(0)


def _limits(data: StudyData) -> pandas.DataFrame:
    """The memory's measured limits, without the study's own kernels, whose best configurations are drawn anyway."""
    limits = limit_bandwidths(data)
    return limits[~limits["limit"].isin(data.kernel_names)]


def _draw_bandwidths(axes: Axes, data: StudyData, lines: _Lines, cache: str) -> None:
    """One cache state's lines."""
    best, published, limits = (rows[rows["cache"] == cache] for rows in (lines.best, lines.published, lines.limits))
    for kernel in (name for name in data.kernel_names if name not in lines.others):
        _draw_kernel(axes, lines, kernel, published, "bandwidth_gbs", THIN)
    draw_lines(axes, best, "array_size", "bandwidth_gbs", "kernel", [first for first, *_ in lines.groups])
    for kernel in lines.others:
        _draw_kernel(axes, lines, kernel, best, "bandwidth_gbs", OTHERS_LOOK)
    _draw_limits(axes, limits, data.settings["limits"])
    axes.set_title(f"{cache} cache", loc="left")


def _draw_ratios(axes: Axes, lines: _Lines, best: pandas.DataFrame) -> None:
    """Each kernel's best time over the shortest at that size, logarithmic."""
    allowed = best[~best["kernel"].isin(undefined_kernels(best))]
    shortest = allowed.groupby("array_size")["time_us"].min()
    ratios = best.assign(ratio=best["time_us"] / best["array_size"].map(shortest))
    draw_lines(axes, ratios, "array_size", "ratio", "kernel", [first for first, *_ in lines.groups])
    for kernel in lines.others:
        _draw_kernel(axes, lines, kernel, ratios, "ratio", OTHERS_LOOK)
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.93, min(LARGEST_RATIO, max(1.5, ratios["ratio"].max() * HEADROOM)))
    axes.yaxis.set_major_locator(FixedLocator(RATIO_TICKS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    sizes = sorted(int(size) for size in best["array_size"].unique())
    size_axis(axes, sizes)


def _draw_kernel(
    axes: Axes, lines: _Lines, kernel: str, rows: pandas.DataFrame, column: str, look: Mapping[str, Any]
) -> None:
    """A kernel's line in its group's colour, or grey where it has none, with a thin line's look."""
    sizes = sorted(int(size) for size in rows["array_size"].unique())
    number = next((number for number, group in enumerate(lines.groups) if kernel in group), None)
    if (number is None and kernel not in lines.others) or not (rows["kernel"] == kernel).any():
        return
    # Sizes without a time become NaN, so that the line breaks there.
    values = rows[rows["kernel"] == kernel].set_index("array_size")[column].reindex(sizes)
    axes.plot(sizes, values, **{**({} if number is None else style.line_look(number)), **look})


def _draw_limits(axes: Axes, rows: pandas.DataFrame, limits: Sequence[str]) -> None:
    """A line for each limit that has rows, all of one look but for their dashes."""
    for index, limit in enumerate(limits):
        of_limit = rows[rows["limit"] == limit].sort_values("array_size")
        if not of_limit.empty:
            look = {"linestyle": style.line_look(index)["linestyle"], **LIMIT_STYLE}
            axes.plot(of_limit["array_size"], of_limit["bandwidth_gbs"], **look)


def _handles(lines: _Lines, limits: Sequence[str]) -> list[Line2D]:
    """The legend's entries: coloured lines, the grey ones, and limits that were measured."""
    grey = [Line2D([], [], label=lines.others_label, **OTHERS_LOOK)] if lines.others else []
    measured = set(lines.limits["limit"])
    dashes = [style.line_look(index)["linestyle"] for index in range(len(limits))]
    drawn = [(limit, dash) for limit, dash in zip(limits, dashes, strict=True) if limit in measured]
    return [
        *line_handles(lines.labels),
        *grey,
        *(Line2D([], [], label=limit_text(limit), linestyle=dash, **LIMIT_STYLE) for limit, dash in drawn),
    ]


def _scale(panels: Panels, data: StudyData, lines: _Lines) -> None:
    """One axis of bandwidths for all panels, with the memory's peak where it is known."""
    upper, lower = panels.grid
    drawn = pandas.concat([rows["bandwidth_gbs"] for rows in (lines.best, lines.limits)]).max()
    peak = data.device["peak_bandwidth_gbs"]
    is_near = peak is not None and peak <= FURTHEST_PEAK * drawn
    upper[0].set_ylim(0, max(drawn, peak if is_near else 0.0) * HEADROOM)
    upper[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    for number in panels.left:
        upper[number].set_ylabel("bandwidth (GB/s)")
        lower[number].set_ylabel("× shortest")
    panels.label_x_at_the_bottom()
    if peak is not None:
        _peak_line(upper, peak, is_near, data)


def _peak_line(panels: Sequence[Axes], peak: float, is_near: bool, data: StudyData) -> None:
    """The memory's peak; with a hot cache only from the size on that the L2 cache doesn't hold."""
    element_bytes = np.dtype(data.settings["reference"]["dtype"]).itemsize
    held = (data.device.get("l2_bytes") or 0) / element_bytes
    for axes in panels if is_near else ():
        low, high = axes.get_xlim()
        start = min(max(low, held), high) if axes.get_title(loc="left").startswith("hot") else low
        axes.plot([start, high], [peak, peak], color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
        axes.set_xlim(low, high)
    panels[0].annotate(
        f"memory's theoretical peak{'' if is_near else ', beyond the axis'}: {peak:,.0f} GB/s",
        (0.02, peak if is_near else 1.0),
        xycoords=panels[0].get_yaxis_transform() if is_near else "axes fraction",
        xytext=(0, 1 if is_near else -2),
        textcoords="offset points",
        va="bottom" if is_near else "top",
        color=palette.GREY,
    )


def _message(data: StudyData, rows: pandas.DataFrame) -> str:
    """The fastest of all configurations at the largest array size."""
    found = [best for best in find_best(data.title, data, data.gridded) if best.point["cache"] == rows["cache"].iloc[0]]
    reference = {**data.settings["reference"], "cache": rows["cache"].iloc[0]}
    every = fastest_by_size(found, {**data.settings, "reference": reference})
    return fastest_text(every[-1], data.device) if every else "Only kernels with undefined behaviour have a time."


def _caption(data: StudyData, rows: pandas.DataFrame) -> str:
    where = reference_text(data.settings, free=FREE)
    block_size = data.settings["reference"]["block_size"]
    text = (
        f"{device_text(data.device)}. {where[:1].upper()}{where[1:]}. Thick: the fastest block size, unroll factor and"
        f" grid at each size; thin: the kernel's last step of the ladder, block size {block_size}."
        f" Kernels within {ALIKE_WITHIN - 1:.0%} of each other at every size share a line."
        " Each input byte counted once; 1 GB/s is 10⁹ bytes/s."
    )
    failed = failures_text(list(shown_status(rows)))
    if data.has_times and failed:
        text += f" Points without a time: {failed}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
