"""Heat maps: panels of annotated cells on one colour scale, and the marks for cells without a value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
import matplotlib.cm
import matplotlib.colors
import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelsweep.analysis.reference import shown_status, timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import STATUS_LETTERS, UNDEFINED_NOTE, device_text, reference_text, status_key
from kernelsweep.drawing import palette
from kernelsweep.drawing.layout import (
    MARGIN_PT,
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    new_figure,
    text_width_pt,
)

# The relative luminance at which black and white text have the same contrast, and how a colour's red, green and blue
# give it (WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
DARK_BELOW = 0.18
LUMINANCE = (0.2126, 0.7152, 0.0722)


# On a cell whose point is right and lacks the quantity that is shown, such as an energy.
NO_VALUE = "–"

MOST_PANELS_A_ROW = 3
CELL_IN = 0.19
# A panel's title and tick labels.
PANEL_FRAME_IN = 0.34
AXIS_LABEL_IN = 0.18
# The colour bar: its look, and the room that it takes beside or below the panels.
BAR: Any = {TWO_COLUMNS: {"aspect": 25}, ONE_COLUMN: {"aspect": 40, "location": "bottom"}}
BAR_BESIDE_PT = {TWO_COLUMNS: 54.0, ONE_COLUMN: 2 * MARGIN_PT}
BAR_BELOW_IN = {TWO_COLUMNS: 0.0, ONE_COLUMN: 0.42}
# The room beside a cell's number or a column's label, and beside a panel's row labels with their axis label.
CELL_PADDING_PT, LABELS_PADDING_PT = 4.0, 16.0
# A panel of one row still needs room for its y label.
LEAST_ROWS = 3


@dataclass(frozen=True)
class Shades:
    """How cells are coloured: by percentages from `low` to `high`, in colours on which black digits can be read.

    colours  matplotlib's name of a colour map, and the part of it that is used
    """

    label: str
    low: float
    high: float
    colours: tuple[str, float, float]

    @property
    def map(self) -> matplotlib.colors.Colormap:
        """The colours."""
        name, first, last = self.colours
        chosen = matplotlib.colormaps[name](numpy.linspace(first, last, 256))
        return matplotlib.colors.ListedColormap(chosen)

    @property
    def scale(self) -> matplotlib.cm.ScalarMappable:
        """Percentages to colours; those beyond an end have the end's."""
        return matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(self.low, self.high, clip=True), self.map)


# Below half of the best, no difference matters.
OF_THE_BEST = Shades("% of the best", 50.0, 100.0, ("YlGnBu", 0.0, 0.55))


@dataclass(frozen=True)
class PanelAxis:
    """One side of a panel: columns of the rows that it shows, and the labels of their values in drawing order.

    With several columns, the values are tuples.
    """

    columns: Sequence[str]
    labels: Mapping[Any, str]
    title: str = ""

    @property
    def values(self) -> Any:
        """The values as an index."""
        values = list(self.labels)
        return pandas.MultiIndex.from_tuples(values, names=list(self.columns)) if len(self.columns) > 1 else values

    def place(self, row: Any) -> int | None:
        """The place of a row's value along this side, None if it isn't there."""
        values = tuple(row[column] for column in self.columns)
        value = values if len(values) > 1 else values[0]
        return list(self.labels).index(value) if value in self.labels else None


@dataclass(frozen=True)
class Panel:
    """One heat map.

    values        rows by columns, NaN without one
    statuses      the same shape: what shown_status() says of a cell without a value, "" where it is not in the sweep
    down, across  the side of its rows and that of its columns
    shades        percentages by which cells are coloured; None: of the largest value of all panels
    outlined      the rows and columns of cells to outline, the best one first
    """

    title: str
    values: pandas.DataFrame
    statuses: pandas.DataFrame
    down: PanelAxis
    across: PanelAxis
    shades: pandas.DataFrame | None = None
    outlined: Sequence[tuple[int, int]] = ()

    @property
    def row_labels(self) -> list[str]:
        """The labels of its rows."""
        return list(self.down.labels.values())

    @property
    def column_labels(self) -> list[str]:
        """The labels of its columns."""
        return list(self.across.labels.values())


