"""The ladder: each step's time at the reference point, and its speedup over the first.

The steps of a study with axes of its own are its kernels, each at its fastest configuration. Beside published numbers,
the axis is the speedup: times of another device, and perhaps of another size, have no common axis with ours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator

from kernelsweep.judge.best.find import best_at, comparable, is_tie
from kernelsweep.judge.data.published import SPEEDUP, TIME
from kernelsweep.judge.data.reference import flagged_kernels, undefined_kernels
from kernelsweep.judge.data.steps import grids_text, step_labels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_words, shown_place
from kernelsweep.judge.data.words import (
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    axis_value,
    device_text,
    limit_kernel,
    limit_text,
    list_texts,
    reference_text,
    step_name,
)
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import LETTER_IN, TWO_COLUMNS, Frame, empty_figure, new_figure
from kernelsweep.publish.drawing.series import on_grid
from kernelsweep.publish.figure_files import FIGURES
from kernelsweep.publish.swept_axes import no_times, place_caption
from kernelsweep.publish.tables.formats import broken, four_digits
from kernelsweep.publish.tables.published_text import PublishedColumn
from kernelsweep.publish.tables.study_table import KERNEL_ROW, RIVAL_ROW, published_columns, study_table
from kernelsweep.results import PROOF_FAILED

FIGURE = FIGURES["ladder"]
ROW_IN, FRAME_IN = 0.2, 0.4
# A name's lines have at most so many letters for each inch of the figure's width.
NAME_LETTERS_AN_INCH = 7
# What a row has no value for on a platform without a clock.
OF_TIME, OF_SPEEDUP = ("time_us", "time_low_us", "time_high_us"), ("speedup", "speedup_low", "speedup_high")
DOT_PT = 4.8
# The marks of published numbers, by source: hollow, and wide enough to be seen around a dot.
HOLLOW_PT, HOLLOW = 6.0, (("D", palette.VERMILLION), ("^", palette.GREEN), ("s", palette.PURPLE), ("v", palette.ORANGE))
LEGEND_LINE_IN = 0.16
# The multiples of powers of ten that are ticked: the first of these that give few enough ticks.
TICKS = ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
# Times that are nearer than this factor may have none of these between them.
TICKS_ACROSS = 2.0
# The room of a tick.
TICK_IN = 0.45


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Figure:
    """A row for each step: its time, and its speedup. Steps without a time say why."""
    table = _rows(data)
    columns = published_columns(data)
    published = [column for column in columns if column.quantity == SPEEDUP]
    if not table["speedup"].notna().any() and table["time_us"].notna().any():
        published = []  # The first step failed here: there is no common axis.
    heading = FIGURE.heading(data.title, "Speedup, step by step" if published else "")
    frame = Frame(width, heading, _message(data, table, published), _caption(data, table, published))
    if table["time_us"].isna().all() and not published:
        return empty_figure(frame, no_times(data))
    names = ["\n".join(broken(name, int(NAME_LETTERS_AN_INCH * width))) for name in _row_labels(data, table)]
    row_in = ROW_IN * (1.3 if any("\n" in name for name in names) else 1)
    figure = new_figure(frame, FRAME_IN + row_in * len(table))
    axes = figure.subplots()
    value, low, high = OF_SPEEDUP if published else OF_TIME
    timed = table[[value, low, high]].astype(float).assign(row=range(len(table))).dropna()
    axes.hlines(timed["row"], timed[low], timed[high], colors=palette.BLUE, linewidth=1.0)
    seaborn.scatterplot(timed, x=value, y="row", s=DOT_PT**2, c=palette.BLUE, linewidth=0, ax=axes, zorder=3)
    handles = [Line2D([], [], ls="", marker="o", ms=DOT_PT, mew=0, c=palette.BLUE, label=data.device["name"])]
    for column, (marker, colour) in zip(published, itertools.cycle(HOLLOW)):
        look: Any = {"ls": "", "marker": marker, "ms": HOLLOW_PT, "mfc": "none", "mec": colour, "mew": 0.9}
        handles += axes.plot(column.values, range(len(column.values)), label=f"published: {column.origin}", **look)
    on_grid(axes)
    axes.grid(visible=False, axis="y")
    values, colour = _values(table["time_us"], table["speedup"]), palette.INK
    if timed.empty:
        times = [column.values for column in columns if (column.origin, column.quantity) == (published[0].origin, TIME)]
        values, colour = _values(*times, published[0].values), palette.text_in(HOLLOW[0][1])
    _name_rows(axes, names, values, colour)
    axes.set_xlabel(f"times as fast as {table['label'].iloc[0]} on the same GPU" if published else "time (µs)")
    if published:
        _add_legend(figure, handles if len(timed) else handles[1:])
    return figure


def _values(*columns: Iterable[float]) -> list[str]:
    """Each row's time, if there are times, and speedup in words."""
    *times, gains = ([*column] for column in columns)
    words = [[f"{four_digits(time)} µs" if time == time else "" for time in of_source] for of_source in times]
    words.append([f"{gain:.{2 if gain < 10 else 1}f}×" if gain == gain else "" for gain in gains])
    return [", ".join(filter(None, row)) for row in zip(*words, strict=True)]


def _add_legend(figure: Figure, handles: Sequence[Line2D]) -> None:
    """A legend above the rows, which the figure grows for: beside them are their values."""
    letters = max(len(str(handle.get_label())) for handle in handles)
    across = max(1, min(len(handles), int(figure.get_figwidth() / (letters * LETTER_IN + 0.3))))
    figure.legend(handles=handles, loc="outside upper left", ncols=across, frameon=False, borderpad=0.0, handlelength=1)
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE_IN * math.ceil(len(handles) / across))


