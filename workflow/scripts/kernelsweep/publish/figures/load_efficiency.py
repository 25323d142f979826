"""Time against the efficiency of loads from global memory: how much of the story is coalescing?"""

from __future__ import annotations

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.step_metrics import by_step, step_metrics, times_and_metric
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.labelled_points import logarithmic, points_caption, points_figure, why_no_points
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.publish.figures.ladder import PUBLISHED

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


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point a ladder step: its load efficiency, 0 to 100%, and its time, logarithmic; published ones, too."""
    found = step_metrics(data)
    both = times_and_metric(data, found, EFFICIENCY)
    points = both.assign(x=both["value"], y=both["time_us"])
    published = _published(data, found)
    caption = points_caption(data, found, MEANING)
    if not published.empty and data.published:
        caption += f" Published: {data.published.device} ({data.published.source})."
    if points.empty:
        reason = why_no_points(data, found, EFFICIENCY, "No times")
        return empty_figure(Frame(width, FIGURE.heading(data.title), "Nothing to draw.", caption), reason)
    frame = Frame(width, FIGURE.heading(data.title), _message(points), caption)
    return points_figure(points, frame, AXIS_LABELS, lambda axes: _scale(axes, points, published))


def _published(data: StudyData, found: pandas.DataFrame) -> pandas.DataFrame:
    """The ladder's steps with a published efficiency and a published time: columns x and y."""
    if data.published is None or data.published.only_ratios:
        return pandas.DataFrame(columns=["x", "y"])
    steps = data.steps
    efficiencies = by_step(found, EFFICIENCY, "published", len(steps))
    times = [data.published.time_us(step.kernel, step.unroll) for step in steps]
    return pandas.DataFrame({"x": efficiencies, "y": pandas.Series(times, dtype="float64")}).dropna()


def _scale(axes: Axes, points: pandas.DataFrame, published: pandas.DataFrame) -> None:
    axes.set_xlim(0, 102)
    times = pandas.concat([points["y"], published["y"].astype("float64")])
    logarithmic(axes, True, times.min() / ROOM, times.max() * ROOM)
    if not published.empty:
        axes.plot(published["x"], published["y"], linestyle="none", label="published", **PUBLISHED)
        axes.legend(loc="lower left", frameon=False)


def _message(points: pandas.DataFrame) -> str:
    """From the least efficient step to the fastest."""
    least = points.sort_values(["x", "y", "label"]).iloc[0]
    fastest = points.iloc[int(points["y"].argmin())]
    return (
        f"{least['label']}: {least['x']:.1f}% and {least['y']:.4g} µs;"
        f" {fastest['label']}: {fastest['x']:.1f}% and {fastest['y']:.4g} µs."
    )
