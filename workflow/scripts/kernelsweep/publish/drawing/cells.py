"""A heat map's cells, and the scale of their colours: one number has one colour, and dark is fast on paper."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10
from typing import Any

import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from kernelsweep.judge.data.words import STATUS_LETTERS, status_key
from kernelsweep.publish.drawing import palette
from kernelsweep.publish.drawing.style import TEXT_PT, text_in

# On a cell whose point is right and lacks the quantity that is shown, such as a bandwidth.
NO_VALUE = "–"
# The scale: its height, the room below it, its part of the figure's width, the room per tick, that of a mark beside its
# words, beside these, and on the left in a narrow figure; the height of a mark.
THICK_IN, ABOVE_IN, BAR_PART, TICK_IN, KEY_IN, RIGHT_IN, LEFT_IN = 0.08, 0.31, 0.4, 0.36, 0.55, 0.12, 0.15
MARK_IN = 0.15
LEAST_SPAN, FROM_WHOLE, SCALE_STEPS = 0.1, 100, 5
HATCHED: dict[str, Any] = {"facecolor": palette.PALE_GREY, "edgecolor": palette.WHITE, "linewidth": 0.5}
TIED: dict[str, Any] = {"fill": False, "edgecolor": palette.VERMILLION, "linewidth": 0.6, "clip_on": False}
FASTEST = TIED | {"linewidth": 1.8}


def map_scale(shades: pandas.Series[float]) -> ScalarMappable:
    """The colours of numbers that are high where it is fast.

    From zero, so that half the best number has half its colour. If all would be dark, they are the darker half of a
    shorter scale. It spans at least LEAST_SPAN of the best, so that noise stays nearly one colour. Its ends are round.
    As in explorer.js.
    """
    least, best = shades.min(), shades.max()
    start = max(0.0, min(2 * least - best, (1 - LEAST_SPAN) * best))
    part = (best - start) / SCALE_STEPS
    power = 10.0 ** floor(log10(part)) if part > 0 else 1.0
    step = power * next((digit for digit, most in ((1, 2**0.5), (2, 10**0.5), (5, 50**0.5)) if part < most * power), 10)
    ends = Normalize(floor(start / step) * step, ceil(best / step) * step)
    colours = ScalarMappable(ends, ListedColormap([light for light, _ in palette.map_colours()]))
    colours.set_array(shades)
    return colours


def draw_cells(
    axes: Axes, cells: pandas.DataFrame, down: int, across: int, colours: ScalarMappable, digits: str
) -> None:
    """Cells that are coloured and annotated, hatched with a status's letter, or grey where the sweep has none.

    cells         a row for each: the numbers of its row and its column, `down` and `across`; `shown`, its number, NaN
                  without one, and `shade`, that of its colour; its `status`; whether it `is_outlined`, and as
                  the fastest, or throttled
    down, across  how many rows and columns there are
    digits        the format of a number; "" for cells that are only coloured
    """
    numbers, shades = numpy.full((2, down, across), numpy.nan)
    numbers[cells["down"], cells["across"]], shades[cells["down"], cells["across"]] = cells["shown"], cells["shade"]
    axes.set_facecolor(palette.NOT_SWEPT)
    look: Any = {"cmap": colours.cmap, "norm": colours.norm, "linecolor": palette.WHITE, "linewidths": 0.5}
    # A panel may have no number. The norm has the limits; seaborn would look for its own.
    look |= {"vmin": colours.norm.vmin, "vmax": colours.norm.vmax}
    texts = numpy.full((down, across), "", dtype=object)
    texts[cells["down"], cells["across"]] = [
        f"{cell.shown:{digits}}{'*' * bool(cell.is_hollow)}" for cell in cells.itertuples()
    ]
    words: Any = {"annot": texts if digits else False, "fmt": ""}
    words |= {"annot_kws": {"color": palette.INK, "va": "center_baseline"}}
    nothing: Any = dict.fromkeys(("cbar", "xticklabels", "yticklabels"), False)
    seaborn.heatmap(shades, mask=numpy.isnan(numbers), ax=axes, **look, **words, **nothing)
    for cell in cells.sort_values(["down", "across"]).to_dict("records"):
        row, column, is_known = cell["down"], cell["across"], pandas.notna(cell["shown"])
        if not is_known:
            axes.add_patch(Rectangle((column, row), 1, 1, zorder=2, hatch="/////", **HATCHED))
            text = STATUS_LETTERS.get(str(cell["status"]), NO_VALUE)
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center_baseline", weight="bold", zorder=3)
        if cell["is_outlined"]:
            look = FASTEST if cell["is_fastest"] else TIED
            axes.add_patch(Rectangle((column, row), 1, 1, zorder=4 + cell["is_fastest"], **look))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def number_text(value: float) -> str:
    """A number of the scale: 0, 62.2, 3,350."""
    return f"{value:,.0f}" if value >= FROM_WHOLE else f"{value:.3g}"


def name_axes(figure: Figure, across: str, down: str, side_in: float, above_in: float, foot_in: float) -> None:
    """The titles of both axes, once for all panels, which stand on the right of `side_in` and above `foot_in`.

    above_in  of the title of the axis across, above the figure's lower edge
    """
    width, height = figure.get_size_inches()
    down = down if text_in(down) < height - above_in else down.partition(" (")[0]
    figure.supxlabel(across, x=(1 + side_in / width) / 2, y=above_in / height, size=TEXT_PT)
    # Where panels are low, their title reaches below them.
    middle = min((height + foot_in) / 2, height - text_in(down) / 2 - 0.02)
    figure.supylabel(down, x=0.02 / width, y=middle / height, size=TEXT_PT)


def foot_key_in(marks: Mapping[str, Any]) -> float:
    """The height of the key at a figure's foot, in inches."""
    return max(ABOVE_IN + THICK_IN, len(marks) * MARK_IN) + MARK_IN / 2


