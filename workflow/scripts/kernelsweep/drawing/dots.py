"""Dots in labelled rows, with their intervals and values, drawn by seaborn.

A dot is a row of a frame with the columns value, low and high, the ends of its interval, and row, its place from the
top; is_open is true where it is not filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kernelsweep.drawing import palette
from kernelsweep.drawing.series import on_grid
from kernelsweep.drawing.value_axis import LEAST_FACTOR, logarithmic

# The diameters of a dot and of the white inside of an open one, and from a dot to its label.
DOT_PT, INSIDE_PT, LABEL_OFFSET_PT = 4.8, 3.0, 5.0
# The room for a label beyond the outermost dots, and for half a dot where no label stands.
LABEL_IN, DOT_IN = 0.42, 0.08
# The dots of our values and of published ones, as draw_dots() and dot_handle() take them: colour and marker.
MEASURED_LOOK, PUBLISHED_LOOK = (palette.BLUE, "o"), (palette.VERMILLION, "D")


def draw_dots(axes: Axes, dots: pandas.DataFrame, colours: Sequence[str] | str, marker: str = "o") -> None:
    """Dots, each of which has a value, with their intervals; `colours`: of all, or one for each."""
    axes.hlines(dots["row"], dots["low"], dots["high"], colors=colours, linewidth=1.0)
    common: dict[str, Any] = {"x": "value", "y": "row", "marker": marker, "linewidth": 0, "ax": axes, "zorder": 3}
    seaborn.scatterplot(dots, s=DOT_PT**2, c=colours, **common)
    seaborn.scatterplot(dots[dots["is_open"]], s=INSIDE_PT**2, color=palette.WHITE, **common)
    on_grid(axes)
    axes.grid(visible=False, axis="y")


def label_dots(axes: Axes, dots: pandas.DataFrame, texts: Sequence[str], colour: str) -> None:
    """The dots' values beside their intervals: on the left where the column is_left is true."""
    for dot, text in zip(dots.to_dict("records"), texts, strict=True):
        if pandas.notna(dot["value"]):
            axes.annotate(
                text,
                (dot["low"] if dot["is_left"] else dot["high"], dot["row"]),
                xytext=(-LABEL_OFFSET_PT if dot["is_left"] else LABEL_OFFSET_PT, 0),
                textcoords="offset points",
                ha="right" if dot["is_left"] else "left",
                va="center_baseline",
                color=palette.text_in(colour),
            )


def digits(value: float) -> str:
    """A value with about four digits: more would be noise."""
    if value >= 1e6:
        return f"{value / 1e6:.1f}·10⁶"
    return f"{value:,.0f}" if value >= 1000 or value == 0 else f"{value:.{1 if value >= 10 else 2}f}"


def dot_handle(label: str, colour: str, marker: str, is_open: bool = False) -> Line2D:
    """A legend's entry for dots of a look."""
    inside = palette.WHITE if is_open else colour
    look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": inside, "linestyle": "none"}
    return Line2D([], [], label=label, markersize=DOT_PT - 0.9, markeredgewidth=0.9, **look)


def pairs(ours: pandas.DataFrame, published: Iterable[float]) -> pandas.DataFrame:
    """The dots of draw_pairs(): ours, with the columns value, low and high, and a published one for each row."""
    theirs = pandas.DataFrame({column: list(published) for column in ("value", "low", "high")}, dtype=float)
    sides = [ours.astype(float).reset_index(drop=True), theirs]
    dots = pandas.concat([side.assign(row=range(len(side)), is_open=bool(number)) for number, side in enumerate(sides)])
    return dots[dots["value"].notna()].reset_index(drop=True)


def draw_pairs(axes: Axes, dots: pandas.DataFrame, texts: pandas.Series[str], length_in: float) -> None:
    """Our dots and published ones with their labels, which stand on the outer sides where a row has both.

    `texts` has the labels, by the dots' index. The axis is logarithmic, about `length_in` inches long.
    """
    shown = dots.sort_values(["row", "value", "is_open"])
    is_first = ~shown["row"].duplicated()
    shown = shown.assign(is_left=is_first & shown["row"].duplicated(keep=False))
    for is_open, look in ((True, PUBLISHED_LOOK), (False, MEASURED_LOOK)):
        of_look = shown[shown["is_open"] == is_open]
        draw_dots(axes, of_look, *look)
        label_dots(axes, of_look, list(texts[of_look.index]), look[0])
    least, most = float(dots["low"].min()), float(dots["high"].max())
    left_in = LABEL_IN if shown["is_left"].any() else DOT_IN
    inch = max(most / least, LEAST_FACTOR) ** (1 / (length_in - left_in - LABEL_IN))
    logarithmic(axes, least / inch**left_in, most * inch**LABEL_IN, length_in)


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """The rows' labels, from the top down."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
