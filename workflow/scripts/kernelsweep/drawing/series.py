"""Lines over tidy rows in a grid of panels, drawn by seaborn in the figures' colours, dashes and markers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
import seaborn
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.drawing import palette, style
from kernelsweep.drawing.layout import POINTS_PER_INCH, Frame, framed, text_width_pt

# A line, and a line's marker, whose white edge separates it from those below.
LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.3}
# The room of a tick's label, in points, beside the label itself.
LABEL_GAP_PT = 5.0


def facet_grid(
    frame: Frame,
    rows: pandas.DataFrame,
    column: str,
    names: Sequence[str],
    panel_in: tuple[float, float],
    share_y: bool = True,
) -> tuple[Figure, seaborn.FacetGrid]:
    """A panel for each of `names`, the values of a column, with an x axis of its own.

    panel_in  a panel's least width, which says how many stand side by side, and its height
    """
    least_in, height_in = panel_in
    columns = frame.width.columns(len(names), least_in)
    grid = seaborn.FacetGrid(
        rows, col=column, col_order=names, col_wrap=columns, height=1.0, sharex=False, sharey=share_y
    )
    # pyplot would keep it, and warn of many.
    pyplot.close(grid.figure)
    for name, axes in grid.axes_dict.items():
        axes.set_title("")
        axes.set_title(name, loc="left", pad=3)
    return framed(grid.figure, frame, height_in * math.ceil(len(names) / columns)), grid


def draw_lines(
    axes: Axes,
    rows: pandas.DataFrame,
    x: str,
    y: str,
    by: str,
    names: Sequence[Any],
    texts: Mapping[Any, str],
    colours: Mapping[Any, str],
) -> None:
    """A line for each of `names`, the values of the column `by`; those without a colour are grey.

    texts    the values of x in order, with their labels: values are equally far from each other
    colours  other than the usual ones, by name

    A row without a y breaks its line.
    """
    rows = rows.assign(at=rows[x].map({value: place for place, value in enumerate(texts)}))
    ordered = rows[rows["at"].notna()].sort_values([by, "at"])
    # Rows between two breaks of a line are a unit: seaborn would join those beside a break.
    ordered = ordered.assign(unit=ordered[y].isna().cumsum())
    numbers = range(len(names))
    seaborn.lineplot(
        ordered[ordered[y].notna()],
        x="at",
        y=y,
        hue=by,
        style=by,
        units="unit",
        estimator=None,
        hue_order=names,
        style_order=names,
        palette=[colours.get(name, style.colour(number)) for number, name in enumerate(names)],
        dashes=[style.dashes(number) for number in numbers],
        markers=[style.marker(number) for number in numbers],
        legend=False,
        ax=axes,
        **LINE,
    )
    on_grid(axes)
    width_pt = axes.get_window_extent().width / axes.figure.dpi * POINTS_PER_INCH
    step = math.ceil(len(texts) * (max(map(text_width_pt, texts.values())) + LABEL_GAP_PT) / width_pt)
    axes.set_xticks(range(0, len(texts), step), list(texts.values())[::step])


def line_handles(labels: Mapping[Any, str], colours: Mapping[Any, str]) -> list[Line2D]:
    """The entries of a legend of draw_lines(), one for each name with its label."""
    looks = [style.line_look(number) for number in range(len(labels))]
    return [
        Line2D([], [], label=label, **look | {"color": colours.get(name, look["color"])} | LINE)
        for (name, label), look in zip(labels.items(), looks, strict=True)
    ]


def on_grid(axes: Axes) -> None:
    """A light grid below what is drawn, and no labels that seaborn has set."""
    axes.set(xlabel="", ylabel="")
    axes.grid(color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
