"""The ladder: each step's time at the reference point, measured beside published, and its speedup on each device.

The steps of a study with axes of its own are its kernels, each at its fastest configuration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from kernelsweep.drawing.dots import MEASURED_LOOK, PUBLISHED_LOOK, dot_handle, draw_pairs
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    legend_above,
    new_figure,
    say_missing,
    text_width_pt,
)
from kernelsweep.drawing.value_axis import LEAST_FACTOR, logarithmic
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
# The parts of the width beside the labels that the two axes take.
SHARES = {TWO_COLUMNS: (0.56, 0.37), ONE_COLUMN: (0.9, 0.9)}
# The room for a label beyond the outermost dots, and for half a dot where no label stands.
LABEL_IN, DOT_IN = 0.42, 0.08
# The lines of a legend that names the publication too.
LEGEND_LINES = {TWO_COLUMNS: 1, ONE_COLUMN: 2}

# What a row has no value for where its table has no such column: without a clock, or without published figures.
DRAWN_COLUMNS = ("time_us", "time_low_us", "time_high_us", "speedup", "published_time_us", "published_speedup")


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """Two panels with one row for each step: time and speedup, logarithmic.

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
    beside_in = width.inches - max(map(text_width_pt, table["label"])) / POINTS_PER_INCH
    times_in, speedups_in = (share * beside_in for share in SHARES[width])
    _draw_times(time_axes, data, table, times_in)
    _draw_speedups(speedup_axes, table, speedups_in)
    for axes in (time_axes, speedup_axes):
        _label_rows(axes, table)
    _legend(figure, data, table, legend_lines)
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


def _dots(table: pandas.DataFrame, ours: Sequence[str], published: str) -> pandas.DataFrame:
    """A dot for each of our values and each published one, of the columns with the value and its interval's ends."""
    sides = [
        table[list(columns)].astype(float).set_axis(["value", "low", "high"], axis=1)
        for columns in (ours, [published] * 3)
    ]
    dots = [side.assign(row=range(len(table)), is_open=bool(number)) for number, side in enumerate(sides)]
    return pandas.concat(dots, ignore_index=True)


def _draw_times(axes: Axes, data: StudyData, table: pandas.DataFrame, length_in: float) -> None:
    dots = _dots(table, ["time_us", "time_low_us", "time_high_us"], "published_time_us")
    draw_pairs(axes, dots, dots["value"].map(_digits))
    if dots["value"].notna().any():
        _scale(axes, dots, length_in)
        axes.set_xlabel("time (µs)")
    else:
        axes.set_xticks([])
        axes.set_xlabel("no times of ours")
    if data.has_times:
        _write_statuses(axes, table)


def _draw_speedups(axes: Axes, table: pandas.DataFrame, length_in: float) -> None:
    dots = _dots(table, ["speedup"] * 3, "published_speedup")
    if dots["value"].isna().all():
        say_missing(axes, "no speedup: the first step has no time")
        return
    draw_pairs(axes, dots, dots["value"].map(lambda value: f"{value:.{2 if value < 100 else 0}f}"))
    _scale(axes, dots, length_in)
    axes.set_xlabel(f"speedup over {table['label'].iloc[0]}")


def _scale(axes: Axes, dots: pandas.DataFrame, length_in: float) -> None:
    """A logarithmic axis with room for the labels, which stand on the left only where there are published values."""
    least, most = float(dots["low"].min()), float(dots["high"].max())
    left_in = LABEL_IN if dots.loc[dots["value"].notna(), "is_open"].nunique() > 1 else DOT_IN
    inch = max(most / least, LEAST_FACTOR) ** (1 / (length_in - left_in - LABEL_IN))
    logarithmic(axes, least / inch**left_in, most * inch**LABEL_IN, length_in)


def _label_rows(axes: Axes, table: pandas.DataFrame) -> None:
    undefined = undefined_kernels(table)
    marks = [UNDEFINED_MARK if kernel in undefined else "" for kernel in table["kernel"]]
    axes.set_yticks(range(len(table)), [*(table["label"] + marks)])
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


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


def _legend(figure: Figure, data: StudyData, table: pandas.DataFrame, lines: int) -> None:
    handles = []
    if table["time_us"].notna().any():
        handles.append(dot_handle(f"measured: {data.device['name']}", *MEASURED_LOOK))
    published = data.published
    if published is not None:
        label = f"{published.label}: {published.device}{', speedups alone' if published.only_ratios else ''}"
        handles.append(dot_handle(label, *PUBLISHED_LOOK, is_open=True))
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
    texts.append("Both axes are logarithmic.")
    if table["time_us"].notna().any():
        texts.append("Lines, where longer than a dot: 95% interval of the median.")
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
