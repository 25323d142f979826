"""What `lines` draws where no line joins values, such as sizes of 4098 × 4094: a row per kernel, a mark per value."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas
import seaborn
from matplotlib.figure import Figure

from kernelsweep.judge.data.study_data import shown_place
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.rows import EDGE_IN, GAP_IN, add_legend, legend_in, row_panel
from kernelsweep.publish.drawing.series import HOLLOW, end_text, scale
from kernelsweep.publish.swept import Swept
from kernelsweep.publish.swept_axes import KERNEL, line_colours, without_unit

# A mark's size, and how far the marks of a row are below each other.
MARK_PT, STEP_IN = 4.6, 0.055


def draw_rows(
    shown: Swept, rows: pandas.DataFrame, width: float, values: Mapping[Any, str], lines: Mapping[Any, str]
) -> tuple[Figure, str]:
    """The figure, with a group of rows per panel, and the caption's sentence on its marks.

    rows    with a number, of all panels, with the column `line`
    values  on the axis x in words, in order
    lines   in words, in order
    """
    x, panel = shown.axes[0], shown.panel
    # Kernels are rows, unless marks of so many values would look alike.
    is_row = x != KERNEL and len(lines) > 1 and len(values) <= max(len(style.MARKERS), len(lines))
    down, across = ("line", x) if is_row else (x, "line")
    title = "" if is_row or x == KERNEL else f"{without_unit(shown.axis_text(x))} "
    words: dict[str | None, Mapping[Any, str]] = {"line": lines, panel: shown.panels(rows, False)[0]}
    words[x] = {value: f"{title}{text}" for value, text in values.items()}
    of_rows = rows.assign(row=rows[down].map(words[down]), mark=rows[across].map(words[across]))
    of_rows["group"] = rows[panel].map(words[panel]) if panel else ""
    keys = [[*words[down].values()], [*words[panel].values()]]
    order = {"row": keys[0], "group": keys[1]}
    of_rows = of_rows.sort_values([*order][::-1], key=lambda column: column.map(order[str(column.name)].index))
    marks = [text for text in words[across].values() if text in {*of_rows["mark"]}]
    named = of_rows.drop_duplicates(["group", "row"])
    # The numbers beside rows are those of one mark: of the reference point, or the last.
    at = words[across].get(shown_place(shown.data).get(across), marks[-1])
    numbers = of_rows[of_rows["mark"] == at].set_index(["group", "row"])["shown"]
    numbered = [numbers.get((row["group"], row["row"])) for row in named.to_dict("records")]
    texts = ["" if number is None else end_text(number, shown.quantity) for number in numbered]
    above_in = legend_in(width, marks) + 2 * style.LINE_IN if len(marks) > 1 else GAP_IN
    of_panel = [*named["row"]], [*named["group"]], texts, above_in
    figure, axes, places = row_panel(width, *of_panel, least_in=STEP_IN * (len(marks) + 1))
    placed = of_rows.merge(named[["group", "row"]].assign(middle=places))
    # Marks of similar values would cover each other.
    steps = placed["mark"].map(marks.index) - (len(marks) - 1) / 2
    placed = placed.assign(place=placed["middle"] + STEP_IN * steps).sort_values("place")
    scale(axes, "x", rows["low"].min(), rows["high"].max(), shown.quantity)
    for _, of_row in placed.groupby("middle"):
        axes.plot(of_row["shown"], of_row["place"], color=palette.LEADER_GREY, linewidth=0.9, zorder=1)
    colours = line_colours(shown.data, x if is_row else shown.axes[-1], marks)
    axes.hlines(placed["place"], placed["low"], placed["high"], colors=[*placed["mark"].map(colours)], linewidth=1.0)
    look: Any = {"hue": "mark", "style": "mark", "hue_order": marks, "style_order": marks, "palette": colours}
    look |= {"markers": dict(zip(marks, cycle(style.MARKERS), strict=False)), "s": MARK_PT**2, "linewidth": 0.3}
    seaborn.scatterplot(placed, x="shown", y="place", ax=axes, **look, zorder=3, legend=len(marks) > 1)
    hollow = placed[placed["is_hollow"]]
    axes.scatter(hollow["shown"], hollow["place"], **HOLLOW)
    axes.set(xlabel=shown.label, ylabel="")
    if len(marks) == 1:
        return figure, "Marks: the best over all other axes, with 95% intervals."
    add_legend(axes, axes.get_legend_handles_labels()[0], marks, shown.axis_text(x) if across == x else "")
    right: Any = {"ha": "right", "va": "bottom", "transform": figure.transFigure}
    axes.text(1 - EDGE_IN / width, 1 - above_in / figure.get_figheight(), f"at {at}", **right)
    missing = " No mark: not in the sweep, or no time." * (len(of_rows) < len(named) * len(marks))
    return figure, f"Marks: the best over all other axes, with 95% intervals; numbers: at {without_unit(at)}.{missing}"
