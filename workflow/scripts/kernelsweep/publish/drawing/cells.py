"""A heat map's cells, and the scale of their colours: one number has one colour, and dark is fast on paper."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import FuncNorm, ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from kernelsweep.judge.data.words import STATUS_LETTERS
from kernelsweep.publish.drawing import palette
from kernelsweep.publish.drawing.style import text_in

# Colours go with this power of a rate: they tell apart what is near the best.
GAMMA = 2.0
# On a cell whose point is right and lacks the quantity that is shown, such as a bandwidth.
NO_VALUE = "–"
# The scale: its greatest length, height and place above the figure's lower edge; the gap between numbers, how many.
BAR_IN, THICK_IN, ABOVE_IN, GAP_IN, ROUND_TICKS = 2.4, 0.08, 0.31, 0.14, 5
HATCHED: dict[str, Any] = {"facecolor": palette.PALE_GREY, "edgecolor": palette.WHITE, "linewidth": 0.5}
OUTLINED: dict[str, Any] = {"fill": False, "edgecolor": palette.VERMILLION, "linewidth": 0.9, "clip_on": False}


def number_colours(values: pandas.Series[float], is_time: bool) -> ScalarMappable:
    """The colours of numbers, on which dark digits can be read: dark is fast."""
    colours = ListedColormap([light for light, _ in palette.map_colours()])
    if not is_time:
        return ScalarMappable(PowerNorm(GAMMA, 0.0, values.max()), colours)
    # A time's rate is one over it. The norm is asked for shorter ones, too, such as 0.
    low, high = values.min(), values.max()
    power = (lambda time: -(numpy.maximum(time, low) ** -GAMMA), lambda power: (-power) ** (-1 / GAMMA))
    return ScalarMappable(FuncNorm(power, low, high), colours.reversed())


def draw_cells(
    axes: Axes, cells: pandas.DataFrame, down: int, across: int, colours: ScalarMappable, digits: str
) -> None:
    """Cells that are coloured and annotated, hatched with a status's letter, or grey where the sweep has none.

    cells         a row for each: the numbers of its row and its column, `down` and `across`; `shown`, its number, NaN
                  without one; its `status`; whether it `is_outlined`
    down, across  how many rows and columns there are
    digits        the format of a number; "" for cells that are only coloured
    """
    numbers = numpy.full((down, across), numpy.nan)
    numbers[cells["down"], cells["across"]] = cells["shown"]
    axes.set_facecolor(palette.NOT_SWEPT)
    look: Any = {"cmap": colours.cmap, "norm": colours.norm, "linecolor": palette.WHITE, "linewidths": 0.5}
    # A panel may have no number. The norm has the limits; seaborn would look for its own.
    look |= {"vmin": colours.norm.vmin, "vmax": colours.norm.vmax}
    words: Any = {"annot": bool(digits), "fmt": digits, "annot_kws": {"color": palette.INK, "va": "center_baseline"}}
    nothing: Any = dict.fromkeys(("cbar", "xticklabels", "yticklabels"), False)
    seaborn.heatmap(numbers, mask=numpy.isnan(numbers), ax=axes, **look, **words, **nothing)
    for cell in cells.sort_values(["down", "across"]).to_dict("records"):
        row, column, is_known = cell["down"], cell["across"], pandas.notna(cell["shown"])
        if not is_known:
            axes.add_patch(Rectangle((column, row), 1, 1, zorder=2, hatch="/////", **HATCHED))
            text = STATUS_LETTERS.get(str(cell["status"]), NO_VALUE)
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center_baseline", weight="bold", zorder=3)
        if cell["is_outlined"]:
            axes.add_patch(Rectangle((column, row), 1, 1, zorder=4, **OUTLINED))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def add_bar(figure: Figure, colours: ScalarMappable, left_in: float, digits: str, label: str) -> None:
    """The scale of colours at a figure's foot, with its label: both ends, and round numbers that have room between."""
    width, height = figure.get_size_inches()
    low, high = colours.get_clim()
    is_time = isinstance(colours.norm, FuncNorm)
    slow, best = (high, low) if is_time else (low, high)
    bar_in = min(BAR_IN, width - left_in - max(text_in(f"{best:{digits}}") / 2, GAP_IN) - GAP_IN)
    axes = figure.add_axes((left_in / width, ABOVE_IN / height, bar_in / width, THICK_IN / height))
    texts = {best: f"{best:{digits}}", slow: f"{slow:{digits if is_time else ',g'}}"}
    rounds = MaxNLocator(ROUND_TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
    for tick in sorted((float(tick) for tick in rounds if low < tick < high), key=lambda tick: abs(tick - best)):
        at, *others = numpy.asarray(colours.norm(numpy.array([tick, *texts])), dtype=float)
        rooms = [(text_in(f"{tick:,g}") + text_in(text)) / 2 + GAP_IN for text in texts.values()]
        if all(abs(at - other) * bar_in >= room for other, room in zip(others, rooms, strict=True)):
            texts[tick] = f"{tick:,g}"
    bar = figure.colorbar(colours, cax=axes, ticks=[*texts], orientation="horizontal")
    bar.set_ticklabels([*texts.values()])
    bar.outline.set_visible(False)
    axes.xaxis.set_inverted(is_time)
    axes.tick_params(length=0)
    axes.set_xlabel(label)
