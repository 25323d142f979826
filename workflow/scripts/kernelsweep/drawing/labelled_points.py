"""A figure of one point for each step, with the names in a column beside the points, so that no two names meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import sources, why_none
from kernelsweep.analysis.steps import grids_text
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import style
from kernelsweep.drawing.layout import Frame, Legend, legend_below, legend_below_in, new_figure

BODY_IN = 2.6
# The position of the names' column, as a fraction of the axes' width, and its two ends, as fractions of their height.
COLUMN = 1.06
TOP, BOTTOM = 0.97, 0.03
LEADER = {"arrowstyle": "-", "color": style.PALE_GREY, "linewidth": 0.6, "shrinkA": 2, "shrinkB": 2}
TICKS = (1.0, 2.0, 5.0)
# The least factor that a logarithmic axis covers, so that it has two ticks.
LEAST_RANGE = 6.0


def logarithmic(axes: Axes, vertical: bool, low: float, high: float) -> None:
    """A logarithmic axis over a range, ticked at 1, 2 and 5 times powers of ten."""
    high = max(high, low * LEAST_RANGE)
    axis = axes.yaxis if vertical else axes.xaxis
    (axes.set_yscale if vertical else axes.set_xscale)("log")
    (axes.set_ylim if vertical else axes.set_xlim)(low, high)
    axis.set_major_locator(LogLocator(subs=TICKS))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()


def points_figure(
    points: pandas.DataFrame, frame: Frame, axis_labels: tuple[str, str], scale: Callable[[Axes], None]
) -> Figure:
    """A figure of points with their names beside them or, where panels are stacked, below.

    points       a row for each point, at least one: x, y and label
    axis_labels  of the x and the y axis
    scale        sets the axes' scales and limits, and draws what lies below the points
    """
    labels = list(points["label"])
    figure, axes, below = _axes(frame, labels)
    scale(axes)
    axes.set_xlabel(axis_labels[0])
    axes.set_ylabel(axis_labels[1])
    axes.grid(color=style.GRID_GREY, linewidth=0.4)
    axes.set_axisbelow(True)
    places = list(zip(points["x"], points["y"], strict=True))
    if below:
        _draw_points(axes, places)
        handles = [Line2D([], [], label=label, **_look(point)) for point, label in enumerate(labels)]
        legend_below(figure, below, handles)
    else:
        _draw_points_and_names(axes, places, labels)
    return figure


def points_caption(data: StudyData, found: pandas.DataFrame, meaning: str, line: str = "") -> str:
    """The caption of a figure of times and metrics.

    found    the metrics as step_metrics() gives them
    meaning  what the axes show
    line     what a line shows
    """
    steps = data.steps
    where = f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.{grids_text(steps)}"
    texts = [where, meaning]
    if not found.empty:
        texts.append(f"Counters: {sources(found)}. Time: measured without the profiler.")
    if line:
        texts.append(line)
    if undefined_kernels(data.kernel_rows) & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)


def why_no_points(data: StudyData, found: pandas.DataFrame, metric: str, without_times: str) -> str:
    """Why no step has both a time and the metric; `without_times` begins the sentence on devices without times."""
    if not data.has_times:
        return f"{without_times}: {device_text(data.device)}."
    if found.empty or found.loc[found["metric"] == metric, "value"].isna().all():
        return why_none(found, [metric], data.device)
    return "No step has both a time and counters at the reference point."


def _axes(frame: Frame, labels: Sequence[str]) -> tuple[Figure, Axes, Axes | None]:
    """Axes for the points, and axes below for the names if there is no room beside."""
    if not frame.width.stacks:
        figure = new_figure(frame, BODY_IN)
        return figure, figure.subplots(), None
    heights_in = [BODY_IN, legend_below_in(Legend(labels), frame.width)]
    figure = new_figure(frame, sum(heights_in))
    axes, below = figure.subplots(2, 1, height_ratios=heights_in)
    return figure, axes, below


def _draw_points(axes: Axes, places: Sequence[tuple[float, float]]) -> None:
    for point, (x, y) in enumerate(places):
        axes.plot([x], [y], **_look(point))


def _draw_points_and_names(axes: Axes, places: Sequence[tuple[float, float]], labels: Sequence[str]) -> None:
    """A marker for each point, and a thin line to its name; names stand in the order of the points' heights."""
    order = sorted(range(len(places)), key=lambda point: (-places[point][1], places[point][0]))
    for place, point in enumerate(order):
        x, y = places[point]
        share = place / (len(order) - 1) if len(order) > 1 else 0.5
        look = _look(point)
        height = TOP - share * (TOP - BOTTOM)
        axes.text(COLUMN, height, labels[point], transform=axes.transAxes, va="center", color=look["color"])
        axes.annotate(
            "",
            (x, y),
            xytext=(COLUMN, height),
            textcoords="axes fraction",
            annotation_clip=False,
            arrowprops=LEADER,
        )
        axes.plot([x], [y], **look)


def _look(point: int) -> dict[str, Any]:
    return {
        "marker": style.MARKERS[point % len(style.MARKERS)],
        "color": style.LINE_COLOURS[point % len(style.LINE_COLOURS)],
        "markersize": 4.5,
        "linestyle": "none",
        "zorder": 3,
    }
