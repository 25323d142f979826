"""Time against the efficiency of loads from global memory: how much of the story is coalescing?"""

from __future__ import annotations

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.step_metrics import step_metrics, times_and_metric
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.labelled_points import logarithmic, points_caption, points_figure, why_no_points
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.drawing.style import styled

FIGURE = Declaration(
    title="Load efficiency against time",
    purpose="load efficiency against time",
    needs=("times", "metrics"),
)
# The factor by which the time axis goes beyond the outermost points.
ROOM = 1.25
EFFICIENCY = "global_load_efficiency"
AXIS_LABELS = ("global load efficiency (%)", "time (µs, logarithmic)")
MEANING = "Efficiency: of the bytes in the sectors that loads touch, those that threads asked for."


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point for each ladder step: its load efficiency, from 0 to 100%, and its time, logarithmic."""
    found = step_metrics(data)
    both = times_and_metric(data, found, EFFICIENCY)
    points = both.assign(x=both["value"], y=both["time_us"])
    caption = points_caption(data, found, MEANING)
    if points.empty:
        reason = why_no_points(data, found, EFFICIENCY, "No times")
        return empty_figure(Frame(width, FIGURE.heading(data.title), "Nothing to draw.", caption), reason)
    frame = Frame(width, FIGURE.heading(data.title), _message(points), caption)
    return points_figure(points, frame, AXIS_LABELS, lambda axes: _scale(axes, points))


def _scale(axes: Axes, points: pandas.DataFrame) -> None:
    axes.set_xlim(0, 102)
    logarithmic(axes, True, points["y"].min() / ROOM, points["y"].max() * ROOM)


def _message(points: pandas.DataFrame) -> str:
    """From the least efficient step to the fastest."""
    least = points.sort_values(["x", "y", "label"]).iloc[0]
    fastest = points.iloc[int(points["y"].argmin())]
    return (
        f"{least['label']}: {least['x']:.1f}% and {least['y']:.4g} µs;"
        f" {fastest['label']}: {fastest['x']:.1f}% and {fastest['y']:.4g} µs."
    )
