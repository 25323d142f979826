"""Dots in named rows, with their intervals and values, drawn by seaborn.

A dot is a row of a frame with the columns value, low and high, the ends of its interval, and row, its place from the
top; is_open is true where it is not filled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator

from kernelsweep.drawing import palette
from kernelsweep.drawing.layout import LETTER_IN
from kernelsweep.drawing.series import on_grid

# The diameters of a dot and of the white inside of an open one.
DOT_PT, INSIDE_PT = 4.8, 3.0
# An axis is logarithmic where its ends are further apart than this factor.
LOGARITHMIC_FROM = 4.0
# The multiples of powers of ten that are ticked: the first of these that give few enough ticks.
TICKS = ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
# The room of a tick.
TICK_IN = 0.45


def draw_dots(axes: Axes, dots: pandas.DataFrame, colours: Sequence[str] | str) -> None:
    """Dots, each of which has a value, with their intervals; `colours`: of all, or one for each."""
    axes.hlines(dots["row"], dots["low"], dots["high"], colors=colours, linewidth=1.0)
    common: dict[str, Any] = {"x": "value", "y": "row", "marker": "o", "linewidth": 0, "ax": axes, "zorder": 3}
    seaborn.scatterplot(dots, s=DOT_PT**2, c=colours, **common)
    seaborn.scatterplot(dots[dots["is_open"]], s=INSIDE_PT**2, color=palette.WHITE, **common)
    on_grid(axes)
    axes.grid(visible=False, axis="y")


def name_rows(axes: Axes, places: Sequence[float], names: Sequence[str], values: Sequence[str]) -> None:
    """Each row's name on the left and its value in words on the right, and ticks below for the room between them."""
    beside = axes.secondary_yaxis("right")
    for side, texts, spine in ((axes, names, "left"), (beside, values, "right")):
        side.set_yticks(places, texts)
        side.tick_params(axis="y", length=0)
        side.spines[spine].set_visible(False)
    axes.set_ylim(max(places) + 0.5, -0.5)
    letters = sum(max(map(len, "\n".join(texts).split("\n"))) for texts in (names, values))
    most = max(2, int((axes.figure.bbox.width / axes.figure.dpi - letters * LETTER_IN) / TICK_IN))
    low, high = axes.dataLim.intervalx
    if high > LOGARITHMIC_FROM * low > 0:
        axes.set_xscale("log")
        decades = math.log10(high / low)
        fitting = next((subs for subs in TICKS if len(subs) * decades <= most), TICKS[-1])
        axes.xaxis.set_major_locator(LogLocator(subs=fitting, numticks=most))
        axes.xaxis.set_ticks([], minor=True)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(most))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
