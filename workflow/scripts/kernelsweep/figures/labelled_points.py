"""Points of a study's steps with their names in a column beside the axes, so that no two names meet."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from kernelsweep.figures import style

# The names' column, in shares of the axes' width, and its upper and lower end in those of its height.
COLUMN = 1.06
TOP, BOTTOM = 0.97, 0.03


def draw_points(axes: Axes, xs: Sequence[float], ys: Sequence[float], labels: Sequence[str]) -> None:
    """A marker for each point, and a thin line from it to its name; names stand in the points' order by height.

    To be called once the axes have their limits and scales.
    """
    height = axes.transData.transform
    order = sorted(range(len(xs)), key=lambda point: (-height((xs[point], ys[point]))[1], xs[point]))
    for place, point in enumerate(order):
        share = place / (len(order) - 1) if len(order) > 1 else 0.5
        colour = style.LINE_COLOURS[point % len(style.LINE_COLOURS)]
        axes.annotate(
            labels[point],
            (xs[point], ys[point]),
            xytext=(COLUMN, TOP - share * (TOP - BOTTOM)),
            textcoords="axes fraction",
            va="center",
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.PALE_GREY, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 2},
        )
        marker = style.MARKERS[point % len(style.MARKERS)]
        axes.plot([xs[point]], [ys[point]], marker=marker, color=colour, markersize=4.5, linestyle="none", zorder=3)
