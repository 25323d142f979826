"""Hardware metrics step by step, a panel each: the effects of a step besides its time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import by_step, heading, sources, step_metrics, title, unit_of, why_none
from kernelsweep.analysis.steps import grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    legend_above,
    new_figure,
    wrap,
)

FIGURE = Declaration(
    title="Hardware counters, step by step",
    purpose="hardware counters of each step",
    needs=("metrics",),
)
PANELS_A_ROW = 3
BAR_IN, FRAME_IN = 0.141, 0.42
# Where panels are narrow, their headings are wrapped.
NARROW_HEADING_PT, HEADING_LINE_IN = 66.0, 0.12
BAR_HEIGHT = 0.62
TICKS = {TWO_COLUMNS: 3, ONE_COLUMN: 2}
# The axis beyond the longest bar, as a share of it.
ROOM = 1.08
MARK: dict[str, Any] = {
    "color": style.VERMILLION,
    "marker": "D",
    "markersize": 3.6,
    "markerfacecolor": "white",
    "markeredgewidth": 1.0,
    "linestyle": "none",
}


@dataclass(frozen=True)
class _Words:
    """The steps' labels, the metrics' headings by name, and the caption's sentence on the labels."""

    labels: Sequence[str]
    headings: dict[str, str]
    caption: str = ""


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """Small multiples: a panel for each metric that the study names, a bar for each step, a mark for a published value.

    Published metrics of another kind of device have an axis of their own, in their own units, above each panel. A step
    without a value has a dash in its place, and the caption says why.
    """
    found = step_metrics(data)
    shown = [name for name in data.settings["metrics"] if name in set(found["metric"])]
    caption = _caption(data, found, shown)
    of_shown = found[found["metric"].isin(shown)]
    if of_shown["value"].isna().all():
        reason = why_none(found, data.settings["metrics"], data.device)
        return empty_figure(Frame(width, data.title, "No metrics to draw.", caption), reason)
    words = _words(data, found, shown, width)
    published = data.published if of_shown["published"].notna().any() else None
    frame = Frame(width, data.title, _message(data, found, shown[0]), caption + words.caption)
    columns = min(PANELS_A_ROW, len(shown))
    figure = new_figure(frame, _body_in(words, columns), with_legend=int(published is not None))
    grid = figure.subplots(math.ceil(len(shown) / columns), columns, squeeze=False, sharey=True)
    for axes, name in zip(grid.flat, shown, strict=False):
        ours, theirs = (by_step(found, name, column, len(words.labels)) for column in ("value", "published"))
        own_axis = theirs.notna().any() and published is not None and published.only_ratios
        _draw_panel(axes, ours, theirs * math.nan if own_axis else theirs, unit_of(found, name) == "%", TICKS[width])
        if own_axis:
            _draw_on_its_own_axis(axes, theirs, TICKS[width])
        axes.set_xlabel(words.headings[name])
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_yticks(range(len(words.labels)), words.labels)
    grid[0, 0].set_ylim(len(words.labels) - 0.5, -0.5)
    if published:
        handles = grid[0, 0].plot([], [], label=f"{published.label}: {published.device}", **MARK)
        legend_above(figure, handles, handletextpad=0.3)
    return figure


def _words(data: StudyData, found: pandas.DataFrame, shown: Sequence[str], width: Width) -> _Words:
    labels = step_labels(data.steps, undefined_kernels(data.measurements))
    headings = {name: heading(name, unit_of(found, name)) for name in shown}
    if not width.stacks:
        return _Words(labels, headings)
    # Names beside the panels would leave no room for them.
    named = [f"{number} {label}".replace(" ", "\N{NO-BREAK SPACE}") for number, label in enumerate(labels, start=1)]
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    headings = {name: "\n".join(wrap(words, NARROW_HEADING_PT)) for name, words in headings.items()}
    return _Words(numbers, headings, f" Steps: {', '.join(named)}.")


def _body_in(words: _Words, columns: int) -> float:
    """The height of all panels, with a row for each step in each of them."""
    heading_lines = max(text.count("\n") + 1 for text in words.headings.values())
    panel_in = FRAME_IN + HEADING_LINE_IN * (heading_lines - 1) + BAR_IN * len(words.labels)
    return math.ceil(len(words.headings) / columns) * panel_in


def _draw_panel(
    axes: Axes, ours: pandas.Series[float], theirs: pandas.Series[float], percent: bool, ticks: int
) -> None:
    axes.barh(ours.index, ours.fillna(0.0), height=BAR_HEIGHT, color=style.BLUE, zorder=2)
    axes.plot(theirs, theirs.index, zorder=3, clip_on=False, **MARK)
    largest = numpy.nanmax([0.0, *ours, *theirs])
    if percent:
        axes.set_xlim(0, ROOM * 100)
        axes.set_xticks([0, 50, 100])
    else:
        axes.set_xlim(0, ROOM * largest if largest > 0 else 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(ticks))
    for row in ours.index[ours.isna()]:
        axes.text(0.01, row, "–", transform=axes.get_yaxis_transform(), va="center_baseline", color=style.BLUE)
    axes.xaxis.set_major_formatter(lambda value, _: _tick(value))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _tick(value: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * limit or value == limit:
            return f"{value / limit:g} {letter}"
    return f"{value:g}"


def _draw_on_its_own_axis(axes: Axes, theirs: pandas.Series[float], ticks: int) -> None:
    """Values of another kind of device, in their own units, on an axis above the panel."""
    above = axes.twiny()
    above.plot(theirs, theirs.index, zorder=3, clip_on=False, **MARK)
    above.set_xlim(0, ROOM * max(theirs.max(), 1.0))
    above.xaxis.set_major_locator(MaxNLocator(ticks))
    above.xaxis.set_major_formatter(lambda value, _: _tick(value))
    above.tick_params(axis="x", colors=style.VERMILLION)
    above.spines["left"].set_visible(False)
    above.spines["top"].set_visible(True)
    above.spines["top"].set_color(style.VERMILLION)


def _message(data: StudyData, found: pandas.DataFrame, name: str) -> str:
    """How the study's first metric goes from its first step to its last."""
    steps = data.steps
    values = by_step(found, name, "value", len(steps)).dropna()
    if len(values) < 2:
        return f"{title(name)[:1].upper()}{title(name)[1:]} is known of one step only."
    labels = step_labels(steps)
    first, last = values.index[0], values.index[-1]
    unit = unit_of(found, name)
    unit = "%" if unit == "%" else f" {unit}"
    return (
        f"{title(name)[:1].upper()}{title(name)[1:]}: {_digits(values[first])}{unit} in {labels[first]}, "
        f"{_digits(values[last])}{unit} in {labels[last]}."
    )


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _caption(data: StudyData, found: pandas.DataFrame, shown: Sequence[str]) -> str:
    steps = data.steps
    texts = [f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.{grids_text(steps)}"]
    if shown:
        texts.append(f"Counters: {sources(found)}. Collected in runs that are not timed.")
    of_shown = found[found["metric"].isin(shown)]
    if data.published and data.published.only_ratios and of_shown["published"].notna().any():
        texts.append(
            "Published values, another kind of device's, have the axis above a panel: active threads of 64, branches a"
            " wavefront, and conflicts as printed. Only directions compare."
        )
    messages = [message for message in of_shown["message"].unique() if message]
    if messages and of_shown["value"].notna().any():
        texts.append(f"–: {messages[0].removesuffix('.')}.")
    if undefined_kernels(data.measurements) & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
