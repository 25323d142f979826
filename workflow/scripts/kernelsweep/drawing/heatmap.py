"""Heat maps: panels of annotated cells on one colour scale, and the marks for cells without a value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import matplotlib.cm
import matplotlib.colors
import numpy
import pandas
import seaborn  # type: ignore[import-untyped]
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from seaborn.utils import relative_luminance  # type: ignore[import-untyped]

from kernelsweep.analysis.words import STATUS_LETTERS
from kernelsweep.drawing import style

# The relative luminance at which black and white text have the same contrast (WCAG). Seaborn's own threshold, 0.408,
# sets white numbers on cells too light for them.
DARK_BELOW = 0.18
COLOURS = "cividis"

MOST_PANELS_A_ROW = 3
CELL_IN = 0.19
# A panel's title and tick labels.
PANEL_FRAME_IN = 0.34
AXIS_LABEL_IN = 0.18
# The colour bar's place in one column.
BAR_BELOW_IN, NARROW_BAR_TICKS = 0.42, 5
# Beside a cell's number or a column's label; beside a panel's row labels, with the axis label there; the colour bar.
CELL_PADDING_PT, LABELS_PADDING_PT, BAR_PT = 4.0, 16.0, 54.0
# A panel of one row still needs room for its y label.
LEAST_ROWS = 3


@dataclass(frozen=True)
class Panel:
    """One heat map.

    values         rows by columns, NaN where there is none
    statuses       the same shape: what became of a cell without a value, "" where it is not in the sweep
    row_labels, column_labels
    row_axis       the y axis's label, "" where the row labels say enough
    best           the row and column of a cell to outline
    """

    title: str
    values: pandas.DataFrame
    statuses: pandas.DataFrame
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    row_axis: str = ""
    best: tuple[int, int] | None = None


def as_panel(
    title: str,
    rows: pandas.DataFrame,
    down: Sequence[str],
    across: str,
    row_labels: Mapping[Any, str],
    column_labels: Mapping[Any, str],
    row_axis: str = "",
    best: Any = None,
) -> Panel:
    """The panel of `rows`, which hold one row a cell.

    rows       with the columns bandwidth_gbs (NaN for a row that has none to report) and status
    down       the columns whose values make a row of the panel; across is the one that makes a column
    row_labels, column_labels
               in the order in which they are drawn, by the values of `down` (a tuple where it is several) and `across`
    best       the index of the row to outline, where it is in the panel
    """
    index: Any = list(row_labels)
    if len(down) > 1:
        index = pandas.MultiIndex.from_tuples(index, names=list(down))
    cells = rows.set_index([*down, across])
    values = cells["bandwidth_gbs"].unstack().reindex(index=index, columns=list(column_labels))
    statuses = cells["status"].unstack().reindex(index=index, columns=list(column_labels)).fillna("")
    place = None
    if best in rows.index:
        keys = tuple(rows.loc[best, column] for column in down)
        row = keys if len(down) > 1 else keys[0]
        if row in row_labels:
            place = list(row_labels).index(row), list(column_labels).index(rows.loc[best, across])
    return Panel(title, values, statuses, list(row_labels.values()), list(column_labels.values()), row_axis, place)


def draw_panels(
    title: str, message: str, caption: str, panels: Sequence[Panel], column_axis: str, width_in: float
) -> Figure:
    """A figure of heat maps of bandwidth, on one colour scale from 0 to the largest; at least one cell has a value.

    Panels stand in a grid with as many in a row as their labels allow; all cells are of one width. A panel that has
    the row labels of the one on its left shows none.
    """
    narrow = style.is_narrow(width_in)
    columns, lengths = _columns(panels, width_in)
    grid_rows = math.ceil(len(panels) / columns)
    row_lengths = [
        max(LEAST_ROWS, *(len(panel.row_labels) for panel in panels[row * columns : (row + 1) * columns]))
        for row in range(grid_rows)
    ]
    body_in = sum(PANEL_FRAME_IN + CELL_IN * length for length in row_lengths) + AXIS_LABEL_IN
    body_in += BAR_BELOW_IN if narrow else 0.0
    figure = style.new_figure(width_in, body_in, title, message, caption)
    grid = figure.subplots(grid_rows, columns, squeeze=False, height_ratios=row_lengths, width_ratios=lengths)
    largest = float(numpy.nanmax([panel.values.max().max() for panel in panels]))
    for index, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        _draw_cells(axes, panel, largest)
        axes.set_xlim(0, lengths[index % columns])
        axes.set_title(panel.title, loc="left", pad=3)
        if _repeats_labels(panels, index, columns):
            axes.set_yticks([])
            axes.set_ylabel("")
        else:
            axes.set_yticks([row + 0.5 for row in range(len(panel.row_labels))], panel.row_labels)
            axes.set_ylabel(panel.row_axis)
        axes.set_xticks([column + 0.5 for column in range(len(panel.column_labels))], panel.column_labels)
        axes.set_xlabel("")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for column in range(columns):
        lowest = max(index for index in range(len(panels)) if index % columns == column)
        share = len(panels[lowest].column_labels) / lengths[column]
        grid.flat[lowest].set_xlabel(column_axis, x=share / 2)
    scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, largest), COLOURS)
    if narrow:
        bar = figure.colorbar(scale, ax=grid, location="bottom", aspect=40, pad=0.02, fraction=0.04)
        bar.locator = MaxNLocator(NARROW_BAR_TICKS)
    else:
        bar = figure.colorbar(scale, ax=grid, aspect=25, pad=0.02, fraction=0.04)
    bar.set_label("GB/s")
    bar.formatter = FuncFormatter(lambda value, _: f"{value:,.0f}")
    bar.outline.set_visible(False)
    return figure


def _columns(panels: Sequence[Panel], width_in: float) -> tuple[int, list[int]]:
    """How many panels stand side by side, and how many cells wide each column of panels is."""
    room_pt = width_in * style.POINTS_PER_INCH - (2 * style.MARGIN_PT if style.is_narrow(width_in) else BAR_PT)
    cell_texts = ["0000", *(label for panel in panels for label in panel.column_labels)]
    cell_pt = max(style.text_width_pt(text, style.TEXT_PT) for text in cell_texts) + CELL_PADDING_PT
    labels_pt = [max(style.text_width_pt(label, style.TEXT_PT) for label in panel.row_labels) for panel in panels]
    for columns in range(min(len(panels), MOST_PANELS_A_ROW), 0, -1):
        lengths = [max(len(panel.column_labels) for panel in panels[start::columns]) for start in range(columns)]
        shown_pt = [0.0 if _repeats_labels(panels, index, columns) else width for index, width in enumerate(labels_pt)]
        beside_pt = sum(max(shown_pt[start::columns]) + LABELS_PADDING_PT for start in range(columns))
        if columns == 1 or sum(lengths) * cell_pt + beside_pt <= room_pt:
            break
    return columns, lengths


def _repeats_labels(panels: Sequence[Panel], index: int, columns: int) -> bool:
    """Whether a panel's row labels are those of the panel on its left."""
    return index % columns > 0 and panels[index].row_labels == panels[index - 1].row_labels


