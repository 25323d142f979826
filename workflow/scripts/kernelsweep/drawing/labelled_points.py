"""Points of a study's steps on logarithmic axes, their names in a column beside them, so that no two names meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from kernelsweep.drawing import style

# The names' column, in shares of the axes' width, and its upper and lower end in those of its height.
COLUMN = 1.06
TOP, BOTTOM = 0.97, 0.03
LEADER = {"arrowstyle": "-", "color": style.PALE_GREY, "linewidth": 0.6, "shrinkA": 2, "shrinkB": 2}
TICKS = (1.0, 2.0, 5.0)
# A logarithmic axis goes over a factor of so much at least, so that it has two ticks.
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


def panel_and_names(
    width_in: float, body_in: float, title: str, message: str, caption: str, labels: Sequence[str]
) -> tuple[Figure, Axes, Axes | None]:
    """A figure with axes for points, and in one column, which has no room for names beside them, axes for these."""
    if not style.is_narrow(width_in):
        figure = style.new_figure(width_in, body_in, title, message, caption)
        return figure, figure.subplots(), None
    heights = [body_in, style.legend_below_in(labels, width_in)]
    figure = style.new_figure(width_in, sum(heights), title, message, caption)
    axes, below = figure.subplots(2, 1, height_ratios=heights)
    return figure, axes, below


def draw_points(
    axes: Axes, xs: Sequence[float], ys: Sequence[float], labels: Sequence[str], below: Axes | None, width_in: float
) -> None:
    """A marker for each point, and a thin line from it to its name; names stand in the points' order by height.

    With axes `below`, names stand there, in the labels' order, each with its point's marker.
    To be called once the axes have their limits and scales.
    """
    if below:
        looks = [_look(point) for point in range(len(labels))]
        for x, y, look in zip(xs, ys, looks, strict=True):
            axes.plot([x], [y], **look)
        handles = [Line2D([], [], label=label, **look) for label, look in zip(labels, looks, strict=True)]
        style.legend_below(below, handles, width_in)
        return
    order = sorted(range(len(xs)), key=lambda point: (-ys[point], xs[point]))
    for place, point in enumerate(order):
        share = place / (len(order) - 1) if len(order) > 1 else 0.5
        look = _look(point)
        height = TOP - share * (TOP - BOTTOM)
        axes.text(COLUMN, height, labels[point], transform=axes.transAxes, va="center", color=look["color"])
        axes.annotate(
            "",
            (xs[point], ys[point]),
            xytext=(COLUMN, height),
            textcoords="axes fraction",
            annotation_clip=False,
            arrowprops=LEADER,
        )
        axes.plot([xs[point]], [ys[point]], **look)


def _look(point: int) -> dict[str, Any]:
    return {
        "marker": style.MARKERS[point % len(style.MARKERS)],
        "color": style.LINE_COLOURS[point % len(style.LINE_COLOURS)],
        "markersize": 4.5,
        "linestyle": "none",
        "zorder": 3,
    }