def as_panel(
    title: str,
    rows: pandas.DataFrame,
    down: PanelAxis,
    across: PanelAxis,
    best: Sequence[Any] = (),
    shown: str = "bandwidth_gbs",
    shaded: str | None = None,
) -> Panel:
    """The panel of `rows`, which hold one row for each cell.

    rows    with the columns `shown` (NaN for a row without a value to report) and status
    best    the indices of the rows to outline, the best one first
    shown   the column of the cells' values
    shaded  the column of the percentages by which cells are coloured
    """
    cells = rows.assign(status=shown_status(rows)).set_index([*down.columns, *across.columns])
    values = cells[shown].unstack().reindex(index=down.values, columns=across.values)
    # A panel without any point has cells of numbers.
    statuses = cells["status"].unstack().reindex(index=down.values, columns=across.values).astype(object).fillna("")
    shades = cells[shaded].unstack().reindex(index=down.values, columns=across.values) if shaded else None
    outlined = [
        (row, column)
        for index in best
        if index in rows.index
        and (row := down.place(rows.loc[index])) is not None
        and (column := across.place(rows.loc[index])) is not None
    ]
    return Panel(title, values, statuses, down, across, shades, outlined)


def bandwidths(rows: pandas.DataFrame, device: Mapping[str, Any]) -> pandas.DataFrame:
    """`rows` with the bandwidth of right points on a device with times, and NaN elsewhere."""
    return rows.assign(bandwidth_gbs=timed(rows, device)["bandwidth_gbs"])


def bandwidth_caption(
    data: StudyData, rows: pandas.DataFrame, free: Sequence[str], cells: str, grids: str = "", further: str = ""
) -> str:
    """The caption of a figure of heat maps of bandwidth.

    rows     the rows that are drawn; they differ from the reference point in the axes `free`
    cells    what its cells show besides the bandwidth
    grids    steps.grids_text(), if each panel is a step
    further  sentences of its own, each after a blank
    """
    text = (
        f"{device_text(data.device)}. Reference point: {reference_text(data.settings, free=free)}.{grids}"
        f" Cells: bandwidth in GB/s, {cells}; blank: not in the sweep.{further}"
    )
    failed = sorted(set(shown_status(rows)) - {"ok"})
    if data.has_times and failed:
        text += f" Hatched: {status_key(failed)}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text


def bandwidth_figure(
    frame: Frame, panels: Sequence[Panel], column_axis: str, reason: str, shades: Shades = OF_THE_BEST
) -> Figure:
    """A figure of heat maps on one colour scale; without any value, `reason`.

    Panels stand in a grid with as many in a row as their labels allow; all cells are of one width. A panel that has
    the row labels of the one on its left shows none.
    """
    if all(panel.values.isna().all(axis=None) for panel in panels):
        return empty_figure(replace(frame, message="No bandwidth to draw."), reason)
    width = frame.width
    columns, lengths = _columns(panels, width)
    heights = _row_lengths(panels, columns)
    body_in = sum(PANEL_FRAME_IN + CELL_IN * length for length in heights) + AXIS_LABEL_IN + BAR_BELOW_IN[width]
    figure = new_figure(frame, body_in)
    grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights, width_ratios=lengths)
    largest = float(numpy.nanmax([panel.values.max().max() for panel in panels]))
    for index, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        _draw_cells(axes, panel, largest, shades)
        axes.set_xlim(0, lengths[index % columns])
        _label_panel(axes, panel, repeats_labels=_repeats_labels(panels, index, columns))
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for column in range(columns):
        lowest = max(index for index in range(len(panels)) if index % columns == column)
        share = len(panels[lowest].column_labels) / lengths[column]
        grid.flat[lowest].set_xlabel(column_axis, x=share / 2)
    _draw_colour_bar(figure, grid, shades, width)
    return figure


def _label_panel(axes: Axes, panel: Panel, repeats_labels: bool) -> None:
    axes.set_title(panel.title, loc="left", pad=3)
    if repeats_labels:
        axes.set_yticks([])
        axes.set_ylabel("")
    else:
        axes.set_yticks([row + 0.5 for row in range(len(panel.row_labels))], panel.row_labels, va="center")
        axes.set_ylabel(panel.down.title)
    axes.set_xticks([column + 0.5 for column in range(len(panel.column_labels))], panel.column_labels)


def _draw_colour_bar(figure: Figure, grid: Any, shades: Shades, width: Width) -> None:
    """The scale of the cells' colours."""
    bar = figure.colorbar(shades.scale, ax=grid, pad=0.02, fraction=0.04, **BAR[width])
    bar.set_label(shades.label)
    bar.outline.set_visible(False)


