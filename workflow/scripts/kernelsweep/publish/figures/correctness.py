"""How many of each kernel's points gave the right result, by array size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import one_study
from kernelsweep.analysis.words import STATUS_LETTERS, device_text, list_texts, size_text, status_key
from kernelsweep.drawing import style
from kernelsweep.drawing.heatmap import hatch_cell, tidy

# A cell's height: what is above and below its text, and each line of it.
CELL_FRAME_IN, LINE_IN = 0.055, 0.13
# Below a kernel's name, where that stands above its cells.
NAME_BASE_IN = 0.03
# Beside a cell's text, and for the gap between the kernels' names and the cells.
CELL_PADDING_PT = 4.0
# The axis and its label.
FRAME_IN = 0.38
EMPTY_BODY_IN = 1.2
# What a cell counts over, where the sweep has several, by column.
AXIS_WORDS = {
    "block_size": "block sizes",
    "unroll": "unroll factors",
    "dtype": "element types",
    "operation": "operations",
    "cache": "cache states",
    "width": "group widths",
    "arguments": "arguments",
}
# Why points were skipped, as far as a caption can hold it.
MOST_REASONS = 2

# Fill and text; light fills, so that black text stays legible and the two differ in grey as well.
ALL_RIGHT, SOME_RIGHT, NONE_RIGHT = ("#cfe6f5", style.BLACK), (style.ORANGE, style.BLACK), ("#8c2d04", "white")


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A row a kernel, a column an array size; cells say `right/tried` and what became of the rest.

    Skipped points are left out of the count and shown apart; sizes outside a kernel's sweep stay blank.
    """
    del published
    rows = one_study(measurements)
    caption = _caption(rows, device)
    if rows.empty:
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "Nothing checked.", caption)
        style.say_missing(figure.subplots(), "No points in this sweep.")
        return figure
    kernels = [str(kernel["name"]) for kernel in study["kernels"]]
    sizes = sorted(rows["array_size"].unique())
    counts = rows.groupby(["kernel", "array_size"])["status"].value_counts().unstack(fill_value=0)
    narrow = style.is_narrow(width_in)
    # In one column the names stand above the cells.
    names_pt = 0.0 if narrow else max(style.text_width_pt(kernel, style.TEXT_PT) for kernel in kernels)
    name_in = LINE_IN if narrow else 0.0
    cell_pt = (width_in * style.POINTS_PER_INCH - names_pt) / len(sizes) - CELL_PADDING_PT
    lines = {(kernel, size): _lines(counts.loc[(kernel, size)], cell_pt) for kernel, size in counts.index}
    heights_in = [
        name_in + CELL_FRAME_IN + LINE_IN * max((len(lines[cell]) for cell in lines if cell[0] == kernel), default=1)
        for kernel in kernels
    ]
    tops_in = [sum(heights_in[:row]) for row in range(len(kernels))]
    figure = style.new_figure(
        width_in,
        FRAME_IN + sum(heights_in),
        study["title"],
        _message(rows),
        caption,
        with_legend=2 if narrow else 1,
    )
    axes = figure.subplots()
    for kernel, top_in, height_in in zip(kernels, tops_in, heights_in, strict=True):
        for column, size in enumerate(sizes):
            if (kernel, size) in lines:
                of_cell = counts.loc[(kernel, size)]
                _cell(axes, column, top_in + name_in, height_in - name_in, of_cell, lines[kernel, size])
        if narrow:
            axes.text(0.05, top_in + name_in - NAME_BASE_IN, kernel, va="baseline")
    axes.set_xlim(0, len(sizes))
    axes.set_ylim(sum(heights_in), 0)
    axes.set_xticks([column + 0.5 for column in range(len(sizes))], [size_text(int(size)) for size in sizes])
    middles_in = [top_in + height_in / 2 for top_in, height_in in zip(tops_in, heights_in, strict=True)]
    axes.set_yticks([] if narrow else middles_in, [] if narrow else kernels)
    axes.set_xlabel("array size (elements)")
    tidy(axes)
    _legend(figure, lines=2 if narrow else 1)
    return figure


def _right_and_run(counts: pandas.Series[int]) -> tuple[int, int]:
    return int(counts.get("ok", 0)), int(counts.sum() - counts.get("skipped", 0))


def _cell(
    axes: Axes, column: int, top_in: float, height_in: float, counts: pandas.Series[int], lines: Sequence[str]
) -> None:
    right, run = _right_and_run(counts)
    if run == 0:
        hatch_cell(axes, top_in, column, lines[0], height_in)
        return
    fill, colour = ALL_RIGHT if right == run else SOME_RIGHT if right else NONE_RIGHT
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
    """A cell's text: "18/20", then what became of the others, "2 W"; in more lines where they would not fit."""
    right, run = _right_and_run(counts)
    if run == 0:
        return [STATUS_LETTERS["skipped"]]
    share = f"{right}/{run}"
    lines = [share] if style.text_width_pt(share, style.TEXT_PT) <= width_pt else [f"{right}/", str(run)]
    remarks = [f"{counts[status]} {letter}" for status, letter in STATUS_LETTERS.items() if counts.get(status, 0)]
    if style.text_width_pt(" ".join(remarks), style.TEXT_PT) <= width_pt:
        remarks = [" ".join(remarks)] if remarks else []
    return lines + remarks


def _legend(figure: Figure, lines: int) -> None:
    handles = [
        Patch(facecolor=ALL_RIGHT[0], label="all right"),
        Patch(facecolor=SOME_RIGHT[0], label="some right"),
        Patch(facecolor=NONE_RIGHT[0], label="none right"),
        Patch(facecolor=style.PALE_GREY, edgecolor="white", hatch="//////", label="all skipped"),
    ]
    style.legend_above(figure, handles, lines)


def _message(rows: pandas.DataFrame) -> str:
    right, skipped = (rows["status"] == "ok").sum(), (rows["status"] == "skipped").sum()
    run = len(rows) - skipped
    text = f"{'All' if right == run else f'{right:,} of'} {run:,} points tried gave the right result"
    return text + (f"; {skipped:,} were skipped." if skipped else ".")


def _caption(rows: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    swept = [words for column, words in AXIS_WORDS.items() if rows[column].nunique() > 1]
    # Most kernels' grids just follow from the array and block sizes.
    if (rows.groupby(["kernel", "array_size", "block_size", "unroll"])["grid_size"].nunique() > 1).any():
        swept.append("grid sizes")
    over = f", over all {list_texts(swept, most=len(swept))}" if swept else ""
    text = f"{device_text(device)}. Cells: points right/tried{over}; blank: not in the sweep."
    other = sorted(set(rows["status"]) - {"ok"})
    if other:
        text += f" {status_key(other)}."
    reasons = sorted(set(rows.loc[rows["status"] == "skipped", "message"]) - {""})
    if reasons:
        more = "; …" if len(reasons) > MOST_REASONS else "."
        text += f" Skipped: {'; '.join(reasons[:MOST_REASONS])}{more}"
    return text
