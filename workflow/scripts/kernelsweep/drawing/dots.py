"""Dots in labelled rows, with their intervals and values, drawn by seaborn.

A dot is a row of a frame with the columns value, low and high, the ends of its interval, and row, its place from the
top; is_open is true where it is not filled.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pandas
import seaborn
from matplotlib.axes import Axes

from kernelsweep.analysis.words import superscript
from kernelsweep.drawing import palette
from kernelsweep.drawing.series import on_grid

# The diameters of a dot and of the white inside of an open one, and from a dot to its label.
DOT_PT, INSIDE_PT, LABEL_OFFSET_PT = 4.8, 3.0, 5.0
# The multiples of powers of ten that are ticked: the first of these that give few enough ticks for the axis' length.
TICKS = ((1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), (1.0, 1.5, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0,))
# The least distance between two ticks.
BESIDE_IN = 0.42
# The least factor that an axis covers, so that it has two ticks.
LEAST_FACTOR = 2.0
# From this number on, ticks are powers of ten: 5·10⁵.
LEAST_POWER = 1e5


def draw_dots(axes: Axes, dots: pandas.DataFrame, colours: Sequence[str] | str) -> None:
    """Dots, each of which has a value, with their intervals; `colours`: of all, or one for each."""
    axes.hlines(dots["row"], dots["low"], dots["high"], colors=colours, linewidth=1.0)
    common: dict[str, Any] = {"x": "value", "y": "row", "marker": "o", "linewidth": 0, "ax": axes, "zorder": 3}
    seaborn.scatterplot(dots, s=DOT_PT**2, c=colours, **common)
    seaborn.scatterplot(dots[dots["is_open"]], s=INSIDE_PT**2, color=palette.WHITE, **common)
    on_grid(axes)
    axes.grid(visible=False, axis="y")


def label_dots(axes: Axes, dots: pandas.DataFrame, texts: Sequence[str], colour: str) -> None:
    """The dots' values beside their intervals."""
    for dot, text in zip(dots.to_dict("records"), texts, strict=True):
        if pandas.notna(dot["value"]):
            axes.annotate(
                text,
                (dot["high"], dot["row"]),
                xytext=(LABEL_OFFSET_PT, 0),
                textcoords="offset points",
                va="center_baseline",
                color=palette.text_in(colour),
            )


def digits(value: float) -> str:
    """A value with about four digits: more would be noise."""
    if value >= 1e6:
        return f"{value / 1e6:.1f}·10⁶"
    return f"{value:,.0f}" if value >= 1000 or value == 0 else f"{value:.{1 if value >= 10 else 2}f}"


def logarithmic(axes: Axes, low: float, high: float, length_in: float) -> None:
    """A logarithmic horizontal axis from `low` to `high`, about `length_in` inches long."""
    room = math.sqrt(max(1.0, LEAST_FACTOR * low / high))
    low, high = low / room, high * room
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = _ticks(low, high, length_in / BESIDE_IN)
    axes.xaxis.set_ticks(ticks, [_text(tick) for tick in ticks])
    axes.xaxis.set_ticks([], minor=True)


def _text(tick: float) -> str:
    if tick >= LEAST_POWER:
        digit, power = f"{tick:.0e}".split("e")
        return ("" if digit == "1" else f"{digit}·") + f"10{superscript(int(power))}"
    return f"{tick:,.0f}" if tick >= 1000 else f"{tick:g}"


def _ticks(low: float, high: float, most: float) -> list[float]:
    """Round numbers from `low` to `high`, each at least an equal share of the axis from the next."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    least = (high / low) ** (1 / most)
    for subs in TICKS:
        found = [sub * 10.0**decade for decade in decades for sub in subs]
        nearest = min(over / under for under, over in itertools.pairwise(found))
        if nearest >= least:
            break
    # An axis of many decades has every second or third of them.
    return [tick for tick in found[:: math.ceil(math.log(least, nearest))] if low <= tick <= high]
