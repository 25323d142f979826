"""The number of each kernel's points that gave the right result, by the size of the problem."""

from __future__ import annotations

from collections.abc import Sequence

import pandas
import seaborn
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kernelsweep.analysis.places import kernel_axes, place_axes, size_axes, varied
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import STATUS_LETTERS, axis_value, device_text, list_texts, status_key
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import tidy
from kernelsweep.drawing.layout import (
    MARGIN_PT,
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    add_legend,
    empty_figure,
    new_figure,
    text_width_pt,
)
from kernelsweep.publish.swept_axes import axis_text

FIGURE = Declaration(
    title="Points right, by kernel and size",
    purpose="points that were right, by kernel and size",
)
# A line of a cell's text, a cell's frame, and the axis with its label.
LINE_IN, CELL_FRAME_IN, FRAME_IN = 0.13, 0.055, 0.4
# The least width of a column, and the room of the kernels' names.
COLUMN_IN, NAMES_IN = 0.4, 1.3
# A caption has room for this many reasons why points were skipped.
MOST_REASONS = 2
# What a cell's colour means. Light fills, so that black text stays legible and the two differ in grey as well.
LOOKS = {"all right": "#cfe6f5", "some right": "#e69f00", "none right": "#8c2d04", "all skipped": palette.PALE_GREY}


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each kernel, a column for each size of the problem; cells say `right/tried`, and what the rest is.

    Skipped points are left out of the count and shown apart; sizes outside a kernel's sweep stay blank.
    """
    rows = data.kernel_rows
    axes = _column_axes(data, rows, width)
    heading, caption = FIGURE.heading(data.title), _caption(data, rows, axes)
    if rows.empty:
        return empty_figure(Frame(width, heading, "Nothing checked.", caption), "No points in this sweep.")
    counts = rows.groupby(["kernel", *axes])["status"].value_counts().unstack(fill_value=0)
    skipped = counts.get("skipped", 0)
    cells = pandas.DataFrame({"right": counts.get("ok", 0), "tried": counts.sum(axis=1) - skipped})
    texts = [_text(dict(of_cell)) for _, of_cell in counts.iterrows()]
    looks = [_look(right, tried) for right, tried in cells.itertuples(index=False)]
    cells = cells.assign(text=texts, look=[list(LOOKS).index(look) for look in looks])
    table, words = (cells[name].unstack([*axes]).sort_index(axis=1) for name in ("look", "text"))
    kernels = [kernel for kernel in data.kernel_names if kernel in table.index]
    table, words = table.reindex(kernels).astype(float), words.reindex(kernels).fillna("")
    lines, longest_pt = (
        max(text.count("\n") + 1 for text in texts),
        max(text_width_pt(line) for text in texts for line in text.split("\n")),
    )
    # In narrow columns, texts stand upright.
    is_upright = longest_pt * len(table.columns) > width.points - max(map(text_width_pt, kernels)) - MARGIN_PT
    cell_in = CELL_FRAME_IN + (longest_pt / POINTS_PER_INCH if is_upright else LINE_IN * lines)
    frame = Frame(width, heading, _message(rows), caption)
    body_in = FRAME_IN + LINE_IN * max(len(axes) - 1, 0) + len(kernels) * cell_in
    figure = new_figure(frame, body_in)
    drawn = seaborn.heatmap(
        table,
        annot=words,
        fmt="",
        annot_kws={"linespacing": 1.1, "rotation": 90 * is_upright},
        cmap=ListedColormap(list(LOOKS.values())),
        vmin=0,
        vmax=len(LOOKS) - 1,
        cbar=False,
        linewidths=1.0,
        linecolor="white",
        xticklabels=[
            "\n".join(map(axis_value, axes, place)) for place in table.columns.to_frame().itertuples(index=False)
        ],
        ax=figure.subplots(),
    )
    drawn.set(ylabel="", xlabel=", ".join(map(axis_text, axes)))
    tidy(drawn)
    drawn.tick_params(axis="x", rotation=90 * is_upright)
    handles = [Patch(facecolor=colour, label=look) for look, colour in LOOKS.items() if look in looks]
    add_legend(figure, handles, is_above=True)
    return figure


def _column_axes(data: StudyData, rows: pandas.DataFrame, width: Width) -> list[str]:
    """The axes of the problem's size that have a column for each combination of values, as many as have room."""
    sizes = size_axes(data.settings)
    most = int((width.inches - NAMES_IN) / COLUMN_IN)
    chosen: list[str] = []
    for axis in varied(rows, sizes) or sizes[:1]:
        if not chosen or len(rows[[*chosen, axis]].drop_duplicates()) <= most:
            chosen.append(axis)
    return chosen


def _look(right: int, tried: int) -> str:
    return ("all right" if right == tried else "some right" if right else "none right") if tried else "all skipped"


def _text(counts: dict[str, int]) -> str:
    """A cell's text: `18/20`, and below the letters of the others' statuses, such as `2 W`."""
    tried = sum(counts.values()) - counts.get("skipped", 0)
    if not tried:
        return STATUS_LETTERS["skipped"]
    others = [f"{counts[status]} {letter}" for status, letter in STATUS_LETTERS.items() if counts.get(status, 0)]
    return "\n".join([f"{counts.get('ok', 0)}/{tried}", *others])


def _message(rows: pandas.DataFrame) -> str:
    right, skipped = (rows["status"] == "ok").sum(), (rows["status"] == "skipped").sum()
    return f"{right:,} of {len(rows) - skipped:,} points tried gave the right result; {skipped:,} were skipped."


def _caption(data: StudyData, rows: pandas.DataFrame, columns: Sequence[str]) -> str:
    axes = [*kernel_axes(data.settings), *place_axes(data.settings)]
    over = [axis for axis in varied(rows, [axis for axis in axes if axis in rows]) if axis not in columns]
    text = f"{device_text(data.device)}. Cells: points right/tried"
    text += f", over all of {list_texts(over, most=len(over))}" if over else ""
    text += "; blank: not in the sweep."
    if lettered := sorted(set(rows["status"]) & set(STATUS_LETTERS)):
        text += f" {status_key(lettered)}."
    reasons = sorted(set(rows.loc[rows["status"] == "skipped", "message"]) - {""})
    return text + (f" Skipped: {list_texts(reasons, most=MOST_REASONS)}." if reasons else "")
