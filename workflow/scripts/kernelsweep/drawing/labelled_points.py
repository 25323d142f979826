"""A figure of named points, with the names in a column beside them, one entry for points that lie together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.drawing import palette, style
from kernelsweep.drawing.layout import Frame, Legend, legend_below, legend_below_in, new_figure, wrap
from kernelsweep.drawing.series import draw_points

POINTS_IN = 2.6
MARKER: Any = {"s": 22, "linewidth": 0, "zorder": 3}
# Points that lie within this share of the axes of each other have their names in one entry.
TOGETHER = 0.03
# The position of the names' column, as a fraction of the axes' width, and its two ends, as fractions of their height.
COLUMN = 1.06
TOP, BOTTOM = 0.97, 0.03
NAMES_PT = 150.0
LEADER = {"arrowstyle": "-", "color": palette.LEADER_GREY, "linewidth": 0.6, "shrinkA": 2, "shrinkB": 2}


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
    draw_points(axes, points.assign(point=range(len(points))), "x", "y", "point", list(range(len(points))), **MARKER)
    axes.set_xlabel(axis_labels[0])
    axes.set_ylabel(axis_labels[1])
    if below:
        looks = [style.line_look(number) | {"linestyle": "none"} for number in range(len(labels))]
        handles = [Line2D([], [], label=label, **look) for label, look in zip(labels, looks, strict=True)]
        legend_below(figure, below, handles)
    else:
        _draw_names(axes, list(zip(points["x"], points["y"], strict=True)), labels)
    return figure


def _axes(frame: Frame, labels: Sequence[str]) -> tuple[Figure, Axes, Axes | None]:
    """Axes for the points, and axes below for the names if there is no room beside."""
    if not frame.width.stacks:
        figure = new_figure(frame, POINTS_IN)
        return figure, figure.subplots(), None
    heights_in = [POINTS_IN, legend_below_in(Legend(labels), frame.width)]
    figure = new_figure(frame, sum(heights_in))
    axes, below = figure.subplots(2, 1, height_ratios=heights_in)
    return figure, axes, below


def _draw_names(axes: Axes, places: Sequence[tuple[float, float]], labels: Sequence[str]) -> None:
    """A thin line from each point to its name; names stand in the order of the points' heights."""
    groups = _together(axes, places)
    unbroken = [label.replace(" ", "\N{NO-BREAK SPACE}") for label in labels]
    names = [wrap(", ".join(unbroken[point] for point in sorted(group)), NAMES_PT) for group in groups]
    # Each entry has a share of the column by its lines, and one line of room.
    lines = [len(name) + 1 for name in names]
    for number, (group, name) in enumerate(zip(groups, names, strict=True)):
        above = sum(lines[:number]) + lines[number] / 2
        height = TOP - (TOP - BOTTOM) * above / sum(lines)
        axes.text(COLUMN, height, "\n".join(name), transform=axes.transAxes, va="center", linespacing=1.1)
        axes.annotate(
            "",
            places[group[0]],
            xytext=(COLUMN, height),
            textcoords="axes fraction",
            annotation_clip=False,
            arrowprops=LEADER,
        )


def _together(axes: Axes, places: Sequence[tuple[float, float]]) -> list[list[int]]:
    """The numbers of the points that lie together, from the highest down."""
    shares = axes.transAxes.inverted().transform(axes.transData.transform(list(places)))
    groups: list[list[int]] = []
    for point in sorted(range(len(places)), key=lambda point: (-shares[point][1], shares[point][0])):
        if groups and max(abs(shares[point] - shares[groups[-1][0]])) <= TOGETHER:
            groups[-1].append(point)
        else:
            groups.append([point])
    return groups
