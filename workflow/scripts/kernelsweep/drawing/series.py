"""Lines over tidy rows in a grid of panels, drawn by seaborn in the figures' colours, dashes and markers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
import seaborn
from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.drawing import palette, style
from kernelsweep.drawing.layout import LETTER_IN, Frame, columns, framed

# A line, and a line's marker, whose white edge separates it from those below.
LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.3}
# The room beside a tick's label.
GAP_IN = 0.07


class _Grid(seaborn.FacetGrid):  # type: ignore[misc]
    """Panels that are laid out when they are saved: seaborn would, too, before anything is drawn."""

    def tight_layout(self, *_: Any, **__: Any) -> _Grid:
        """Nothing."""
        return self


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
    side_by_side = columns(len(names), frame.width, least_in)
    grid = _Grid(rows, col=column, col_order=names, col_wrap=side_by_side, height=1.0, sharex=False, sharey=share_y)
    # pyplot would keep it, and warn of many.
    pyplot.close(grid.figure)
    for name, axes in grid.axes_dict.items():
        axes.set_title("")
        axes.set_title(name, loc="left", pad=3)
    return framed(grid.figure, frame, height_in * math.ceil(len(names) / side_by_side)), grid


def draw_lines(
    axes: Axes, rows: pandas.DataFrame, x: str, y: str, by: str, colours: Mapping[str, str], texts: Mapping[Any, str]
) -> list[Artist]:
    """A line for each name in `colours`, a value of the column `by`. Returns the entries of a legend.

    colours  by name, of all lines of the figure
    texts    the values of x in order, with their labels: values are equally far from each other

    A row without a y breaks its line.
    """
    rows = rows.assign(at=rows[x].map({value: place for place, value in enumerate(texts)}))
    ordered = rows[rows["at"].notna()].sort_values([by, "at"])
    # Rows between two breaks of a line are a unit: seaborn would join those beside a break.
    ordered = ordered.assign(unit=ordered[y].isna().cumsum())
    seaborn.lineplot(
        ordered[ordered[y].notna()],
        x="at",
        y=y,
        hue=by,
        style=by,
        units="unit",
        estimator=None,
        hue_order=[*colours],
        style_order=[*colours],
        palette=[*colours.values()],
        dashes=list(itertools.islice(itertools.cycle(style.DASHES), len(colours))),
        markers=list(itertools.islice(itertools.cycle(style.MARKERS), len(colours))),
        legend="full",
        ax=axes,
        **LINE,
    )
    handles, _ = axes.get_legend_handles_labels()
    for drawn in filter(None, (axes.get_legend(), *handles)):
        drawn.remove()
    on_grid(axes)
    width_in = axes.get_window_extent().width / axes.figure.dpi
    step = math.ceil(len(texts) * (max(map(len, texts.values())) * LETTER_IN + GAP_IN) / width_in)
    axes.set_xticks(range(0, len(texts), step), list(texts.values())[::step])
    return list(handles)


def on_grid(axes: Axes) -> None:
    """A light grid below what is drawn, and no labels that seaborn has set."""
    axes.set(xlabel="", ylabel="")
    axes.grid(color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
