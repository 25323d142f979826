"""The ladder: each step's time at the reference point, and its speedup.

The steps of a study with axes of its own are its kernels, each at its fastest configuration.
"""

from __future__ import annotations

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.places import kernel_axes
from kernelsweep.analysis.reference import undefined_kernels, unproven_kernels
from kernelsweep.analysis.steps import grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
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
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.dots import digits, draw_column, label_rows
from kernelsweep.drawing.layout import (
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    new_figure,
    text_width_pt,
)
from kernelsweep.judge.best.find import best_at, comparable, is_tie
from kernelsweep.publish.swept_axes import no_times, place_caption
from kernelsweep.publish.tables.study_table import KERNEL_ROW, study_table

FIGURE = Declaration(
    title="Time, step by step",
    purpose="the time of each step of the story",
    needs=("times",),
)
ROW_IN, FRAME_IN = 0.2, 0.45
# A panel with its labels needs this much room; and the parts of what labels leave of the width that the axes take.
LEAST_IN, SHARES = 3.0, (0.56, 0.37)
# What a row has no value for on a platform without a clock.
DRAWN_COLUMNS = ("time_us", "time_low_us", "time_high_us", "speedup")


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """Two panels with one row for each step: time and speedup, logarithmic.

    Steps without a time say why in its place.
    """
    table = _rows(data)
    frame = Frame(width, FIGURE.heading(data.title), _message(data, table), _caption(data, table))
    if table["time_us"].isna().all():
        return empty_figure(frame, _reason(data, table))
    labels = _row_labels(data, table)
    columns = width.columns(2, LEAST_IN)
    figure = new_figure(frame, (FRAME_IN + ROW_IN * len(table)) * (3 - columns))
    beside_in = width.inches - max(map(text_width_pt, labels)) / POINTS_PER_INCH
    shares = SHARES if columns == 2 else (0.9, 0.9)
    sides = figure.subplots(3 - columns, columns, sharey=True, width_ratios=shares[:columns])
    titles = ("time (µs)", f"speedup over {table['label'].iloc[0]}")
    for axes, name, title, share in zip(sides, ("time", "speedup"), titles, shares, strict=True):
        drawn = table[["time_us", "time_low_us", "time_high_us"] if name == "time" else ["speedup"] * 3]
        dots = (
            drawn.set_axis(["value", "low", "high"], axis=1).astype(float).assign(row=range(len(table)), is_open=False)
        )
        dots = dots[dots["value"].notna()]
        if dots.empty:
            axes.set_xticks([])
        else:
            draw_column(axes, dots, share * beside_in)
        axes.set_xlabel(f"no {title}" if dots.empty else title)
        label_rows(axes, labels)
        axes.tick_params(labelleft=columns == 1 or name == "time")
    return figure


def _rows(data: StudyData) -> pandas.DataFrame:
    """The rows of the study's table that are drawn, labelled; with columns of times even on platforms without."""
    table = study_table(data)
    table = table.assign(**{column: float("nan") for column in DRAWN_COLUMNS if column not in table})
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
    """The labels of the steps, then of libraries and limits."""
    steps = data.steps
    further = table.iloc[len(steps) :]
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings.limits}
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


def _reason(data: StudyData, table: pandas.DataFrame) -> str:
    if not data.has_times or not data.steps:
        return no_times(data)
    statuses = ", ".join(sorted(set(table["status"]))).replace("_", " ")
    return f"No times: the points at the reference are {statuses}."


def _message(data: StudyData, table: pandas.DataFrame) -> str:
    """What the steps bring: at the published configuration, or each at its fastest."""
    left_out = undefined_kernels(table) | unproven_kernels(table)
    if not data.steps:
        left_out |= set(data.kernel_names) - {best.kernel for best in comparable(best_at(data).values())}
    of_study = (table["kind"] == KERNEL_ROW) & ~table["kernel"].isin(left_out)
    allowed = table[of_study & table["time_us"].notna()].sort_values(["time_us", "label"])
    if allowed.empty:
        return "No step has a time that may be compared."
    where = f"At block size {data.settings.reference['block_size']}" if data.steps else "Each at its fastest"
    first, best = table["label"].iloc[0], allowed.iloc[0]
    labels = [row["label"] for _, row in allowed.iterrows() if is_tie(dict(row), dict(best))]
    if pandas.isna(best["speedup"]):
        return f"{where}, {list_texts(labels)}: {digits(best['time_us'])} µs."
    if first in labels:
        return f"{where}, no later step is faster than {first}."
    times = f"{best['speedup']:.{1 if best['speedup'] >= 2 else 2}f}"
    return f"{where}, {list_texts(labels)}: {times} times as fast as {first}."


def _caption(data: StudyData, table: pandas.DataFrame) -> str:
    if data.steps:
        texts = [
            f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.{grids_text(data.steps)}"
        ]
    else:
        texts = [place_caption(data, (), "Each kernel at its fastest configuration.")]
    texts.append("Both axes are logarithmic. Lines, where longer than a dot: 95% interval of the median.")
    if undefined_kernels(table):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
