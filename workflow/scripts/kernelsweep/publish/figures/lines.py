"""Throughput, or time, against one axis: a line for each value of another, the best over the rest."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.places import size_axes
from kernelsweep.analysis.reference import timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import axis_title, axis_value
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Legend,
    Width,
    empty_figure,
    panels_in_a_row,
    size_axis,
)
from kernelsweep.drawing.series import draw_lines, line_handles
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import best_at, fastest_of
from kernelsweep.publish.swept_axes import (
    KERNEL,
    axes_of_figure,
    best_rows,
    by_effect,
    no_times,
    place_caption,
    rows_there,
    shown_quantity,
    values_of,
    varied_sizes,
)

FIGURE = Declaration(
    title="Lines over an axis",
    purpose="throughput or time against an axis, a line a value of another",
    needs=("times",),
    axes=("x", "by"),
    shows_quantity=True,
)
HEIGHT_IN = {TWO_COLUMNS: 2.5, ONE_COLUMN: 1.9}
HEADROOM = 1.08
# More would not be told apart, and their legend would be taller than the figure.
MOST_LINES = 8
# Numbers that span this factor stand on a logarithmic axis.
LOGARITHMIC_FROM = 4
# The values themselves are ticked unless two are closer than this share of the axis.
CLOSEST_TICKS = 0.1


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """The study's file may name the axes: `lines: {x: n, by: tile, show: energy_mj}`.

    Otherwise x is the axis of the problem's size with most values, or where its size is one, the axis with most effect;
    lines are kernels, or where there is one, values of the axis with most effect that has up to MOST_LINES.
    """
    x, by = _axes(data)
    drawn = best_rows(data, [axis for axis in (x, by) if axis]) if x else data.kernel_rows.iloc[:0]
    caption = place_caption(data, {axis for axis in (x, by) if axis}, "Each point: the best over all other axes.")
    if drawn.empty:
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No times to draw.", caption), no_times(data))
    fastest = fastest_of(best_at(data).values())
    frame = Frame(width, FIGURE.heading(data.title), fastest_text(fastest, data.device) if fastest else "", caption)
    names = values_of(drawn, by, data) if by else [""]
    legend = Legend([_label(by, name) for name in names], axis_title(by) if by else "")
    panels = panels_in_a_row(frame, legend, 1, [HEIGHT_IN[width]])
    axes = panels.grid[0][0]
    shown = shown_quantity(drawn, data, "lines")
    drawn = drawn.assign(shown=shown.values)
    places = values_of(drawn, x, data)
    # Words, and numbers of one value, stand at 0, 1, 2, ...
    at = dict(zip(places, places if _are_numbers(places) else range(len(places)), strict=True))
    drawn = drawn.assign(at=drawn[x].map(at), line=drawn[by] if by else "")
    draw_lines(axes, drawn, "at", "shown", "line", names)
    _scale(axes, x, places, drawn["shown"])
    axes.set_ylabel(shown.label)
    panels.draw_legend(line_handles(legend.labels))
    return panels.figure


def _axes(data: StudyData) -> tuple[str, str | None]:
    """The axis across, and the axis of lines: None where nothing else varies."""
    chosen = axes_of_figure(data, "lines")
    of_kernels = by_effect(data)
    of_launch = [axis for axis in of_kernels if axis != KERNEL]
    candidates = [*varied_sizes(data), *of_launch, *size_axes(data.settings), KERNEL]
    x = chosen.get("x") or next(axis for axis in candidates if axis != chosen.get("by"))
    counts = timed(rows_there(data, (x,)), data.device).nunique()
    few = [axis for axis in [*of_kernels, *varied_sizes(data)] if counts[axis] <= MOST_LINES]
    others = [*([KERNEL] if KERNEL in of_kernels else []), *few]
    return x, chosen.get("by") or next((axis for axis in others if axis != x), None)


def _label(by: str | None, name: Any) -> str:
    return axis_value(by, name) if by else "best"


def _are_numbers(places: Sequence[Any]) -> bool:
    return not isinstance(places[0], str)


def _scale(axes: Axes, x: str, places: Sequence[Any], values: pandas.Series[Any]) -> None:
    """Both axes; the vertical one starts at 0."""
    axes.set_ylim(0, float(values.max()) * HEADROOM)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    if not _are_numbers(places):
        axes.set_xticks(range(len(places)), list(places))
    elif places[0] > 0 and places[-1] / places[0] >= LOGARITHMIC_FROM:
        size_axis(axes, places, lambda size: axis_value(x, size))
    elif min(map(sub, places[1:], places), default=0) >= CLOSEST_TICKS * (places[-1] - places[0]):
        axes.set_xticks(places, [axis_value(x, place) for place in places])
    axes.set_xlabel(axis_title(x))
