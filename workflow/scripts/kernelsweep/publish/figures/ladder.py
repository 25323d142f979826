"""The ladder: each step's time at the reference point, measured beside published, and its speedup on each device.

The steps of a study with axes of its own are its kernels, each at its fastest configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kernelsweep.analysis.limits import limit_kernel, limit_text
from kernelsweep.analysis.places import kernel_axes
from kernelsweep.analysis.published import CPU, Published
from kernelsweep.analysis.reference import undefined_kernels, unproven_kernels
from kernelsweep.analysis.steps import grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    axis_value,
    device_text,
    list_texts,
    reference_text,
    step_name,
)
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    legend_above,
    new_figure,
    say_missing,
)
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import best_at, fastest_of, is_tie
from kernelsweep.publish.swept_axes import no_times, place_caption
from kernelsweep.publish.tables.ladder_table import baseline_kernels
from kernelsweep.publish.tables.of_study import rows_of_steps
from kernelsweep.publish.tables.point_notes import NOT_MEASURED, PUBLISHED_ONLY

FIGURE = Declaration(
    title="Time, step by step",
    purpose="the time of each step of the story",
    needs=("times",),
)
ROW_IN = 0.2
# The axis and its label.
FRAME_IN = 0.45
# The range of the time axis is a factor of 2 at least. Beyond the outermost dots, value labels take these shares of
# its logarithm, and of the linear speedup axis.
LEAST_TIME_RANGE = 2.0
LEAST_LABELLED_RANGE = 4.0
TIME_ROOM = {TWO_COLUMNS: 0.17, ONE_COLUMN: 0.5}
SPEEDUP_ROOM = {TWO_COLUMNS: 0.17, ONE_COLUMN: 0.34}
# The multiples of powers of ten that are ticked up to a range of the time axis.
TICKS_BY_RANGE = {
    TWO_COLUMNS: {4.0: (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), 200.0: (1.0, 2.0, 5.0), math.inf: (1.0,)},
    ONE_COLUMN: {4.0: (1.0, 1.5, 2.0, 3.0, 5.0), 10.0: (1.0, 2.0, 5.0), math.inf: (1.0,)},
}
LABEL_OFFSET_PT = 5.0
# The lines of a legend that names the publication too.
LEGEND_LINES = {TWO_COLUMNS: 1, ONE_COLUMN: 2}

# What a row has no value for where its table has no such column: without a clock, or without published figures.
DRAWN_COLUMNS = ("time_us", "time_low_us", "time_high_us", "speedup", "published_time_us", "published_speedup")

MEASURED: dict[str, Any] = {"color": palette.BLUE, "marker": "o", "markersize": 4.5, "zorder": 3}
PUBLISHED: dict[str, Any] = {
    "color": palette.VERMILLION,
    "marker": "D",
    "markersize": 4.6,
    "markerfacecolor": "white",
    "markeredgewidth": 1.0,
    "zorder": 2,
}


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """Two panels with one row for each step: time (logarithmic, so that devices far apart stay legible) and speedup.

    Steps without a time say why in its place. On a platform without times only the published ones are drawn. Published
    times of another kind of device are not drawn, their speedups are. The host's times are left to the table: a
    hundred times as long, they would push the steps together.
    """
    table = _rows(data)
    frame = Frame(width, FIGURE.heading(data.title), _message(data, table, width), _caption(data, table))
    if table[["time_us", "published_time_us", "published_speedup"]].isna().all(axis=None):
        return empty_figure(frame, _reason(data, table))
    legend_lines = LEGEND_LINES[width] if data.published is not None else 1
    figure, time_axes, speedup_axes = _panels(frame, FRAME_IN + ROW_IN * len(table), legend_lines)
    _draw_times(time_axes, data, table, width)
    _draw_speedups(speedup_axes, table, width)
    for axes in (time_axes, speedup_axes):
        _label_rows(axes, table)
    _legend(figure, time_axes, data, table, legend_lines)
    return figure


def _rows(data: StudyData) -> pandas.DataFrame:
    """The rows of the study's table that are drawn, labelled; with columns of times even on platforms without."""
    table = rows_of_steps(data)
    table = table[~table["kernel"].isin([CPU, *baseline_kernels(data.settings)])]
    table = table.assign(**{column: float("nan") for column in DRAWN_COLUMNS if column not in table})
    table = table.assign(label=_labels(data, table))
    if _only_ratios(data.published):
        table = table[table["status"] != PUBLISHED_ONLY].assign(published_time_us=float("nan"))
    return table


def _panels(frame: Frame, height_in: float, legend_lines: int) -> tuple[Figure, Axes, Axes]:
    """The axes of times and of speedups: side by side with shared rows, or one above the other."""
    if frame.width.stacks:
        figure = new_figure(frame, 2 * height_in, legend_lines)
        times, speedups = figure.subplots(2, 1)
    else:
        figure = new_figure(frame, height_in, legend_lines)
        times, speedups = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    return figure, times, speedups


