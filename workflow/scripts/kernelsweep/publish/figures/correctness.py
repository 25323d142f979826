"""The number of each kernel's points that gave the right result, by the size of the problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from kernelsweep.analysis.places import size_axes, varied
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import STATUS_LETTERS, axis_value, device_text, list_texts, status_key
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import hatch_cell, tidy
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    legend_above,
    new_figure,
    text_width_pt,
)
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.results import ALL_POINT_COLUMNS

FIGURE = Declaration(
    title="Points right, by kernel and size",
    purpose="points that were right, by kernel and size",
)
# A cell's height: its frame, and each line of text.
CELL_FRAME_IN, LINE_IN = 0.055, 0.13
# A kernel's name above its cells, and the room below it; 0 where names stand beside the cells.
NAME_IN = {TWO_COLUMNS: 0.0, ONE_COLUMN: LINE_IN}
NAME_BASE_IN = 0.03
LEGEND_LINES = {TWO_COLUMNS: 1, ONE_COLUMN: 2}
# Beside a cell's text, and for the gap between the kernels' names and the cells.
CELL_PADDING_PT = 4.0
# The axis and its label.
FRAME_IN = 0.38
# The axes over which a cell counts, where the sweep has several values of one, by column.
AXIS_WORDS = {
    "block_size": "block sizes",
    "unroll": "unroll factors",
    "dtype": "element types",
    "operation": "operations",
    "cache": "cache states",
    "width": "group widths",
    "arguments": "arguments",
}
# The most columns that a second axis of the problem's size may lead to.
MOST_COLUMNS = {TWO_COLUMNS: 14, ONE_COLUMN: 8}
# A caption has room for this many reasons why points were skipped.
MOST_REASONS = 2

# Fill and text; light fills, so that black text stays legible and the two differ in grey as well.
ALL_RIGHT, SOME_RIGHT, NONE_RIGHT = ("#cfe6f5", palette.BLACK), ("#e69f00", palette.BLACK), ("#8c2d04", "white")


@dataclass(frozen=True)
class _Cells:
    """The cells of a figure.

    sizes    the columns' labels: the problem's size, the values of several axes one above the other
    title    what the labels are
    counts   points by status: a row for each (kernel, column), a column for each status
    lines    a cell's text, by (kernel, column)
    name_in  the height of a kernel's name above its cells; 0 where it stands beside them
    """

    kernels: Sequence[str]
    sizes: Sequence[str]
    title: str
    counts: pandas.DataFrame
    lines: Mapping[tuple[str, int], Sequence[str]]
    name_in: float

    @property
    def heights_in(self) -> list[float]:
        """The height of each kernel's row."""
        return [
            self.name_in
            + CELL_FRAME_IN
            + LINE_IN * max((len(lines) for (of, _), lines in self.lines.items() if of == kernel), default=1)
            for kernel in self.kernels
        ]


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each kernel, a column for each size of the problem; cells say `right/tried`, and what the rest is.

    Skipped points are left out of the count and shown apart; sizes outside a kernel's sweep stay blank.
    """
    rows = data.kernel_rows
    axes = _column_axes(data, rows, width)
    title = FIGURE.heading(data.title)
    if rows.empty:
        caption = _caption(data, rows, axes, [])
        return empty_figure(Frame(width, title, "Nothing checked.", caption), "No points in this sweep.")
    cells = _cells(data, rows, axes, width)
    written = [line for lines in cells.lines.values() for line in lines]
    frame = Frame(width, title, _message(rows), _caption(data, rows, axes, written))
    figure = new_figure(
        frame, FRAME_IN + LINE_IN * max(len(axes) - 1, 0) + sum(cells.heights_in), with_legend=LEGEND_LINES[width]
    )
    _draw_rows(figure.subplots(), cells)
    _legend(figure, cells, LEGEND_LINES[width])
    return figure


def _column_axes(data: StudyData, rows: pandas.DataFrame, width: Width) -> list[str]:
    """The axes of the problem's size that have a column for each combination of values, as many as have room."""
    sizes = size_axes(data.settings)
    chosen: list[str] = []
    for axis in varied(rows, sizes) or sizes[:1]:
        if not chosen or len(rows[[*chosen, axis]].drop_duplicates()) <= MOST_COLUMNS[width]:
            chosen.append(axis)
    return chosen


def _cells(data: StudyData, rows: pandas.DataFrame, axes: Sequence[str], width: Width) -> _Cells:
    kernels = data.kernel_names
    # Without an axis, all points stand in one column.
    numbers = rows.groupby(list(axes)).ngroup() if axes else pandas.Series(0, index=rows.index)
    places = rows[list(axes)].drop_duplicates().sort_values(list(axes)).itertuples(index=False) if axes else [()]
    labels = ["\n".join(axis_value(*named) for named in zip(axes, place, strict=True)) for place in places]
    counts = rows["status"].groupby([rows["kernel"], numbers]).value_counts().unstack(fill_value=0)
    names_pt = 0.0 if NAME_IN[width] else max(text_width_pt(kernel) for kernel in kernels)
    cell_pt = (width.points - names_pt) / len(labels) - CELL_PADDING_PT
    lines = {(kernel, column): _lines(counts.loc[(kernel, column)], cell_pt) for kernel, column in counts.index}
    title = "array size (elements)" if axes == ["array_size"] else ", ".join(axes)
    return _Cells(kernels, labels, title + (" (from above)" if len(axes) > 1 else ""), counts, lines, NAME_IN[width])


