"""Hardware metrics step by step, a panel each: the effects of a step besides its time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import (
    LEAST_SHARE,
    by_step,
    heading,
    sources,
    step_metrics,
    title,
    unit_of,
    why_none,
)
from kernelsweep.analysis.steps import grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.dots import (
    MEASURED_LOOK,
    PUBLISHED_LOOK,
    digits,
    dot_handle,
    draw_dots,
    label_dots,
    label_rows,
)
from kernelsweep.drawing.layout import (
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    add_legend,
    empty_figure,
    text_width_pt,
    wrap,
)
from kernelsweep.drawing.series import facet_grid
from kernelsweep.drawing.value_axis import logarithmic

FIGURE = Declaration(
    title="Hardware counters, step by step",
    purpose="hardware counters of each step",
    needs=("metrics",),
)
PANELS_A_ROW = 3
# A panel's row, its axis with the heading, a further line of the heading, and the room beside a panel and for a value.
ROW_IN, FRAME_IN, LINE_IN, GAP_IN, VALUE_IN = 0.141, 0.5, 0.12, 0.12, 0.42
# Longer names of steps than this share of the width are in the caption, by number.
MOST_NAMES = 0.4
# Percentages up to this have an axis of their own; others share one up to 100%.
SMALL_PERCENTAGE = 10.0
# Values that differ by less than this share say the same of every step: such a metric is a sentence, not a panel.
LEAST_VARIATION = 0.005
# Beyond this ratio of the largest to the smallest value, an axis is logarithmic.
WIDE_RANGE = 12.0


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each metric that the study names and that varies, with a row for each step.

    Published values of the same kind of device stand beside ours. Steps without any value, and metrics that do not
    vary, are named in the caption.
    """
    found = step_metrics(data)
    shown = [name for name in data.settings.metrics if name in set(found["metric"])]
    found = found[found["metric"].isin(shown)]
    if data.published is None or data.published.only_ratios:
        found = found.assign(published=float("nan"))
    heading_text = FIGURE.heading(data.title)
    if found["value"].isna().all():
        reason = why_none(found, data.settings.metrics, data.device)
        return empty_figure(Frame(width, heading_text, "No metrics to draw.", _caption(data, found, [])), reason)
    every = step_labels(data.steps, undefined_kernels(data.measurements))
    known = sorted(found.loc[found[["value", "published"]].notna().any(axis=1), "step"].unique())
    varying = [name for name in shown if _varies(found, name)] or shown[:1]
    found = found.assign(row=found["step"].map({step: row for row, step in enumerate(known)}))
    caption = _caption(data, found, varying)
    panels = found[found["metric"].isin(varying) & found["row"].notna()]
    labels = [every[step] for step in known]
    if max(map(text_width_pt, labels)) > MOST_NAMES * width.points:
        labels = [str(number) for number in range(1, len(labels) + 1)]
        caption += f" Steps: {', '.join(f'{number} {every[step]}' for number, step in enumerate(known, start=1))}."
    names_in = max(map(text_width_pt, labels)) / POINTS_PER_INCH
    panel_in = (width.inches - names_in) / min(PANELS_A_ROW, len(varying)) - GAP_IN
    headings = ["\n".join(wrap(heading(name, unit_of(found, name)), panel_in * POINTS_PER_INCH)) for name in varying]
    panels = panels.assign(heading=panels["metric"].map(dict(zip(varying, headings, strict=True))))
    frame = Frame(width, heading_text, _message(data, found, varying), caption)
    lines = max(text.count("\n") for text in headings)
    height_in = FRAME_IN + LINE_IN * lines + ROW_IN * len(known)
    figure, grid = facet_grid(frame, panels, "heading", headings, (width.inches / (PANELS_A_ROW + 0.5), height_in))
    for name, axes in zip(varying, grid.axes_dict.values(), strict=True):
        _draw_panel(axes, panels[panels["metric"] == name], unit_of(found, name), panel_in)
        label_rows(axes, labels)
    if panels["published"].notna().any() and data.published:
        label = f"{data.published.label}: {data.published.device}"
        handles = [dot_handle("measured", *MEASURED_LOOK), dot_handle(label, *PUBLISHED_LOOK, is_open=True)]
        add_legend(figure, handles, is_above=True)
    return figure


def _varies(found: pandas.DataFrame, name: str) -> bool:
    """Whether a metric tells steps apart."""
    values: Any = found.loc[found["metric"] == name, ["value", "published"]].stack()
    return bool(values.max() - values.min() > LEAST_VARIATION * values.abs().max())


def _draw_panel(axes: Axes, rows: pandas.DataFrame, unit: str, length_in: float) -> None:
    """A metric's dots with their values; missing values are a dash at the axis."""
    for column, look in (("published", PUBLISHED_LOOK), ("value", MEASURED_LOOK)):
        dots = rows.assign(value=rows[column], low=rows[column], high=rows[column], is_open=column == "published")
        draw_dots(axes, dots[dots["value"].notna()], *look)
    largest = rows[["value", "published"]].max(axis=1)
    least, most = float(rows[["value", "published"]].min().min()), float(largest.max())
    axes.grid(visible=True, axis="y")
    room = length_in / (length_in - VALUE_IN)
    if least > 0 and most > WIDE_RANGE * least:
        span = most / least
        logarithmic(axes, least / span**0.08, most * span ** (room - 1), length_in)
    else:
        axes.set_xlim(0, room * (100.0 if unit == "%" and most > SMALL_PERCENTAGE else most or 1.0))
        axes.xaxis.set_major_locator(MaxNLocator(max(1, int(2 * length_in))))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    texts = ["–" if pandas.isna(value) else digits(value) for value in rows["value"]]
    ends = rows.assign(value=largest, low=largest, high=largest, is_left=False).fillna({"value": least})
    label_dots(axes, ends.fillna({"high": least}), texts, palette.BLUE)


def _message(data: StudyData, found: pandas.DataFrame, shown: Sequence[str]) -> str:
    """The largest change of a metric from one step to the next."""
    labels = step_labels(data.steps)
    changes = []
    for name in shown:
        values = by_step(found, name, "value", len(labels)).dropna()
        values = values[values > 0]
        told = values.clip(lower=LEAST_SHARE * values.max())
        for before, after in itertools.pairwise(values.index):
            texts = [
                f"{digits(values[step])}{_unit_text(unit_of(found, name))} in {labels[step]}"
                for step in (before, after)
            ]
            changes.append((abs(math.log(told[after] / told[before])), f"{title(name)}, {texts[0]}, {texts[1]}"))
    return f"Largest change from step to step: {max(changes)[1]}." if changes else "Values of one step only."


def _unit_text(unit: str) -> str:
    return unit if unit == "%" or not unit else f" {unit}"


def _caption(data: StudyData, found: pandas.DataFrame, varying: Sequence[str]) -> str:
    steps = data.steps
    texts = [f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.{grids_text(steps)}"]
    if not found.empty:
        texts.append(f"Counters: {sources(found, data.device)}, in runs that are not timed.")
        texts.append("What is equal in all steps is in the table.")
    messages = [message for message in found["message"].unique() if message]
    if messages and varying:
        texts.append(f"–: {messages[0].removesuffix('.')}.")
    if undefined_kernels(data.measurements) & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
