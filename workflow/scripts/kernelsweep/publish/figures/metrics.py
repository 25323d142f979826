"""Hardware metrics step by step, a panel each: the effects of a step besides its time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import by_step, heading, sources, step_metrics, title, unit_of, why_none
from kernelsweep.analysis.steps import grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, list_texts, reference_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    new_figure,
    wrap,
)

FIGURE = Declaration(
    title="Hardware counters, step by step",
    purpose="hardware counters of each step",
    needs=("metrics",),
)
PANELS_A_ROW = 3
BAR_IN, FRAME_IN = 0.141, 0.34
# Where panels are narrow, their headings are wrapped.
NARROW_HEADING_PT, HEADING_LINE_IN = 66.0, 0.12
BAR_HEIGHT = 0.62
# A panel's width over that of its longest bar: room for the bar's value, and for a published one at the right edge.
ROOM = {TWO_COLUMNS: 1.35, ONE_COLUMN: 1.5}
PUBLISHED_ROOM = {TWO_COLUMNS: 1.7, ONE_COLUMN: 3.2}
# Percentages up to this have an axis of their own; others share one up to 100%.
SMALL_PERCENTAGE = 10.0
# Values that differ by less than this share say the same of every step: such a metric is a sentence, not a panel.
LEAST_VARIATION = 0.005
# Beyond this ratio of the largest to the smallest value, bars would hide the small ones' differences: dots on a
# logarithmic axis show them, and the smallest dot's distance from the left edge is this share of the dots' range.
WIDE_RANGE, LEFT_SHARE = 12.0, 0.08
# From these values on, a panel's numbers are in this unit.
MILLION = 1e6
SCALES = ((1e9, "10⁹ "), (MILLION, "10⁶ "), (1e4, "10³ "))


@dataclass(frozen=True)
class _Panel:
    """A metric of the drawn steps: its heading, its values and the published ones, in the heading's unit.

    top       the end of its longest possible bar
    is_wide   whether our values range over more than WIDE_RANGE, without a 0
    """

    heading: str
    ours: pandas.Series[float]
    theirs: pandas.Series[float]
    top: float

    @property
    def is_wide(self) -> bool:
        least = float(self.ours.min())
        return least > 0 and float(self.ours.max()) > WIDE_RANGE * least


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """Small multiples: a panel for each metric that the study names and that varies, a bar with its value a step.

    Where values range widely, dots on a logarithmic axis take the bars' place. Published values stand at a panel's
    right edge. Steps without any value, and metrics that do not vary, are named in the caption.
    """
    found = step_metrics(data)
    shown = [name for name in data.settings["metrics"] if name in set(found["metric"])]
    of_shown = found[found["metric"].isin(shown)]
    title_text = FIGURE.heading(data.title)
    if of_shown["value"].isna().all():
        reason = why_none(found, data.settings["metrics"], data.device)
        return empty_figure(Frame(width, title_text, "No metrics to draw.", _caption(data, of_shown)), reason)
    with_value = of_shown[["value", "published"]].notna().any(axis=1)
    known = [int(step) for step in sorted(of_shown.loc[with_value, "step"].unique())]
    varying = [name for name in shown if _varies(found, name)] or shown[:1]
    panels = [_panel(data, found, name, known) for name in varying]
    words = _words(data, panels, known, width)
    caption = _caption(data, of_shown)
    if any(panel.is_wide for panel in panels):
        caption += " Dots: on a logarithmic axis."
    caption += _left_out(data, found, [name for name in shown if name not in varying], known)
    frame = Frame(width, title_text, _message(data, found, varying), caption + words.caption)
    columns = min(PANELS_A_ROW, len(panels))
    figure = new_figure(frame, _body_in(words, columns))
    grid = figure.subplots(math.ceil(len(panels) / columns), columns, squeeze=False, sharey=True)
    for axes, panel, heading_text in zip(grid.flat, panels, words.headings, strict=False):
        _draw_panel(axes, panel, width)
        axes.set_title(heading_text, loc="left", pad=2)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_yticks(range(len(words.labels)), words.labels)
    grid[0, 0].set_ylim(len(words.labels) - 0.5, -0.5)
    return figure


def _varies(found: pandas.DataFrame, name: str) -> bool:
    """Whether a metric tells steps apart."""
    values: Any = found.loc[found["metric"] == name, ["value", "published"]].stack()
    return bool(values.max() - values.min() > LEAST_VARIATION * values.abs().max())


def _panel(data: StudyData, found: pandas.DataFrame, name: str, known: list[int]) -> _Panel:
    unit, steps = unit_of(found, name), len(data.steps)
    ours, theirs = (by_step(found, name, column, steps).reindex(known) for column in ("value", "published"))
    comparable = data.published is not None and not data.published.only_ratios
    drawn = pandas.concat([ours, theirs]) if comparable else ours
    largest = float(numpy.nanmax([0.0, *drawn]))
    # Another kind of device's values have their own scale, and are read as they were printed.
    as_printed = not comparable and theirs.notna().any()
    scale, prefix = next(((limit, text) for limit, text in SCALES if largest >= limit and not as_printed), (1.0, ""))
    top = 100.0 if unit == "%" and largest > SMALL_PERCENTAGE else largest / scale or 1.0
    text = heading(name, unit)
    text = f"{text.partition(' (')[0]} ({prefix.strip()})" if prefix else text
    return _Panel(text, ours / scale, theirs / scale if comparable else theirs, top)


@dataclass(frozen=True)
class _Words:
    """The steps' labels, the panels' headings, and the caption's sentence on the labels."""

    labels: Sequence[str]
    headings: Sequence[str]
    caption: str = ""


