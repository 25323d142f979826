"""Dots in labelled rows, with their intervals and values, drawn by seaborn.

A dot is a row of a frame with the columns value, low and high, the ends of its interval, and row, its place from the
top; is_open is true where it is not filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas
import seaborn
from matplotlib.axes import Axes

from kernelsweep.drawing import palette
from kernelsweep.drawing.series import on_grid
from kernelsweep.drawing.value_axis import LEAST_FACTOR, logarithmic

# The diameters of a dot and of the white inside of an open one, and from a dot to its label.
DOT_PT, INSIDE_PT, LABEL_OFFSET_PT = 4.8, 3.0, 5.0
# The room for a label beyond the outermost dots, and for half a dot where no label stands.
LABEL_IN, DOT_IN = 0.42, 0.08


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


def draw_column(axes: Axes, dots: pandas.DataFrame, length_in: float) -> None:
    """Dots with their labels on a logarithmic axis, about `length_in` inches long."""
    draw_dots(axes, dots, palette.BLUE)
    label_dots(axes, dots, list(dots["value"].map(digits)), palette.BLUE)
    least, most = float(dots["low"].min()), float(dots["high"].max())
    inch = max(most / least, LEAST_FACTOR) ** (1 / (length_in - DOT_IN - LABEL_IN))
    logarithmic(axes, least / inch**DOT_IN, most * inch**LABEL_IN, length_in)


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """The rows' labels, from the top down."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
