"""Lines and points over tidy rows, drawn by seaborn in the figures' colours, dashes and markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kernelsweep.drawing import palette, style

# A line, and a line's marker, whose white edge separates it from those below.
LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.3}


def draw_lines(axes: Axes, rows: pandas.DataFrame, x: str, y: str, by: str, names: Sequence[Any], **look: Any) -> None:
    """A line for each of `names`, the values of the column `by`, over the columns x and y, on a grid.

    A value of x without a y breaks the line there. Look number n is that of names[n]; `look` changes all lines.
    """
    places = list(dict.fromkeys(rows.sort_values(x)[x]))
    index = pandas.MultiIndex.from_product([names, places], names=[by, x])
    every = rows.set_index([by, x])[y].reindex(index).reset_index()
    # Rows between two breaks of a line are a unit: seaborn would join those beside a break.
    every = every.assign(unit=every[y].isna().cumsum())
    seaborn.lineplot(
        every,
        x=x,
        y=y,
        hue=by,
        style=by,
        units="unit",
        estimator=None,
        hue_order=names,
        style_order=names,
        palette=[style.colour(number) for number in range(len(names))],
        dashes=[style.dashes(number) for number in range(len(names))],
        markers=[style.marker(number) for number in range(len(names))],
        legend=False,
        ax=axes,
        **{**LINE, **look},
    )
    on_grid(axes)


def draw_points(
    axes: Axes,
    rows: pandas.DataFrame,
    x: str,
    y: str,
    by: str,
    names: Sequence[Any],
    is_open: bool = False,
    **look: Any,
) -> None:
    """A point for each row, with the look of its value in the column `by`; look number n is that of names[n].

    Open points show those below.
    """
    seaborn.scatterplot(
        rows,
        x=x,
        y=y,
        hue=by,
        style=by,
        hue_order=names,
        style_order=names,
        palette=[style.colour(number) for number in range(len(names))],
        markers=[style.marker(number) for number in range(len(names))],
        legend=False,
        ax=axes,
        **look,
    )
    if is_open:
        for points in axes.collections[-1:]:
            points.set(edgecolor=points.get_facecolor(), facecolor="none")
    on_grid(axes)


def line_handles(labels: Sequence[str], **look: Any) -> list[Line2D]:
    """The entries of a legend of draw_lines(), one for each label."""
    return [Line2D([], [], label=label, **{**style.line_look(n), **LINE, **look}) for n, label in enumerate(labels)]


def on_grid(axes: Axes) -> None:
    """A light grid below what is drawn, and no labels that seaborn has set."""
    axes.set(xlabel="", ylabel="")
    axes.grid(color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
