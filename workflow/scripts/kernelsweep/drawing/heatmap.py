"""Heat maps: annotated cells on one colour scale, and the marks for cells without a value."""

from __future__ import annotations

from typing import Any

import matplotlib
import matplotlib.cm
import matplotlib.colors
import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kernelsweep.analysis.words import STATUS_LETTERS
from kernelsweep.drawing import palette

# Colours tell shares near the best apart, and those far from it less.
GAMMA = 2.0
# On a cell whose point is right and lacks the quantity that is shown, such as an energy.
NO_VALUE = "–"


def shades() -> matplotlib.cm.ScalarMappable:
    """The colours of percentages, on which black digits can be read."""
    colours = matplotlib.colors.ListedColormap(matplotlib.colormaps["YlGnBu"](numpy.linspace(0.0, 0.55, 256)))
    return matplotlib.cm.ScalarMappable(matplotlib.colors.PowerNorm(GAMMA, 0.0, 100.0), colours)


def draw_cells(axes: Axes, cells: pandas.DataFrame, digits: str, step: int) -> None:
    """Cells that are coloured and annotated, hatched with a status's letter, or blank.

    cells  a row for each: down and across, the labels of its row and column, ordered categories; shown, its number, NaN
           without one; shade, its percentage; status; is_outlined
    digits  the format of a number; "" for cells that are only coloured
    step    of how many columns one is labelled
    """
    names = ["shown", "shade", "status", "is_outlined"]
    table = cells.pivot(index="down", columns="across", values=names)
    shown, shade, status, is_outlined = (table[name] for name in names)
    seaborn.heatmap(
        shade.astype(float),
        annot=shown.astype(float) if digits else None,
        fmt=digits,
        annot_kws={"color": palette.BLACK, "va": "center_baseline"},
        cmap=shades().cmap,
        norm=shades().norm,
        vmin=0.0,
        vmax=100.0,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
        xticklabels=step,
        yticklabels=[*shown.index],
        ax=axes,
    )
    axes.set(xlabel="", ylabel="")
    for row, column in numpy.argwhere((shown.isna() & status.notna()).to_numpy()):
        look: Any = {"facecolor": palette.PALE_GREY, "edgecolor": "white", "hatch": "/////", "linewidth": 0.5}
        axes.add_patch(Rectangle((column, row), 1, 1, zorder=2, **look))
        letter = STATUS_LETTERS.get(str(status.to_numpy()[row, column]), NO_VALUE)
        middle: Any = {"ha": "center", "va": "center_baseline", "color": palette.BLACK, "zorder": 3}
        axes.text(column + 0.5, row + 0.5, letter, weight="bold", **middle)
    for row, column in numpy.argwhere(is_outlined.eq(True).to_numpy()):
        look = {"fill": False, "edgecolor": palette.VERMILLION, "linewidth": 0.9, "clip_on": False}
        axes.add_patch(Rectangle((column, row), 1, 1, zorder=4, **look))
    axes.tick_params(length=0, rotation=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