def _draw_times(axes: Axes, data: StudyData, table: pandas.DataFrame, width: Width) -> None:
    _pairs(axes, table["time_us"], table["published_time_us"], _digits, table[["time_low_us", "time_high_us"]])
    _intervals(axes, table)
    times: Any = table[["time_low_us", "time_us", "time_high_us", "published_time_us"]].stack()
    if times.notna().any():
        axes.set_xscale("log")
        least, most = float(times.min()), float(times.max())
        range_of_times = max(most / least, LEAST_TIME_RANGE)
        room = max(range_of_times, LEAST_LABELLED_RANGE) ** TIME_ROOM[width]
        axes.set_xlim(least / room, most * room)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        ticks = next(ticks for most, ticks in TICKS_BY_RANGE[width].items() if range_of_times <= most)
        axes.xaxis.set_major_locator(LogLocator(subs=ticks))
        axes.minorticks_off()
        axes.set_xlabel("time (µs, logarithmic)")
    else:
        axes.set_xticks([])
        axes.set_xlabel("no times of ours")
    if data.has_times:
        _write_statuses(axes, table)


def _draw_speedups(axes: Axes, table: pandas.DataFrame, width: Width) -> None:
    _pairs(axes, table["speedup"], table["published_speedup"], lambda value: f"{value:.{2 if value < 100 else 0}f}")
    speedups = pandas.concat([table["speedup"], table["published_speedup"]])
    if not speedups.notna().any():
        say_missing(axes, "no speedup: the first step has no time")
        return
    room = SPEEDUP_ROOM[width] * speedups.max()
    axes.set_xlim(0, speedups.max() + room)
    axes.set_xlabel(f"speedup over {table['label'].iloc[0]} (×)")


def _label_rows(axes: Axes, table: pandas.DataFrame) -> None:
    undefined = undefined_kernels(table)
    marks = [UNDEFINED_MARK if kernel in undefined else "" for kernel in table["kernel"]]
    axes.set_yticks(range(len(table)), [*(table["label"] + marks)])
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


@dataclass(frozen=True)
class _Dot:
    """A value in one of the rows; its label stands beside `label_at`, to the left or to the right."""

    row: int
    value: float
    label: str
    label_at: float
    is_left: bool
    look: dict[str, Any]


def _pairs(
    axes: Axes,
    measured: pandas.Series[float],
    published: pandas.Series[float],
    write: Callable[[float], str],
    intervals: pandas.DataFrame | None = None,
) -> None:
    """A dot for each value; where a step has both, the labels go to the outer sides, so they never meet.

    `intervals` has the ends of the measured values' intervals, beyond which their labels stand.
    """
    for row, (ours, theirs) in enumerate(zip(measured, published, strict=True)):
        low, high = (ours, ours) if intervals is None else intervals.iloc[row]
        both = pandas.notna(ours) and pandas.notna(theirs)
        # If both are equal, ours is labelled on the left.
        ours_left = both and ours <= theirs
        if pandas.notna(ours):
            _draw_dot(axes, _Dot(row, ours, write(ours), low if ours_left else high, ours_left, MEASURED))
        if pandas.notna(theirs):
            _draw_dot(axes, _Dot(row, theirs, write(theirs), theirs, both and not ours_left, PUBLISHED))


def _draw_dot(axes: Axes, dot: _Dot) -> None:
    axes.plot([dot.value], [dot.row], linestyle="none", **dot.look)
    axes.annotate(
        dot.label,
        (dot.label_at, dot.row),
        xytext=(-LABEL_OFFSET_PT if dot.is_left else LABEL_OFFSET_PT, 0),
        textcoords="offset points",
        ha="right" if dot.is_left else "left",
        va="center_baseline",
        color=palette.text_in(dot.look["color"]),
    )


def _intervals(axes: Axes, table: pandas.DataFrame) -> None:
    """The 95% intervals, thin in front of the dots."""
    for row, (low, high) in enumerate(zip(table["time_low_us"], table["time_high_us"], strict=True)):
        axes.plot([low, high], [row, row], color=palette.BLACK, linewidth=0.6, zorder=4)


def _write_statuses(axes: Axes, table: pandas.DataFrame) -> None:
    """The status of each step of ours without a time, at the edge that is farther from the published dot."""
    low, high = axes.get_xlim()
    for row, (time_us, published_us, status) in enumerate(
        zip(table["time_us"], table["published_time_us"], table["status"], strict=True)
    ):
        if pandas.isna(time_us) and status != PUBLISHED_ONLY:
            left = pandas.isna(published_us) or published_us >= math.sqrt(low * high)
            axes.text(
                0.01 if left else 0.99,
                row,
                status.replace("_", " "),
                transform=axes.get_yaxis_transform(),
                ha="left" if left else "right",
                va="center_baseline",
                color=palette.BLUE,
                style="italic",
            )