def _name_rows(axes: Axes, names: Sequence[str], values: Sequence[str], colour: str) -> None:
    """Each row's name on the left and its value in words on the right, and ticks below for the room between them."""
    beside = axes.secondary_yaxis("right")
    for side, texts, spine in ((axes, names, "left"), (beside, values, "right")):
        side.set_yticks(range(len(texts)), texts)
        side.tick_params(axis="y", length=0)
        side.spines[spine].set_visible(False)
    beside.tick_params(axis="y", labelcolor=colour)
    axes.set_ylim(len(names) - 0.5, -0.5)
    letters = sum(max(map(len, "\n".join(texts).split("\n"))) for texts in (names, values))
    most = max(2, int((axes.figure.bbox.width / axes.figure.dpi - letters * LETTER_IN) / TICK_IN))
    low, high = axes.dataLim.intervalx
    axes.set_xscale("log")
    fitting = next((subs for subs in TICKS if len(subs) * math.log10(high / low) <= most), TICKS[-1])
    few = MaxNLocator(most, steps=[1, 2, 5, 10])
    axes.xaxis.set_major_locator(LogLocator(subs=fitting, numticks=most) if high > TICKS_ACROSS * low else few)
    axes.xaxis.set_ticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")


def _rows(data: StudyData) -> pandas.DataFrame:
    """The rows of the study's table that are drawn, labelled; with columns of times even on platforms without."""
    table = study_table(data)
    table = table.assign(**{name: float("nan") for name in (*OF_TIME, *OF_SPEEDUP) if name not in table})
    return table.assign(label=_labels(data, table))


def _row_labels(data: StudyData, table: pandas.DataFrame) -> list[str]:
    """The steps; undefined behaviour is marked, and one without a time of ours says why."""
    undefined, labels = undefined_kernels(table), []
    for row in table.to_dict("records"):
        mark = UNDEFINED_MARK if row["kernel"] in undefined else ""
        is_missing = data.has_times and pandas.isna(row["time_us"])
        labels.append(f"{row['label']}{mark}" + (f": {row['status'].replace('_', ' ')}" if is_missing else ""))
    return labels


def _labels(data: StudyData, table: pandas.DataFrame) -> list[str]:
    """The labels of the steps, then of libraries and limits. An axis by which a library's rows differ is named, too."""
    further = table.iloc[len(data.steps) :]
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings.limits}
    rivals = further[further["kind"] == RIVAL_ROW]
    axes = [axis for axis in kernel_axes(data.settings) if axis != "unroll" and rivals[axis].nunique() > 1]
    labels = []
    for row in further.to_dict("records"):
        unroll = row.get("unroll")
        label = limits.get(row["kernel"]) or step_name(row["kernel"], {"unroll": 1 if pandas.isna(unroll) else unroll})
        differing = [axis for axis in axes if pandas.notna(row[axis]) and row[axis] != further[axis].dropna().iloc[0]]
        words = [axis_value(axis, row[axis]) for axis in differing]
        labels.append(", ".join([label, *filter(None, words)]))
    return step_labels(data.steps) + labels


def _message(data: StudyData, table: pandas.DataFrame, published: Sequence[PublishedColumn]) -> str:
    """What the steps bring: at the reference point, or each at its fastest; or what others print."""
    if not data.has_times and published:
        one, gains = published[0].first, published[0].values
        place = int(np.nanargmax(gains))
        words = _words(table["label"].iloc[place], gains[place], table["label"].iloc[0])
        return f"No times here. On the {one.device} of {one.source}, {words}"
    left_out = undefined_kernels(table) | flagged_kernels(table, PROOF_FAILED)
    if not data.steps:
        left_out |= set(data.kernel_names) - {best.kernel for best in comparable(best_at(data).values())}
    of_study = (table["kind"] == KERNEL_ROW) & ~table["kernel"].isin(left_out)
    allowed = table[of_study & table["time_us"].notna()].sort_values(["time_us", "label"])
    if allowed.empty:
        return "No step has a time that may be compared."
    size = place_words(data.settings.reference if data.steps else shown_place(data), data.settings)
    block = data.settings.reference.get("block_size")
    how = "" if data.steps else ", each at its fastest"
    how += f" and block size {block}" if data.steps and block else ""
    where = f"At {size}{how}" if size else "Each at its fastest"
    first, best = table["label"].iloc[0], allowed.iloc[0]
    labels = [row["label"] for _, row in allowed.iterrows() if is_tie(dict(row), dict(best))]
    if pandas.isna(best["speedup"]):
        return f"{where}, {list_texts(labels)}: {four_digits(best['time_us'])} µs."
    if first in labels:
        return f"{where}, no later step is faster than {first}."
    return f"{where}, {_words(list_texts(labels), best['speedup'], first)}"


def _words(steps: str, gain: float, first: str) -> str:
    return f"{steps}: {gain:.{1 if gain >= 2 else 2}f} times as fast as {first}."


def _caption(data: StudyData, table: pandas.DataFrame, published: Sequence[PublishedColumn]) -> str:
    texts, first = [], table["label"].iloc[0]
    if not data.has_times and published:
        texts.append(f"On the right: {published[0].origin}.")
    elif data.steps:
        where = reference_text(data.settings)
        texts.append(f"{device_text(data.device)}. Reference point: {where}.{grids_text(data.steps)}")
    else:
        texts.append(place_caption(data, (), "Each kernel at its fastest configuration."))
    texts.append(f"×: times as fast as {first}. The axis is logarithmic.")
    if data.has_times:
        texts.append("Lines, where longer than a dot: 95% interval.")
    if published:
        origins = list_texts([one.origin for one in published])
        texts.append(f"Hollow: published, {origins}; each over {first} on its own device.")
    if undefined_kernels(table):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