def _draw_cells(axes: Axes, panel: Panel, largest: float) -> None:
    """A panel's cells: coloured and annotated, hatched with a status's letter, or blank."""
    seaborn.heatmap(
        panel.values,
        ax=axes,
        cmap=COLOURS,
        vmin=0.0,
        vmax=largest,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
    )
    colours = matplotlib.colormaps[COLOURS]
    numbers = panel.values.to_numpy(float)
    for row, column in numpy.argwhere(~numpy.isnan(numbers)):
        value = numbers[row, column]
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{value:.0f}",
            ha="center",
            va="center_baseline",
            color=text_colour(colours(value / largest)),
        )
    words = panel.statuses.to_numpy(str)
    for row, column in numpy.argwhere(numpy.isnan(numbers) & (words != "")):
        hatch_cell(axes, int(row), int(column), STATUS_LETTERS[words[row, column]])
    if panel.best is not None:
        row, column = panel.best
        outline = Rectangle((column, row), 1, 1, fill=False, edgecolor=style.VERMILLION, linewidth=1.6, zorder=4)
        outline.set_clip_on(False)
        axes.add_patch(outline)
    tidy(axes)


def text_colour(background: Any) -> str:
    """Black or white, whichever is better read on a cell of that colour."""
    return "white" if relative_luminance(background) < DARK_BELOW else style.BLACK


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
