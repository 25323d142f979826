"""Throughput, or time, against one axis: a line for each value of another, the best over the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from kernelsweep.judge.data.reference import timed
from kernelsweep.judge.data.study_data import StudyData, size_axes
from kernelsweep.judge.data.words import axis_value
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Frame, add_legend, empty_figure
from kernelsweep.publish.drawing.series import LOGARITHMIC_FROM, draw_lines, facet_grid
from kernelsweep.publish.figure_files import FIGURES, GAIN, PEAK_SHARE, QUANTITIES, SHOW
from kernelsweep.publish.swept_axes import KERNEL, axis_text, place_caption, values_of, without_unit
from kernelsweep.publish.tables.formats import broken

FIGURE = FIGURES["lines"]
# A panel's least width and its height.
PANEL_IN = (2.3, 2.5)
# The room above the largest value, and that around ratios.
HEADROOM, AROUND = 1.08, 1.02
# More lines would look alike.
MOST_LINES = 8
# An axis of fewer values says little as a line.
LEAST_VALUES = 3
# Lines whose values differ by at most this part of the larger of both everywhere are drawn as one.
ALIKE_WITHIN = 0.02
# Times that are further apart than LOGARITHMIC_FROM are on a logarithmic axis, ticked at 1, 2 and 5 up to this factor.
MOST_TICKED = 1000
# The values of some quantities that a line marks.
REFERENCES = {GAIN: 1.0, PEAK_SHARE: 100.0}
# A peak further above the values than this would flatten every line.
FURTHEST_PEAK = 1.6
LABEL_LETTERS = 36


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Figure:
    """The study's file may name the axes: `lines: {x: n, by: tile, panel: cache, show: gflops}`.

    Otherwise x is the axis of the problem's size with most values, or the axis with most effect; lines are kernels, or
    where there is one, values of the axis with most effect that has up to MOST_LINES. Lines that are alike everywhere
    share one. Points that failed are gaps.
    """
    x, by = _axes(data)
    chosen = data.settings.figure_axes.get("lines", {})
    panel = chosen.get("panel")
    axes = [axis for axis in (x, by, panel) if axis]
    best, swept = swept_axes.best_rows(data, axes), swept_axes.rows_there(data, axes)
    caption = place_caption(data, axes, "Each point: the best over all other axes; bars: 95% intervals.")
    if best.empty:
        frame = Frame(width, FIGURE.heading(data.title), "No times to draw.", caption)
        return empty_figure(frame, swept_axes.no_times(data))
    quantity = swept_axes.shown_quantity(best, chosen.get(SHOW))
    label = chosen.get("label") or QUANTITIES[quantity]
    failed = swept[swept["status"] != "skipped"].assign(shown=float("nan"))
    low, high = swept_axes.ends_of(best, quantity)
    best = best.assign(shown=best[quantity].astype("float64"), low=low, high=high)
    rows = pandas.concat([best, failed]).drop_duplicates(axes)
    names = [axis_value(by, name) for name in values_of(best, by, data)] if by else ["best"]
    rows = rows.assign(line=rows[by].map(lambda name: axis_value(by, name)) if by else "best")
    panels = rows[panel].map(lambda name: _panel_name(panel, name)) if panel else ""
    rows = rows.assign(panel=panels)
    groups, coloured = _alike(rows, x, names, quantity != "time_us")
    labels = {group[0]: "\n".join(broken(", ".join(group), LABEL_LETTERS, " ")) for group in groups}
    usual = {group[0]: style.colour(number) for number, group in enumerate(coloured)}
    colours = {label: data.settings.colours.get(name, usual.get(name, palette.GREY)) for name, label in labels.items()}
    rows = rows[rows["line"].isin([*labels])].replace({"line": labels})
    if any(len(group) > 1 for group in groups):
        caption += f" Lines that differ by at most {ALIKE_WITHIN:.0%} everywhere are drawn as one, the first named."
    heading = FIGURE.heading(data.title, f"{without_unit(label)} against {without_unit(axis_text(x))}")
    frame = Frame(width, heading, "", caption)
    figure, grid = facet_grid(frame, rows, "panel", sorted(rows["panel"].unique()), PANEL_IN)
    handles: list[Artist] = []
    for name, of_panel in grid.axes_dict.items():
        drawn = rows[rows["panel"] == name]
        texts = {value: axis_value(x, value) for value in values_of(drawn, x, data)}
        handles = draw_lines(of_panel, drawn, x, ("shown", "low", "high"), "line", colours, texts)
    grid.set_axis_labels(axis_text(x), label)
    hot = {_panel_name(panel, "hot")} if panel == "cache" else set()
    _scale_y(grid.axes_dict, hot, rows, quantity, data)
    add_legend(figure, handles, axis_text(by) if by else "")
    return figure


def _axes(data: StudyData) -> tuple[str, str | None]:
    """The axis across, and the axis of lines: None where nothing else varies."""
    chosen = data.settings.figure_axes.get("lines", {})
    of_kernels, sizes = swept_axes.by_effect(data), swept_axes.varied_sizes(data)
    of_launch = [axis for axis in of_kernels if axis != KERNEL]
    candidates = [
        axis for axis in (*sizes, *of_launch, *size_axes(data.settings), KERNEL) if axis not in chosen.values()
    ]
    values = timed(data.kernel_rows, data.device)
    # Axes of few values come last.
    candidates.sort(key=lambda axis: values[axis].nunique() < LEAST_VALUES)
    x = chosen.get("x") or candidates[0]
    counts = timed(swept_axes.rows_there(data, (x,)), data.device).nunique()
    few = [axis for axis in (*of_kernels, *sizes) if counts[axis] <= MOST_LINES]
    others = [*([KERNEL] if KERNEL in of_kernels else []), *few]
    return x, chosen.get("by") or next((axis for axis in others if axis not in (x, chosen.get("panel"))), None)


def _panel_name(panel: str, name: Any) -> str:
    return f"{axis_value(panel, name)} cache" if panel == "cache" else f"{panel}={axis_value(panel, name)}"


def _alike(
    rows: pandas.DataFrame, x: str, names: Sequence[str], more_is_better: bool
) -> tuple[list[list[str]], list[list[str]]]:
    """The names of lines, grouped where lines are alike; and the groups with a colour of their own.

    Where there are more groups than colours, these are the first, and those that come nearest to the best anywhere.
    """
    table = rows.pivot_table(index=["panel", x], columns="line", values="shown")
    groups: list[list[str]] = []
    for name in (name for name in names if name in table):
        alike = (group for group in groups if all(_are_alike(table[name], table[other]) for other in group))
        if group := next(alike, None):
            group.append(name)
        else:
            groups.append([name])
    if len(groups) <= style.MOST_COLOURS:
        return groups, groups
    shares = table.div(table.max(axis=1), axis=0) if more_is_better else 1 / table.div(table.min(axis=1), axis=0)
    nearest = sorted(groups[1:], key=lambda group: -shares[group[0]].max())[: style.MOST_COLOURS - 1]
    return groups, [group for group in groups if group is groups[0] or group in nearest]


def _are_alike(line: pandas.Series[float], other: pandas.Series[float]) -> bool:
    """Whether two lines have values at the same places, which differ by at most ALIKE_WITHIN of the larger."""
    apart = (line - other).abs() > ALIKE_WITHIN * line.where(line > other, other)
    return bool(line.isna().equals(other.isna()) and not apart.any())


def _scale_y(
    panels: Mapping[str, Axes], hot: Collection[str], rows: pandas.DataFrame, quantity: str, data: StudyData
) -> None:
    """Ratios are read against 1, all else against 0; times that are far apart on a logarithmic axis.

    With the memory's peak where bandwidths of a cold cache come near it.

    hot  the panels of a hot cache
    """
    low, high = rows["low"].min(), rows["high"].max()
    peak = (data.device["peak_bandwidth_gbs"] if quantity == "bandwidth_gbs" else None) or 0.0
    is_drawn, is_log = 0 < peak <= FURTHEST_PEAK * high, quantity == "time_us" and high > LOGARITHMIC_FROM * low
    limits = (0.0, max(high, peak * is_drawn) * HEADROOM)
    if is_log:
        limits = (low / HEADROOM, high * HEADROOM)
    elif quantity == GAIN:
        limits = (min(low, 1) / AROUND, max(high, 1) * AROUND)
    elif quantity == PEAK_SHARE:
        limits = (0.0, max(high, 100))
    for name, axes in panels.items():
        if is_log:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < MOST_TICKED * low else (1,)))
            axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(*limits)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        if is_drawn and name not in hot:
            axes.axhline(peak, color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
            text = f"memory's peak: {peak:,.0f}"
            axes.text(0.01, 0.99 * peak, text, transform=axes.get_yaxis_transform(), va="top", color=palette.GREY)
        if quantity in REFERENCES:
            axes.axhline(REFERENCES[quantity], color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
