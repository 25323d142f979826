"""The effect of each axis: the best time at each of its values, relative to the best of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kernelsweep.analysis.objective import cost_interval
from kernelsweep.analysis.reference import timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import axis_value, list_texts
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure, new_figure, text_width_pt
from kernelsweep.intervals import Interval, ratio
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import best_at, fastest_of
from kernelsweep.publish.swept_axes import best_rows, by_effect, no_times, place_caption, rows_there, values_of
from kernelsweep.sweep.study_quantities import TIME, objective_of

FIGURE = Declaration(
    title="The effect of each axis",
    purpose="the best time at each value of each axis",
    needs=("times",),
)
ROW_IN, GAP_ROWS, FRAME_IN = 0.15, 0.6, 0.36
# More rows would not fit on a page.
MOST_ROWS = 45
# Between an axis' name and its values.
NAME_GAP_PT = 8.0
# Costs beyond this factor stand on a logarithmic axis: the small ones are what is chosen among.
LOGARITHMIC_FROM = 4.0
# Room for a number beside its point, as a share of the axis.
ROOM = 1.12


@dataclass(frozen=True)
class _Value:
    """A value of an axis, and its best cost over the best of all, which is the time's; None without one."""

    axis: str
    text: str
    cost: Interval | None


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A group of rows for each axis, the axis first whose worst value costs most; a row for each of its values.

    All other axes are at their best: the cost of a value is the least that choosing it costs.
    """
    fastest = fastest_of(best_at(data).values())
    objective = objective_of(data.settings)
    compared = "time" if objective.name == TIME else objective.name
    meaning = (
        f"Each value's best {compared} over all other axes, relative to the best of all; line: 95% interval."
        " Filled: can't be told apart from the best."
    )
    caption = place_caption(data, (), meaning)
    if fastest is None:
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No times to compare.", caption), no_times(data))
    axes_shown, left_out = _that_fit(data)
    if left_out:
        caption += f" No room for {list_texts(left_out, most=len(left_out))}."
    frame = Frame(width, FIGURE.heading(data.title), fastest_text(fastest, data.device), caption)
    if not axes_shown:
        return empty_figure(frame, "Each axis has one value with a time.")
    groups = [_values(data, axis) for axis in axes_shown]
    rows = sum(len(group) for group in groups) + GAP_ROWS * (len(groups) - 1)
    figure = new_figure(frame, FRAME_IN + ROW_IN * rows)
    at_value, of_all = f"best {compared} at the value", "the best of all"
    label = f"{of_all}, over the {at_value}" if objective.more_is_better else f"{at_value}, over {of_all}"
    _draw_groups(figure.subplots(), groups, label)
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


def _values(data: StudyData, axis: str) -> list[_Value]:
    best: dict[Any, Any] = {row[axis]: row for row in best_rows(data, [axis]).to_dict("records")}
    least = cost_interval(min(best.values(), key=lambda row: row["cost"]))
    costs = {value: ratio(over=cost_interval(row), under=least) for value, row in best.items()}
    return [
        _Value(axis, axis_value(axis, value), costs.get(value)) for value in values_of(rows_there(data, ()), axis, data)
    ]


def _draw_groups(axes: Axes, groups: list[list[_Value]], label: str) -> None:
    places: list[float] = []
    labels: list[str] = []
    top = 0.0
    high = max(value.cost.high for group in groups for value in group if value.cost)
    low = min(value.cost.low for group in groups for value in group if value.cost)
    if high > LOGARITHMIC_FROM:
        axes.set_xscale("log")
        axes.set_xlim(low / high**0.02, high**ROOM)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
    else:
        axes.set_xlim(low - (high - 1) * 0.03, 1 + (high - 1) * ROOM)
    beside_pt = max(text_width_pt(value.text) for group in groups for value in group) + NAME_GAP_PT
    for colour, group in zip(palette.LINE_COLOURS * len(groups), groups, strict=False):
        for row, value in enumerate(group):
            _draw_value(axes, value, top + row + 0.5, colour)
            places.append(top + row + 0.5)
            labels.append(value.text)
        axes.annotate(
            group[0].axis,
            (0, top + 0.5),
            xycoords=axes.get_yaxis_transform(),
            xytext=(-beside_pt, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=palette.text_in(colour),
            weight="bold",
        )
        top += len(group) + GAP_ROWS
    axes.set_ylim(top - GAP_ROWS, 0)
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0)
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    axes.grid(axis="x", color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(label)


def _draw_value(axes: Axes, value: _Value, place: float, colour: str) -> None:
    if value.cost is None:
        axes.text(1.0, place, " no time", color=palette.GREY, va="center")
        return
    cost = value.cost
    axes.plot([1, cost.value], [place, place], color=palette.LEADER_GREY, linewidth=1.0, zorder=1.5)
    axes.plot([cost.low, cost.high], [place, place], color=colour, linewidth=1.0)
    fill = colour if cost.low <= 1 else "white"
    axes.plot([cost.value], [place], "o", markersize=4.0, color=colour, markerfacecolor=fill)
    axes.annotate(
        f"{cost.value:.2f}×",
        (cost.high, place),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        color=palette.GREY,
    )
