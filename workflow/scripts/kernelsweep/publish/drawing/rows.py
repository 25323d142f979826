"""A panel of named rows, the first on top: what the ladder and marks without lines stand on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import ceil
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import Margins, panels, size_in
from kernelsweep.publish.tables.formats import broken

# The height of a row beyond its text, that of a group's name, that below the axis, the room beside the panel and beside
# values, and the letters of a name per inch of the figure's width.
BESIDE_IN, HEAD_IN, FOOT_IN, GAP_IN, EDGE_IN, NAME_LETTERS_AN_INCH = 0.05, 0.19, 0.36, 0.1, 0.02, 8
# The room of a legend's mark.
MARK_IN = 0.4


def row_panel(
    width: float,
    names: Sequence[str],
    groups: Sequence[str],
    values: Sequence[str],
    above_in: float,
    colour: str = palette.INK,
    least_in: float = 0.0,
) -> tuple[Figure, Axes, list[float]]:
    """A figure with one panel, and the place of each row on its y axis.

    width     of the figure; this, and `above_in`, the room above the panel, are inches
    names     of rows, on the left
    groups    to which rows belong, each with its rows together; if there are several, their names stand above them
    values    of rows in words, on the right, in a colour
    least_in  the least height of a row
    """
    letters = int(NAME_LETTERS_AN_INCH * width)
    names = ["\n".join(part for line in name.split("\n") for part in broken(line, letters)) for name in names]
    # Rows stand at inches from the top, each as high as its texts.
    heads = [len({*groups}) > 1 and group not in groups[:number] for number, group in enumerate(groups)]
    lines = [1 + max(text.count("\n") for text in texts) for texts in zip(names, values, strict=True)]
    rows_in = [max(style.LINE_IN * count + BESIDE_IN, least_in) for count in lines]
    ends_in = [*itertools.accumulate(high + HEAD_IN * head for high, head in zip(rows_in, heads, strict=True))]
    places = [end - high / 2 for end, high in zip(ends_in, rows_in, strict=True)]
    margins = Margins(style.text_in(*names) + GAP_IN, style.text_in(*values) + GAP_IN, FOOT_IN, above_in)
    figure, (axes,) = panels(width, ends_in[-1] + margins.bottom + margins.top, 1, 1, margins)
    axes.set_ylim(ends_in[-1], 0)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    at: Any = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
    right = 1 + (margins.right - EDGE_IN) / size_in(axes)[0]
    for place, high, head, group, value in zip(places, rows_in, heads, groups, values, strict=True):
        axes.text(right, place, value, color=colour, **at)
        edge = (EDGE_IN - margins.left) / size_in(axes)[0]
        look = at | {"ha": "left", "bbox": {"facecolor": palette.WHITE, "linewidth": 0, "pad": 0.5}}
        axes.text(edge, place - high / 2 - 0.4 * HEAD_IN, group * head, weight="bold", **look)
    return figure, axes, places


def _columns(width: float, words: Sequence[str]) -> int:
    """How many words of a legend stand side by side."""
    fitting = [
        columns
        for columns in range(len(words), 1, -1)
        if sum(style.text_in(*words[column::columns]) + MARK_IN for column in range(columns)) < width
    ]
    # As few rows as fit, of as many words as each other.
    return min(fitting, key=lambda columns: (ceil(len(words) / columns), columns), default=1)


def legend_in(width: float, words: Sequence[str]) -> float:
    """The height of a legend above a figure's panel, in inches."""
    return style.LINE_IN * ceil(len(words) / _columns(width, words)) + GAP_IN


def add_legend(
    axes: Axes, handles: Sequence[Any], words: Sequence[str], title: str = "", above_in: float = 0.0
) -> None:
    """A legend at a figure's upper left, which is read along its rows; one with `above_in` is below another."""
    columns = _columns(axes.figure.bbox.width / axes.figure.dpi, words)
    order = [number for column in range(columns) for number in range(column, len(words), columns)]
    look: Any = {"loc": "upper left", "bbox_transform": axes.figure.transFigure}
    look["bbox_to_anchor"] = (0, 1 - above_in * axes.figure.dpi / axes.figure.bbox.height)
    if above_in and (other := axes.get_legend()):
        axes.add_artist(other)
    look |= {"frameon": False, "borderpad": 0.2, "handlelength": 1, "labelspacing": 0.2, "handletextpad": 0.4}
    look |= {"ncols": columns, "title": title, "alignment": "left"}
    axes.legend([handles[number] for number in order], [words[number] for number in order], **look)
