"""Points of a study's steps on logarithmic axes, their names in a column beside them, so that no two names meet."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from kernelsweep.figures import style

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


def draw_points(axes: Axes, xs: Sequence[float], ys: Sequence[float], labels: Sequence[str]) -> None:
    """A marker for each point, and a thin line from it to its name; names stand in the points' order by height.

    To be called once the axes have their limits and scales.
    """
    order = sorted(range(len(xs)), key=lambda point: (-ys[point], xs[point]))
    for place, point in enumerate(order):
        share = place / (len(order) - 1) if len(order) > 1 else 0.5
        colour = style.LINE_COLOURS[point % len(style.LINE_COLOURS)]
        height = TOP - share * (TOP - BOTTOM)
        axes.text(COLUMN, height, labels[point], transform=axes.transAxes, va="center", color=colour)
        axes.annotate(
            "",
            (xs[point], ys[point]),
            xytext=(COLUMN, height),
            textcoords="axes fraction",
            annotation_clip=False,
            arrowprops=LEADER,
        )
        marker = style.MARKERS[point % len(style.MARKERS)]
        axes.plot([xs[point]], [ys[point]], marker=marker, color=colour, markersize=4.5, linestyle="none", zorder=3)
