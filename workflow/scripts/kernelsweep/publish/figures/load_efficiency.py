"""Speedup against the efficiency of loads from global memory: how much of the story is coalescing?"""

from __future__ import annotations

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.step_metrics import by_step, sources, step_metrics, why_none
from kernelsweep.analysis.steps import step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.labelled_points import logarithmic, points_figure
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.publish.figures.ladder import PUBLISHED
from kernelsweep.publish.tables.ladder_table import study_table

FIGURE = Declaration(
    title="Load efficiency against speedup",
    purpose="load efficiency against speedup, with the published ones",
    needs=("times", "metrics"),
)
# The factor by which the speedup axis goes beyond the outermost points, and the ends of the other axis.
ROOM = 1.15
ENDS = (0.0, 104.0)
EFFICIENCY = "global_load_efficiency"


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point for each ladder step, and an open one for each published step: load efficiency, and speedup.

    Speedups are over the first step on the same device, so that devices compare. The published points have no names:
    they are those of the same steps.
    """
    found = step_metrics(data)
    points = _points(data, found)
    ours = points.dropna(subset=["x", "y"])
    caption = _caption(data, found)
    if ours.empty:
        frame = Frame(width, FIGURE.heading(data.title), "Nothing to draw.", caption)
        return empty_figure(frame, _why_nothing(data, found))
    theirs = points.dropna(subset=["published_x", "published_y"])
    frame = Frame(width, FIGURE.heading(data.title), _message(ours), caption)
    first = points["label"].iloc[0]
    axis_labels = ("global load efficiency (%)", f"speedup over {first} (logarithmic)")
    return points_figure(ours, frame, axis_labels, lambda axes: _scale(axes, ours, theirs))


def _points(data: StudyData, found: pandas.DataFrame) -> pandas.DataFrame:
    """A row for each step: label, x (efficiency), y (speedup), published_x, published_y; NaN without."""
    table, steps = study_table(data), data.steps
    columns = {"y": "speedup", "published_y": "published_speedup"}
    speedups = {name: table[column].iloc[: len(steps)] for name, column in columns.items() if column in table}
    efficiencies = {
        name: by_step(found, EFFICIENCY, column, len(steps))
        for name, column in (("x", "value"), ("published_x", "published"))
    }
    points = pandas.DataFrame({"label": step_labels(steps, undefined_kernels(data.measurements)), **efficiencies})
    return points.assign(**speedups).reindex(columns=["label", "x", "y", "published_x", "published_y"])


def _scale(axes: Axes, ours: pandas.DataFrame, theirs: pandas.DataFrame) -> None:
    speedups = pandas.concat([ours["y"], theirs["published_y"]])
    axes.set_xlim(*ENDS)
    logarithmic(axes, True, speedups.min() / ROOM, speedups.max() * ROOM)
    if not theirs.empty:
        look = PUBLISHED | {"markerfacecolor": "none", "zorder": 4}
        axes.plot(theirs["published_x"], theirs["published_y"], linestyle="none", **look)


def _message(points: pandas.DataFrame) -> str:
    """From the least efficient step to the fastest."""
    least = points.sort_values(["x", "y", "label"]).iloc[0]
    fastest = points.iloc[int(points["y"].argmax())]
    return (
        f"{least['label']} loads at {least['x']:.1f}% efficiency, {fastest['label']} at {fastest['x']:.1f}%;"
        f" it is {fastest['y'] / least['y']:.1f} times as fast."
    )


def _why_nothing(data: StudyData, found: pandas.DataFrame) -> str:
    if not data.has_times:
        return f"No times: {device_text(data.device)}."
    if found.loc[found["metric"] == EFFICIENCY, "value"].isna().all():
        return why_none(found, [EFFICIENCY], data.device)
    return "No step has both a speedup and counters at the reference point."


def _caption(data: StudyData, found: pandas.DataFrame) -> str:
    texts = [
        f"{device_text(data.device)}. Reference point: {reference_text(data.settings)}.",
        "Efficiency: of the bytes in the sectors that loads touch, those that threads asked for.",
    ]
    if not found.empty:
        texts.append(f"Counters: {sources(found, data.device)}. Time: measured without the profiler.")
    if data.published and found["published"].notna().any():
        texts.append(f"Open diamonds: published, {data.published.device} ({data.published.source}).")
    if undefined_kernels(data.kernel_rows) & {step.kernel for step in data.steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