def _draw_rows(axes: Axes, cells: _Cells) -> None:
    """The kernels' rows from the top down, in inches, one cell wide a unit across."""
    top_in = 0.0
    middles_in = []
    for kernel, height_in in zip(cells.kernels, cells.heights_in, strict=True):
        for column in range(len(cells.sizes)):
            if (kernel, column) in cells.lines:
                of_cell: Any = cells.counts.loc[(kernel, column)]
                place = (column, top_in + cells.name_in)
                _draw_cell(axes, place, height_in - cells.name_in, of_cell, cells.lines[kernel, column])
        if cells.name_in:
            axes.text(0.05, top_in + cells.name_in - NAME_BASE_IN, kernel, va="baseline")
        middles_in.append(top_in + height_in / 2)
        top_in += height_in
    axes.set_xlim(0, len(cells.sizes))
    axes.set_ylim(top_in, 0)
    columns = [column + 0.5 for column in range(len(cells.sizes))]
    axes.set_xticks(columns, cells.sizes)
    axes.set_yticks([] if cells.name_in else middles_in, [] if cells.name_in else cells.kernels)
    axes.set_xlabel(cells.title)
    tidy(axes)


def _right_and_run(counts: pandas.Series[int]) -> tuple[int, int]:
    return int(counts.get("ok", 0)), int(counts.sum() - counts.get("skipped", 0))


def _look(counts: pandas.Series[int]) -> tuple[str, str] | None:
    """A cell's colour and its text's; None where all points were skipped."""
    right, run = _right_and_run(counts)
    return (ALL_RIGHT if right == run else SOME_RIGHT if right else NONE_RIGHT) if run else None


def _draw_cell(
    axes: Axes, place: tuple[int, float], height_in: float, counts: pandas.Series[int], lines: Sequence[str]
) -> None:
    """A cell with its column and upper end at `place`."""
    column, top_in = place
    look = _look(counts)
    if look is None:
        hatch_cell(axes, top_in, column, lines[0], height_in)
        return
    fill, colour = look
    axes.add_patch(Rectangle((column, top_in), 1, height_in, facecolor=fill, edgecolor="white", linewidth=1.0))
    axes.text(
        column + 0.5,
        top_in + height_in / 2,
        "\n".join(lines),
        ha="center",
        va="center",
        color=colour,
        linespacing=1.1,
    )


def _lines(counts: pandas.Series[int], width_pt: float) -> list[str]:
    """A cell's text: "18/20", then the statuses of the others, in words where these have room, else "2 W"."""
    right, run = _right_and_run(counts)
    if run == 0:
        return [STATUS_LETTERS["skipped"]]
    share = f"{right}/{run}"
    lines = [share] if text_width_pt(share) <= width_pt else [f"{right}/", str(run)]
    found = [(int(counts[status]), status) for status in STATUS_LETTERS if counts.get(status, 0)]
    in_words = [f"{count} {status.replace('_', ' ')}" for count, status in found]
    if max(map(text_width_pt, in_words), default=0.0) <= width_pt:
        return lines + in_words
    remarks = [f"{count} {STATUS_LETTERS[status]}" for count, status in found]
    if text_width_pt(" ".join(remarks)) <= width_pt:
        remarks = [" ".join(remarks)] if remarks else []
    return lines + remarks


def _legend(figure: Figure, cells: _Cells, lines: int) -> None:
    """The looks that cells have."""
    handles = {
        ALL_RIGHT: Patch(facecolor=ALL_RIGHT[0], label="all right"),
        SOME_RIGHT: Patch(facecolor=SOME_RIGHT[0], label="some right"),
        NONE_RIGHT: Patch(facecolor=NONE_RIGHT[0], label="none right"),
        None: Patch(facecolor=palette.PALE_GREY, edgecolor="white", hatch="//////", label="all skipped"),
    }
    drawn = {_look(counts) for _, counts in cells.counts.iterrows()}
    legend_above(figure, [handle for look, handle in handles.items() if look in drawn], lines)


def _message(rows: pandas.DataFrame) -> str:
    right, skipped = (rows["status"] == "ok").sum(), (rows["status"] == "skipped").sum()
    run = len(rows) - skipped
    text = f"{'All' if right == run else f'{right:,} of'} {run:,} points tried gave the right result"
    return text + (f"; {skipped:,} were skipped." if skipped else ".")


def _caption(data: StudyData, rows: pandas.DataFrame, columns: Sequence[str], written: Sequence[str]) -> str:
    axes = problem_of(data.settings["problem"]).axes
    has_words = set(axes) <= set(ALL_POINT_COLUMNS)
    ordered = [axis for axis in AXIS_WORDS if axis in axes] if has_words else list(axes)
    swept = [AXIS_WORDS[axis] if has_words else axis for axis in varied(rows, ordered) if axis not in columns]
    # Most kernels' grids just follow from the array and block sizes.
    of_grids = rows.groupby(["kernel", "array_size", "block_size", "unroll"])["grid_size"].nunique()
    if "grid_size" in axes and (of_grids > 1).any():
        swept.append("grid sizes")
    over = f", over all {list_texts(swept, most=len(swept))}" if swept else ""
    text = f"{device_text(data.device)}. Cells: points right/tried{over}; blank: not in the sweep."
    words = {word for line in written for word in line.split()}
    if lettered := [status for status, letter in STATUS_LETTERS.items() if letter in words]:
        text += f" {status_key(lettered)}."
    reasons = sorted(set(rows.loc[rows["status"] == "skipped", "message"]) - {""})
    if reasons:
        more = f"; and for {len(reasons) - MOST_REASONS} more reasons" if len(reasons) > MOST_REASONS else ""
        text += f" Skipped: {'; '.join(reasons[:MOST_REASONS])}{more}."
    return text
