"""The roofline: operations a second against operations for each byte of memory, under the roof of the memory's peak."""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.step_metrics import step_metrics, times_and_metric
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.labelled_points import logarithmic, points_caption, points_figure, why_no_points
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.problems.registry import problem_of
from kernelsweep.publish.roofline_of_work import draw_work

FIGURE = Declaration(
    title="Roofline",
    purpose="performance against arithmetic intensity",
    needs=("times", "metrics"),
)
# The factor by which the axes go beyond the outermost points.
ROOM = 1.6
BYTES = "dram_bytes"
MEGA = 1e6
AXIS_LABELS = ("operations for each byte that memory moves (logarithmic)", "10⁹ operations a second (logarithmic)")


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point for each ladder step, logarithmic both ways, and the roof that the memory's peak bandwidth sets.

    An operation combines two elements, so an array has as many operations as elements: the work that a kernel must do,
    not the instructions that it executes. The bytes come from the profiler, the time from a run without it. In a study
    with a problem file, both come from the work that the problem names.
    """
    if problem_of(data.settings["problem"]).described is not None:
        return draw_work(data, width)
    found = step_metrics(data)
    points = _points(data, found)
    caption = _caption(data, found)
    if points.empty:
        reason = why_no_points(data, found, BYTES, "No times, so no roofline")
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No roofline to draw.", caption), reason)
    peak = data.device["peak_bandwidth_gbs"]
    frame = Frame(width, FIGURE.heading(data.title), _message(points, peak), caption)
    return points_figure(points, frame, AXIS_LABELS, lambda axes: _scale(axes, points, peak))


def _points(data: StudyData, found: pandas.DataFrame) -> pandas.DataFrame:
    """A row for each step with both a time and a number of bytes: label, x (operations a byte), y (10^9 a second)."""
    both = times_and_metric(data, found, BYTES)
    both = both[both["value"] > 0]
    operations = data.settings["reference"]["array_size"]
    return both.assign(x=operations / (both["value"] * MEGA), y=operations / (both["time_us"] * 1e-6) / 1e9)


def _scale(axes: Axes, points: pandas.DataFrame, peak: float | None) -> None:
    logarithmic(axes, False, points["x"].min() / ROOM, points["x"].max() * ROOM)
    tops = [points["y"].max()]
    if peak is not None:
        ends = numpy.array(axes.get_xlim())
        tops.append(peak * points["x"].max())
        axes.plot(ends, peak * ends, color=style.BLACK, linewidth=1.0, zorder=1)
    logarithmic(axes, True, points["y"].min() / ROOM, max(tops) * ROOM)


def _message(points: pandas.DataFrame, peak: float | None) -> str:
    if peak is None:
        return ""
    share = points["y"] / (peak * points["x"])
    best = int(share.argmax())
    nearest = f"{points['label'].iloc[best]}, at {100 * share.iloc[best]:.0f}% of it"
    return f"Of these steps, nearest to the memory's roof by the bytes that it moves: {nearest}."


def _caption(data: StudyData, found: pandas.DataFrame) -> str:
    meaning = "An operation combines two elements; an array has as many as elements."
    if not found.empty:
        meaning += " Bytes: read from and written to memory."
    peak = data.device["peak_bandwidth_gbs"]
    line = "" if peak is None else f"Line: the memory's theoretical peak, {peak:,.0f} GB/s."
    return points_caption(data, found, meaning, line)