def _words(data: StudyData, panels: Sequence[_Panel], known: list[int], width: Width) -> _Words:
    every = step_labels(data.steps, undefined_kernels(data.measurements))
    labels, headings = [every[step] for step in known], [panel.heading for panel in panels]
    if not width.stacks:
        return _Words(labels, headings)
    # Names beside the panels would leave no room for them.
    named = [f"{number} {label}".replace(" ", "\N{NO-BREAK SPACE}") for number, label in enumerate(labels, start=1)]
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    headings = ["\n".join(wrap(words, NARROW_HEADING_PT)) for words in headings]
    return _Words(numbers, headings, f" Steps: {', '.join(named)}.")


def _body_in(words: _Words, columns: int) -> float:
    """The height of all panels, with a row for each step in each of them."""
    heading_lines = max(text.count("\n") + 1 for text in words.headings)
    panel_in = FRAME_IN + HEADING_LINE_IN * (heading_lines - 1) + BAR_IN * len(words.labels)
    return math.ceil(len(words.headings) / columns) * panel_in


def _draw_panel(axes: Axes, panel: _Panel, width: Width) -> None:
    rows = range(len(panel.ours))
    room = (PUBLISHED_ROOM if panel.theirs.notna().any() else ROOM)[width]
    if panel.is_wide:
        _draw_dots(axes, panel.ours, room)
    else:
        seaborn.barplot(
            x=panel.ours.fillna(0.0).to_numpy(),
            y=list(rows),
            orient="y",
            native_scale=True,
            width=BAR_HEIGHT,
            color=palette.BLUE,
            saturation=1,
            errorbar=None,
            ax=axes,
        )
        (bars,) = axes.containers
        assert isinstance(bars, BarContainer)
        axes.bar_label(bars, ["–" if pandas.isna(value) else _digits(value) for value in panel.ours], padding=2)
        axes.set_xlim(0, panel.top * room)
    for row, value in zip(rows, panel.theirs, strict=True):
        if pandas.notna(value):
            axes.text(
                0.99,
                row,
                _digits(value),
                transform=axes.get_yaxis_transform(),
                ha="right",
                va="center_baseline",
                color=palette.text_in(palette.VERMILLION),
            )
    axes.set_xticks([])
    axes.set_xticks([], minor=True)
    axes.tick_params(axis="y", length=0)
    axes.spines["bottom"].set_visible(False)


def _draw_dots(axes: Axes, values: pandas.Series[float], room: float) -> None:
    """A dot with its value a row, on a logarithmic axis whose length is `room` times the dots' range."""
    least, span = float(values.min()), float(values.max() / values.min())
    axes.set_xscale("log")
    axes.set_xlim(least * span**-LEFT_SHARE, least * span**room)
    seaborn.scatterplot(x=values.to_numpy(), y=range(len(values)), color=palette.BLUE, s=14, linewidth=0, ax=axes)
    for row, value in enumerate(values):
        text, place = ("–", least) if pandas.isna(value) else (_digits(value), value)
        axes.annotate(text, (place, row), (4, 0), textcoords="offset points", va="center_baseline")


def _message(data: StudyData, found: pandas.DataFrame, shown: Sequence[str]) -> str:
    """The largest change of a metric from one step to the next."""
    labels = step_labels(data.steps)
    changes = []
    for name in shown:
        values = by_step(found, name, "value", len(labels)).dropna()
        values = values[values > 0]
        for before, after in itertools.pairwise(values.index):
            texts = [
                f"{_digits(values[step])}{_unit_text(unit_of(found, name))} in {labels[step]}"
                for step in (before, after)
            ]
            changes.append((abs(math.log(values[after] / values[before])), f"{title(name)}, {texts[0]}, {texts[1]}"))
    return f"Largest change from step to step: {max(changes)[1]}." if changes else "Values of one step only."


def _unit_text(unit: str) -> str:
    return unit if unit == "%" or not unit else f" {unit}"


def _digits(value: float) -> str:
    """Four digits at most: more would be noise."""
    if value >= MILLION:
        return f"{value / MILLION:.1f}·10⁶"
    if value >= 1000 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2g}"


def _left_out(data: StudyData, found: pandas.DataFrame, same: Sequence[str], known: list[int]) -> str:
    """Sentences on metrics without variation and on steps without values."""
    texts = []
    for name in same:
        values = found.loc[found["metric"] == name, "value"].dropna()
        if not values.empty:
            texts.append(f"In every step, {title(name)}: {_digits(values.iloc[0])}{_unit_text(unit_of(found, name))}.")
    missing = [label for step, label in enumerate(step_labels(data.steps)) if step not in known]
    if missing:
        texts.append(f"Not profiled: {list_texts(missing, most=len(missing))}.")
    return "".join(f" {text}" for text in texts)


def _caption(data: StudyData, found: pandas.DataFrame) -> str:
    steps, published = data.steps, data.published
    texts = [f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.{grids_text(steps)}"]
    if not found.empty:
        texts.append(f"Counters: {sources(found, data.device)}. Collected in runs that are not timed.")
    if published and found["published"].notna().any():
        texts.append(f"Red: {published.label}, {published.device}.")
        if published.only_ratios:
            texts.append(
                "These are as printed: active threads of 64, branches a wavefront, conflicts. Only directions compare."
            )
    messages = [message for message in found["message"].unique() if message]
    if messages and found["value"].notna().any():
        texts.append(f"–: {messages[0].removesuffix('.')}.")
    if undefined_kernels(data.measurements) & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