def _digits(value: float) -> str:
    """Four digits, as many as an interval is narrow."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _labels(data: StudyData, table: pandas.DataFrame) -> list[str]:
    """The labels of the steps, then of libraries, of limits, and of rows that only the publication has."""
    steps = data.steps
    further = table.iloc[len(steps) :]
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings["limits"]}
    labels = []
    for _, row in further.iterrows():
        unroll = row.get("unroll")
        label = limits.get(row["kernel"]) or step_name(row["kernel"], 1 if pandas.isna(unroll) else unroll)
        alike = further[further["kernel"] == row["kernel"]]
        words = [
            axis_value(axis, row[axis])
            for axis in kernel_axes(data.settings)
            if axis in alike and axis != "unroll" and alike[axis].nunique() > 1
        ]
        labels.append(", ".join([label, *words]))
    return step_labels(steps) + labels


def _only_ratios(published: Published | None) -> bool:
    return published is not None and published.only_ratios


def _legend(figure: Figure, axes: Axes, data: StudyData, table: pandas.DataFrame, lines: int) -> None:
    handles = []
    if table["time_us"].notna().any():
        handles += axes.plot([], [], linestyle="none", label=f"measured: {data.device['name']}", **MEASURED)
    published = data.published
    if published is not None:
        label = f"{published.label}: {published.device}{', speedups alone' if published.only_ratios else ''}"
        handles += axes.plot([], [], linestyle="none", label=label, **PUBLISHED)
    legend_above(figure, handles, lines, handletextpad=0.3)


def _reason(data: StudyData, table: pandas.DataFrame) -> str:
    if not data.has_times:
        return f"No times: {device_text(data.device)}."
    statuses: Sequence[str] = sorted(set(table["status"]) - {PUBLISHED_ONLY})
    if not data.steps:
        return no_times(data)
    if statuses == [NOT_MEASURED]:
        return "No times: the sweep has no points at the reference."
    return f"No times: the points at the reference are {', '.join(statuses).replace('_', ' ')}."


def _message(data: StudyData, table: pandas.DataFrame, width: Width) -> str:
    """What the steps bring; over two columns, which have the room, also the fastest of all configurations."""
    if not data.has_times:
        return "Published figures only: this platform has no times of its own."
    if table["time_us"].isna().all():
        return "No step has a measured time at the reference point."
    left_out = undefined_kernels(table) | unproven_kernels(table)
    of_study = table["kernel"].isin(data.kernel_names) & ~table["kernel"].isin(left_out)
    allowed = table[of_study & table["time_us"].notna()]
    if allowed.empty:
        return "Only steps with undefined behaviour, or with a mistake that their proof found, have a time."
    sentence = _steps_sentence(data, table, allowed)
    # Where each step is at its fastest, its sentence has said that already.
    fastest = fastest_of(best_at(data).values()) if data.steps and not width.stacks else None
    return f"{sentence} {fastest_text(fastest, data.device)}" if fastest else sentence


def _steps_sentence(data: StudyData, table: pandas.DataFrame, allowed: pandas.DataFrame) -> str:
    """What the steps bring: at the published configuration, which is one slice of the sweep, or each at its fastest."""
    where = f"At block size {data.settings['reference']['block_size']}" if data.steps else "Each at its fastest"
    first = table["label"].iloc[0]
    ordered = allowed.sort_values(["time_us", "label"])
    best = ordered.iloc[0]
    tied = [row["label"] for _, row in ordered.iloc[1:].iterrows() if is_tie(dict(row), dict(best))]
    labels = list_texts([best["label"], *tied])
    if pandas.isna(best["speedup"]):
        return f"{where}, {labels}: {_digits(best['time_us'])} µs; no speedup of ours, as {first} has no time."
    if first in (best["label"], *tied):
        return f"{where}, no later step is faster than {first}."
    times = f"{best['speedup']:.{1 if best['speedup'] >= 2 else 2}f}"
    return f"{where}, {labels}{' are each' if tied else ' is'} {times} times as fast as {first}."


def _caption(data: StudyData, table: pandas.DataFrame) -> str:
    if data.steps:
        place = f"Reference point: {reference_text(data.settings)}.{grids_text(data.steps)}"
        texts = [f"{device_text(data.device)}.", place]
    else:
        texts = [place_caption(data, (), "Each kernel at its fastest configuration.")]
    if table["time_us"].notna().any():
        texts.append("Thin bars in the dots: 95% interval of the median.")
    published = data.published
    if published is not None:
        texts.append(f"{published.label[:1].upper()}{published.label[1:]}: {published.device} ({published.source}).")
    if _only_ratios(published):
        texts.append(
            "Its times are not drawn: on another kind of device only the ratios between steps can be compared."
        )
    if undefined_kernels(table):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