def _row_lengths(panels: Sequence[Panel], columns: int) -> list[int]:
    """How many cells high each row of panels is."""
    return [
        max(LEAST_ROWS, *(len(panel.row_labels) for panel in panels[start : start + columns]))
        for start in range(0, len(panels), columns)
    ]


def _columns(panels: Sequence[Panel], width: Width) -> tuple[int, list[int]]:
    """How many panels stand side by side, and how many cells wide each column of panels is."""
    room_pt = width.points - BAR_BESIDE_PT[width]
    largest = max(panel.values.max().max() for panel in panels)
    cell_texts = ["0000", f"{largest:.0f}", *(label for panel in panels for label in panel.column_labels)]
    cell_pt = max(text_width_pt(text) for text in cell_texts) + CELL_PADDING_PT
    labels_pt = [max(text_width_pt(label) for label in panel.row_labels) for panel in panels]
    for most in range(min(len(panels), MOST_PANELS_A_ROW), 0, -1):
        # Four panels stand two by two rather than three and one.
        columns = math.ceil(len(panels) / math.ceil(len(panels) / most))
        lengths = [max(len(panel.column_labels) for panel in panels[start::columns]) for start in range(columns)]
        shown_pt = [0.0 if _repeats_labels(panels, index, columns) else pt for index, pt in enumerate(labels_pt)]
        beside_pt = sum(max(shown_pt[start::columns]) + LABELS_PADDING_PT for start in range(columns))
        if columns == 1 or sum(lengths) * cell_pt + beside_pt <= room_pt:
            break
    return columns, lengths


def _repeats_labels(panels: Sequence[Panel], index: int, columns: int) -> bool:
    """Whether a panel's row labels equal the labels of the panel on its left."""
    return index % columns > 0 and panels[index].row_labels == panels[index - 1].row_labels


def _draw_cells(axes: Axes, panel: Panel, largest: float, shades: Shades) -> None:
    """A panel's cells: coloured and annotated, hatched with a status's letter, or blank."""
    values = panel.values.astype(float)
    numbers = values.to_numpy()
    shares = 100 * values / largest if panel.shades is None else panel.shades.astype(float)
    seaborn.heatmap(
        shares,
        annot=values,
        fmt=".0f",
        annot_kws={"color": palette.BLACK, "va": "center_baseline"},
        cmap=shades.map,
        vmin=shades.low,
        vmax=shades.high,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
        xticklabels=False,
        yticklabels=False,
        ax=axes,
    )
    axes.set(xlabel="", ylabel="")
    words = panel.statuses.to_numpy(str)
    for row, column in numpy.argwhere(numpy.isnan(numbers) & (words != "")):
        hatch_cell(axes, int(row), int(column), STATUS_LETTERS.get(words[row, column], NO_VALUE))
    for row, column in panel.outlined:
        outline = Rectangle((column, row), 1, 1, fill=False, edgecolor=palette.VERMILLION, linewidth=0.9, zorder=4)
        outline.set_clip_on(False)
        axes.add_patch(outline)
    tidy(axes)


def text_colour(background: Any) -> str:
    """Black or white, whichever is better read on a cell of that colour."""
    channels = numpy.array(matplotlib.colors.to_rgb(background))
    linear = numpy.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ LUMINANCE < DARK_BELOW else palette.BLACK


def hatch_cell(axes: Axes, row: float, column: int, text: str, height: float = 1.0) -> None:
    """A hatched grey cell with `text` in its middle, from (`column`, `row`) on, one wide and `height` tall."""
    axes.add_patch(
        Rectangle(
            (column, row),
            1,
            height,
            facecolor=palette.PALE_GREY,
            edgecolor="white",
            hatch="/////",
            linewidth=0.5,
            zorder=2,
        )
    )
    _text_on_cell(axes, column + 0.5, row + height / 2, text, weight="bold", zorder=3)


def _text_on_cell(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, ha="center", va="center_baseline", color=palette.BLACK, **look)


def tidy(axes: Axes) -> None:
    """No tick marks, no spines, level labels."""
    axes.tick_params(length=0)
    axes.tick_params(axis="x", rotation=0)
    axes.tick_params(axis="y", rotation=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
