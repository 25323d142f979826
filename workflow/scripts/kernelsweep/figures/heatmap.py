"""A heat map's annotated cells, and the marks for cells that have no value: failed, or not in the sweep."""

from __future__ import annotations

import matplotlib
import numpy
import pandas
import seaborn  # type: ignore[import-untyped]
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from seaborn.utils import relative_luminance  # type: ignore[import-untyped]

from kernelsweep.figures import style

# The relative luminance at which black and white text have the same contrast (WCAG). Seaborn's own threshold, 0.408,
# sets white numbers on cells too light for them.
DARK_BELOW = 0.18


def draw_cells(
    axes: Axes,
    values: pandas.DataFrame,
    statuses: pandas.DataFrame,
    largest: float,
) -> None:
    """Draw `values` (rows by columns; NaN where there is none) on a scale from 0 to `largest`.

    `statuses` has the same shape: a cell without a value is hatched with its status's letter, or blank when that is "".
    """
    seaborn.heatmap(
        values,
        ax=axes,
        cmap="cividis",
        vmin=0.0,
        vmax=largest,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
    )
    colours = matplotlib.colormaps["cividis"]
    numbers = values.to_numpy(float)
    for row, column in numpy.argwhere(~numpy.isnan(numbers)):
        value = numbers[row, column]
        dark = relative_luminance(colours(value / largest)) < DARK_BELOW
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{value:.0f}",
            ha="center",
            va="center_baseline",
            color="white" if dark else style.BLACK,
        )
    words = statuses.to_numpy(str)
    for row, column in numpy.argwhere(numpy.isnan(numbers) & (words != "")):
        hatch_cell(axes, int(row), int(column), style.STATUS_LETTERS[words[row, column]])
    tidy(axes)


def hatch_cell(axes: Axes, row: float, column: int, text: str, height: float = 1.0) -> None:
    """A hatched grey cell with `text` in its middle, from (`column`, `row`) on, one wide and `height` tall."""
    axes.add_patch(
        Rectangle(
            (column, row),
            1,
            height,
            facecolor=style.PALE_GREY,
            edgecolor="white",
            hatch="/////",
            linewidth=0.5,
            zorder=2,
        )
    )
    axes.text(column + 0.5, row + height / 2, text, ha="center", va="center_baseline", weight="bold", zorder=3)


def tidy(axes: Axes) -> None:
    """No tick marks, no spines, level labels."""
    axes.tick_params(length=0)
    axes.tick_params(axis="x", rotation=0)
    axes.tick_params(axis="y", rotation=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
