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

from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import LETTER_IN, Frame, columns, framed

# A line, and a line's marker, whose white edge separates it from those below.
LINE: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.3}
# The room beside a tick's label.
GAP_IN = 0.07
# An axis of numbers is logarithmic where its ends are further apart than this factor; and to scale, but for values that
# are nearer to each other than this part of their mean distance.
LOGARITHMIC_FROM, LEAST_APART = 12, 0.25


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
    axes: Axes,
    rows: pandas.DataFrame,
    x: str,
    columns: tuple[str, str, str],
    by: str,
    colours: Mapping[str, str],
    texts: Mapping[Any, str],
) -> list[Artist]:
    """A line for each name in `colours`, a value of the column `by`. Returns the entries of a legend.

    columns  of a line's values, and of the ends of their intervals
    colours  by name, of all lines of the figure
    texts    the values of x in order, with their labels

    A row without a value breaks its line.
    """
    y, low, high = columns
    places = _places(list(texts))
    rows = rows.assign(at=rows[x].map(dict(zip(texts, places, strict=True))))
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
    for name, colour in colours.items():
        of_line = ordered[ordered[y].notna() & (ordered[by] == name)]
        axes.vlines(of_line["at"], of_line[low], of_line[high], colors=colour, linewidth=LINE["linewidth"])
    _label_places(axes, places, list(texts.values()))
    return list(handles)


def _places(values: Sequence[Any]) -> list[float]:
    """Where an axis' values stand: numbers to scale, on a logarithmic one where they are far apart; words evenly.

    Numbers that would cover each other are LEAST_APART.
    """
    if len(values) < 2 or any(isinstance(value, str) for value in values):
        return [float(place) for place in range(len(values))]
    numbers = [float(value) for value in values]
    scaled = list(map(math.log, numbers)) if numbers[-1] > LOGARITHMIC_FROM * numbers[0] > 0 else numbers
    apart = LEAST_APART * (scaled[-1] - scaled[0]) / (len(scaled) - 1)
    return list(itertools.accumulate(scaled, lambda before, place: max(place, before + apart)))


def _label_places(axes: Axes, places: Sequence[float], texts: Sequence[str]) -> None:
    """Label as many of an axis' values as have room."""
    low, high = axes.get_xlim()
    in_inches = axes.get_window_extent().width / axes.figure.dpi / (high - low)
    labelled: list[int] = []
    for number, (place, text) in enumerate(zip(places, texts, strict=True)):
        letters = (len(texts[labelled[-1]]) + len(text)) / 2 if labelled else 0
        if not labelled or (place - places[labelled[-1]]) * in_inches >= letters * LETTER_IN + GAP_IN:
            labelled.append(number)
    axes.set_xticks([places[number] for number in labelled], [texts[number] for number in labelled])


def on_grid(axes: Axes) -> None:
    """A light grid below what is drawn, and no labels that seaborn has set."""
    axes.set(xlabel="", ylabel="")
    axes.grid(color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