def add_key(
    figure: Figure,
    colours: ScalarMappable,
    label: str,
    marks: Mapping[str, Any],
    left_in: float,
    slot: tuple[float, float] | None,
) -> None:
    """The colours of cells with their label, and what marks mean, by their looks.

    left_in  where the colours begin at the figure's foot, with the marks on their right
    slot     the left and the upper edge, in inches, of a place among the panels: they stand there, above the marks
    """
    width, height = figure.get_size_inches()
    room_in = width - text_in(*marks) - KEY_IN
    left_in = slot[0] if slot else max(LEFT_IN, min(left_in, room_in - BAR_PART * width))
    wide_in = width - left_in - 2 * RIGHT_IN if slot else min(BAR_PART * width, room_in - left_in)
    above_in = slot[1] - THICK_IN if slot else ABOVE_IN
    axes = figure.add_axes((left_in / width, above_in / height, wide_in / width, THICK_IN / height))
    bar = figure.colorbar(colours, cax=axes, orientation="horizontal")
    low, high = colours.get_clim()
    most = wide_in / TICK_IN
    inner = MaxNLocator(int(most), steps=[1, 2, 5, 10]).tick_values(low, high)
    ticks = [low, *(tick for tick in inner if min(tick - low, high - tick) >= (high - low) / most), high]
    bar.set_ticks(ticks, labels=[number_text(tick) for tick in ticks])
    bar.outline.set_visible(False)
    bar.set_label(label)
    axes.tick_params(length=2)
    handles = [Patch(label=words, **look) for words, look in marks.items()]
    look: Any = {"frameon": False, "borderaxespad": 0, "borderpad": 0, "handlelength": 1.6, "handleheight": 1}
    at = (left_in, above_in - ABOVE_IN - MARK_IN) if slot else (width - RIGHT_IN, foot_key_in(marks) - MARK_IN / 2)
    look |= {"loc": "upper left" if slot else "upper right", "bbox_to_anchor": (at[0] / width, at[1] / height)}
    figure.legend(handles=handles, **look)


def marks_of(cells: pandas.DataFrame, is_sparse: bool) -> dict[str, Any]:
    """What the marks of some cells mean, with their looks.

    cells      a row for each, as draw_cells() takes them
    is_sparse  whether some places have none
    """
    blank = {*cells.loc[cells["shown"].isna(), "status"]}
    marks: dict[str, Any] = {"the fastest": FASTEST}
    marks |= {"its ties": TIED} if (cells["is_outlined"] & ~cells["is_fastest"]).any() else {}
    marks |= {status_key(sorted(blank - {"ok"})): {"hatch": "/////", **HATCHED}} if blank - {"ok"} else {}
    marks |= {f"{NO_VALUE} not known": HATCHED} if "ok" in blank else {}
    return marks | ({"not in the sweep": {"color": palette.NOT_SWEPT}} if is_sparse else {})
