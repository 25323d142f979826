"""The effect of each axis: the best time at each of its values, relative to the best of all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import axis_value, list_texts
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.dots import draw_dots, name_rows
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure, new_figure
from kernelsweep.publish.swept_axes import (
    KERNEL,
    best_rows,
    by_effect,
    no_times,
    place_caption,
    rows_there,
    values_of,
)
from kernelsweep.statistics import ratio, time_interval

FIGURE = Declaration(
    title="The effect of each axis",
    purpose="the best time at each value of each axis",
    needs=("times",),
)
ROW_IN, GAP_ROWS, FRAME_IN = 0.15, 0.6, 0.36
# More rows would not fit on a page.
MOST_ROWS = 45


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A group of rows for each axis, the axis first whose worst value costs most; a row for each of its values.

    All other axes are at their best: the cost of a value is the least that choosing it costs.
    """
    caption = place_caption(
        data,
        (),
        "Each value's best time over all other axes, relative to the best of all; line: 95% interval."
        " Filled: can't be told apart from the best.",
    )
    axes_shown, left_out = _that_fit(data)
    if left_out:
        caption += f" No room for {list_texts(left_out, most=len(left_out))}."
    frame = Frame(width, FIGURE.heading(data.title), "", caption)
    if not axes_shown:
        has_times = not best_rows(data, [KERNEL]).empty
        return empty_figure(frame, "Each axis has one value with a time." if has_times else no_times(data))
    values = pandas.concat([_values(data, axis) for axis in axes_shown], ignore_index=True)
    # A gap between two axes.
    groups = (values["axis"] != values["axis"].shift()).cumsum() - 1
    values = values.assign(row=values.index + GAP_ROWS * groups, is_open=values["low"] > 1)
    figure = new_figure(frame, FRAME_IN + ROW_IN * (values["row"].max() + 1))
    axes = figure.subplots()
    colours = {axis: style.colour(number) for number, axis in enumerate(values["axis"].unique())}
    axes.hlines(values["row"], 1, values["value"], color=palette.LEADER_GREY, linewidth=1.0, zorder=1.5)
    timed_values = values[values["value"].notna()]
    draw_dots(axes, timed_values, list(timed_values["axis"].map(colours)))
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    costs = [f"{value:.2f}×" if value == value else "no time" for value in values["value"]]
    name_rows(axes, list(values["row"]), list(values["text"]), costs)
    for first in values.drop_duplicates("axis").index:
        colour = palette.text_in(colours[values["axis"][first]])
        axes.get_yticklabels()[first].set(weight="bold", color=colour)
    axes.set_xlabel("best time at the value (× the best)")
    return figure


def _that_fit(data: StudyData) -> tuple[list[str], list[str]]:
    """The axes that have room, and the others."""
    counts = timed(rows_there(data, ()), data.device).nunique()
    fit: list[str] = []
    others: list[str] = []
    for axis in by_effect(data):
        has_room = not fit or counts[[*fit, axis]].sum() <= MOST_ROWS
        (fit if has_room else others).append(axis)
    return fit, others


def _values(data: StudyData, axis: str) -> pandas.DataFrame:
    """A row for each value of an axis: axis, text, and its best cost over the best of all; NaN without one."""
    best: dict[Any, Any] = {row[axis]: row for row in best_rows(data, [axis]).to_dict("records")}
    least = time_interval(min(best.values(), key=lambda row: row["time_us"]))
    costs = {value: ratio(over=time_interval(row), under=least) for value, row in best.items()}
    every = values_of(rows_there(data, ()), axis, data)
    found = [asdict(costs[value]) if value in costs else {} for value in every]
    texts = [axis_value(axis, value) for value in every]
    names = pandas.DataFrame({"axis": axis, "text": [f"{axis}: {texts[0]}", *texts[1:]]})
    return names.join(pandas.DataFrame(found, columns=["value", "low", "high"], dtype=float))
