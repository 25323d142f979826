"""Hardware metrics step by step: a panel each, so that what a step changes besides its time can be seen at a glance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kernelsweep.analysis.published import Published, PublishedMetrics
from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import Metrics, by_step, heading, sources, step_metrics, title, why_none
from kernelsweep.analysis.steps import grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import style

EMPTY_BODY_IN = 1.2
PANELS_A_ROW = 3
BAR_IN, FRAME_IN = 0.145, 0.42
# In one column headings are wrapped.
NARROW_HEADING_PT, HEADING_LINE_IN = 66.0, 0.12
BAR_HEIGHT = 0.62
TICKS, NARROW_TICKS = 3, 2
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


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    metrics: Metrics,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """Small multiples: one panel a metric that the study names, a bar a ladder step, and a mark where one is published.

    Published metrics of another kind of device are drawn in proportion: such that its first step with a value meets
    ours. A step without a value has a dash in its place, and the caption says why.
    """
    del published
    found = step_metrics(study, metrics, measurements, device)
    steps = ladder_steps(study, device)
    shown = [name for name in study["metrics"] if name in set(found["metric"])]
    caption = _caption(found, shown, study, device, metrics, undefined_kernels(measurements))
    if found.loc[found["metric"].isin(shown), "value"].isna().all():
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No metrics to draw.", caption)
        style.say_missing(figure.subplots(), why_none(found, study["metrics"], device))
        return figure
    narrow = style.is_narrow(width_in)
    columns = min(PANELS_A_ROW, len(shown))
    lines = math.ceil(len(shown) / columns)
    headings = {name: heading(name, found.loc[found["metric"] == name, "unit"].iloc[0]) for name in shown}
    labels = step_labels(steps, undefined_kernels(measurements))
    if narrow:
        # Names beside the panels would leave no room for them.
        named = [f"{number} {label}".replace(" ", "\N{NO-BREAK SPACE}") for number, label in enumerate(labels, start=1)]
        caption += f" Steps: {', '.join(named)}."
        labels = [str(number) for number in range(1, len(steps) + 1)]
        headings = {
            name: "\n".join(style.wrap(words, NARROW_HEADING_PT, style.TEXT_PT)) for name, words in headings.items()
        }
    heading_lines = max(words.count("\n") + 1 for words in headings.values())
    marked = found.loc[found["metric"].isin(shown), "published"].notna().any()
    figure = style.new_figure(
        width_in,
        lines * (FRAME_IN + HEADING_LINE_IN * (heading_lines - 1) + BAR_IN * len(steps)),
        study["title"],
        _message(found, shown[0], study, device),
        caption,
        with_legend=int(marked),
    )
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    panels = list(grid.flat)
    for axes, name in zip(panels, shown, strict=False):
        ours = by_step(found, name, "value", len(steps))
        theirs = _in_proportion(ours, by_step(found, name, "published", len(steps)), metrics.published)
        unit = found.loc[found["metric"] == name, "unit"].iloc[0]
        _panel(axes, ours, theirs, headings[name], unit == "%", NARROW_TICKS if narrow else TICKS)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    for first in grid[:, 0]:
        first.set_yticks(range(len(steps)), labels)
    panels[0].set_ylim(len(steps) - 0.5, -0.5)
    if marked and metrics.published:
        handles = panels[0].plot([], [], label=f"{metrics.published.label}: {metrics.published.device}", **MARK)
        style.legend_above(figure, handles, handletextpad=0.3)
    return figure


def _panel(
    axes: Axes, ours: pandas.Series[float], theirs: pandas.Series[float], label: str, percent: bool, ticks: int
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
    axes.set_xlabel(label)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _tick(value: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * limit or value == limit:
            return f"{value / limit:g} {letter}"
    return f"{value:g}"


def _in_proportion(
    ours: pandas.Series[float], theirs: pandas.Series[float], published: PublishedMetrics | None
) -> pandas.Series[float]:
    """Published values as they are; of another kind of device, scaled to meet ours at the first step that has both."""
    if published is None or published.compare != "ratios":
        return theirs
    both = ours.notna() & theirs.notna() & (ours != 0) & (theirs != 0)
    if not both.any():
        return theirs * float("nan")
    return theirs * (ours[both].iloc[0] / theirs[both].iloc[0])


def _message(found: pandas.DataFrame, name: str, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    """How the study's first metric goes from its first step to its last."""
    steps = ladder_steps(study, device)
    values = by_step(found, name, "value", len(steps)).dropna()
    if len(values) < 2:
        return f"{title(name)[:1].upper()}{title(name)[1:]} is known of one step only."
    labels = step_labels(steps)
    first, last = values.index[0], values.index[-1]
    unit = found.loc[found["metric"] == name, "unit"].iloc[0]
    unit = "%" if unit == "%" else f" {unit}"
    return (
        f"{title(name)[:1].upper()}{title(name)[1:]}: {_digits(values[first])}{unit} in {labels[first]}, "
        f"{_digits(values[last])}{unit} in {labels[last]}."
    )


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _caption(
    found: pandas.DataFrame,
    shown: list[str],
    study: Mapping[str, Any],
    device: Mapping[str, Any],
    metrics: Metrics,
    undefined: set[str],
) -> str:
    where = f"{device_text(device)}. Reference point: {reference_text(study)}."
    texts = [where + grids_text(ladder_steps(study, device))]
    if shown:
        texts.append(f"Counters: {sources(found)}. Collected in runs that are not timed.")
    of_shown = found[found["metric"].isin(shown)]
    if metrics.published and metrics.published.compare == "ratios" and of_shown["published"].notna().any():
        texts.append(
            "Published values, another kind of device's, are drawn in proportion, to meet ours at their first step."
        )
    messages = [message for message in of_shown["message"].unique() if message]
    if messages and of_shown["value"].notna().any():
        texts.append(f"–: {messages[0].removesuffix('.')}.")
    if undefined & {step.kernel for step in ladder_steps(study, device)}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
