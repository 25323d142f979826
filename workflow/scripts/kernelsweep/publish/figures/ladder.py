"""The ladder: each step's speedup over the first at the reference point, beside published ones.

The steps of a study with axes of its own are its kernels, each at its fastest configuration. The axis is logarithmic,
and the speedup, since times of another device, and perhaps of another size, have no common axis with ours.
"""

from __future__ import annotations

import itertools
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, empty_drawing, is_narrow
from kernelsweep.publish.drawing.rows import add_legend, legend_in, row_panel
from kernelsweep.publish.drawing.series import scale_log
from kernelsweep.publish.figures.ladder_rows import ladder_of
from kernelsweep.publish.figures.ladder_words import texts_of
from kernelsweep.publish.swept_axes import kernel_colours, no_times
from kernelsweep.publish.tables.study_table import KERNEL_ROW, LIMIT_ROW, RIVAL_ROW

DOT_PT, OF_RIVALS = 4.6, "library; dashed: the fastest measured"
# Of more kernels, colours are told apart no longer, and say the kind of row alone.
MOST_COLOURS = 13
# The marks of rows by their kind, with their words and that colour.
MARKS = {
    KERNEL_ROW: ("o", "kernel", palette.BLUE),
    RIVAL_ROW: ("s", OF_RIVALS, palette.INK),
    LIMIT_ROW: ("P", "limit", palette.GREY),
}
# Published numbers' marks, by source: hollow, and wide enough to be seen around a dot.
HOLLOW_PT, HOLLOW = 6.0, "D^sv"


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Drawing:
    """A row for each step, with a line from the first; a group for each kind of work. Steps without a time say why."""
    ladder = ladder_of(data)
    if not ladder.has_times and not ladder.published:
        return empty_drawing(width, *texts_of(ladder), no_times(data))
    kinds = [kind for kind in MARKS if (ladder.table["kind"] == kind).any()] if ladder.has_times else []
    words = [MARKS[kind][1] for kind in kinds]
    if ladder.published and kinds:
        words[0] = data.device["name"]
    words += [f"published: {column.origin}" for column in ladder.published]
    above_in = legend_in(width, words) if len(words) > 1 or ladder.published else 0.05
    colour = palette.INK if ladder.has_times else palette.GREY
    narrow = is_narrow(width)
    of_rows = ladder.names(narrow), [*ladder.table["group"]], ladder.values(narrow)
    figure, axes, places = row_panel(width, *of_rows, above_in, colour)
    rows = ladder.table.assign(place=places)
    is_many = rows["kernel"].nunique() > MOST_COLOURS
    if ladder.has_times:
        of_kinds = rows["kind"].map({kind: colour for kind, (_, _, colour) in MARKS.items()})
        _draw_dots(axes, rows, of_kinds if is_many else rows["kernel"].map(kernel_colours(data)))
    look: Any = {"ls": "", "ms": DOT_PT}
    handles = [
        Line2D([], [], marker=MARKS[kind][0], color=MARKS[kind][2] if is_many else palette.INK, **look)
        for kind in kinds
    ]
    for column, marker in zip(ladder.published, itertools.cycle(HOLLOW)):
        look = {"ls": "", "marker": marker, "ms": HOLLOW_PT, "mfc": "none", "mec": palette.GREY, "mew": 0.9}
        handles += axes.plot(rows[column.name], places, **look)
    for _, of_group in rows.groupby("group"):
        ends = (of_group["place"].min() - style.LINE_IN, of_group["place"].max() + style.LINE_IN)
        if (best := of_group.loc[of_group["kind"] == RIVAL_ROW, "shown"].max()) == best:
            axes.vlines(best, *ends, color=palette.GREY, linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
    scale_log(axes)
    axes.set_xlabel(ladder.label, loc="right" if is_narrow(width) else "center")
    axes.set_ylabel("")
    if len(words) > 1 or ladder.published:
        add_legend(axes, handles, words)
    return Drawing(figure, *texts_of(ladder), rows=rows.drop(columns=["place", "name"]))


def _draw_dots(axes: Axes, rows: pandas.DataFrame, colours: pandas.Series[str]) -> None:
    """A dot for each row with a time, hollow where its behaviour is undefined, and a line to it from the first."""
    timed = rows[rows["shown"].notna()]
    first = timed["shown"].head(1).sum()
    axes.hlines(timed["place"], first, timed["shown"], color=palette.LEADER_GREY, linewidth=0.9, zorder=1)
    colours = colours[timed.index]
    axes.hlines(timed["place"], timed["low"], timed["high"], color=colours, linewidth=1.0)
    timed = timed.assign(edge=colours, face=colours.mask(timed["is_undefined"], palette.WHITE))
    for kind, some in timed.groupby("kind", sort=False):
        look: Any = {"marker": MARKS[str(kind)][0], "s": DOT_PT**2, "linewidths": 0.9, "zorder": 3}
        axes.scatter(some["shown"], some["place"], c=some["face"], edgecolors=[*some["edge"]], **look)
