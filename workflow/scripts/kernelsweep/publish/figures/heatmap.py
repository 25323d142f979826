"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest.

A colour is a number: that of the cell. All panels have the same rows and columns. Of an axis with very many values,
neighbours share a row or a column, which shows the best of them.
"""

from __future__ import annotations

import pandas

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import list_texts, status_key
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing import layout, style
from kernelsweep.publish.drawing.cells import NO_VALUE, add_bar, draw_cells, number_colours
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, Margins, columns, fitting, is_narrow, panels
from kernelsweep.publish.drawing.style import text_in
from kernelsweep.publish.swept import Swept, axes_of_map, cells_of_map, rows_of_map, swept
from kernelsweep.publish.tables.formats import decimals

# The height of a cell, the room beside a number, between panels, above and below a panel, and of the scale of colours.
CELL_IN, PADDING_IN, GAP_IN, TITLE_IN, TICKS_IN, FOOT_IN = 0.19, 0.08, 0.14, 0.2, 0.32, 0.44


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Drawing:
    """The study's file may name the axes: `heatmap: {x: block_x, y: block_y, show: gflops}`.

    Otherwise the two axes with most effect. There is a panel for each kernel that varies on both, unless the kernel is
    an axis; a narrow figure has the fastest kernel's. Cells without a time are hatched, with a letter for a status, and
    grey if they are not in the sweep. The best is outlined, and what can't be told apart from it.
    """
    x, y, panel = axes_of_map(data)
    shown = swept(data, "heatmap", [x, y], panel)
    if shown.rows.empty or x is None or y is None:
        why = swept_axes.no_times(data) if shown.rows.empty else "A heat map needs two axes with several values."
        return layout.empty_drawing(width, *shown.texts(""), why)
    rows, left_out = rows_of_map(shown, is_narrow(width))
    rows, (across, down), merged = cells_of_map(shown, rows)
    across_texts, down_texts = (
        [swept_axes.cell_text(data, axis, value) for value in values] for axis, values in ((x, across), (y, down))
    )
    is_time, side_in = shown.quantity == "time_us", text_in(*down_texts) + style.LINE_IN + 0.12
    names = swept_axes.values_of(rows, panel, data) if panel else [None]
    ends = (rows["shown"].min(), rows["shown"].max())
    # As many digits as fit, and up to four of the best.
    digits = [f",.{places}f" for places in range(decimals(ends[0] if is_time else ends[1]), -1, -1)]
    least_in = max(text_in(f"{ends[1]:{digits[0]}}"), text_in(*across_texts)) + PADDING_IN
    side_by_side = columns(len(names), width - side_in, least_in * len(across) + GAP_IN)
    cell_in = ((width - side_in) / side_by_side - GAP_IN) / len(across)
    fits = next((few for few in digits if text_in(f"{ends[1]:{few}}") + PADDING_IN <= cell_in), "")
    margins = Margins(left=0.0, right=GAP_IN, bottom=TICKS_IN, top=TITLE_IN if panel else GAP_IN)
    height_in = CELL_IN * len(down) + margins.bottom + margins.top
    figure, drawn = panels(width, height_in, len(names), side_by_side, margins, side_in, FOOT_IN)
    colours, y_text = number_colours(rows["shown"], is_time), shown.axis_text(y)
    y_text = y_text if text_in(y_text) < height_in - TICKS_IN else swept_axes.without_unit(y_text)
    labelled = fitting([place * cell_in for place in range(len(across))], across_texts)
    for number, (name, axes) in enumerate(zip(names, drawn, strict=True)):
        draw_cells(axes, rows[rows[panel] == name] if panel else rows, len(down), len(across), colours, fits)
        axes.set_xticks([place + 0.5 for place in labelled], [across_texts[place] for place in labelled])
        is_first = number % side_by_side == 0
        axes.set_yticks([place + 0.5 for place in range(len(down) * is_first)], down_texts * is_first)
        axes.set(xlabel=shown.axis_text(x), ylabel=y_text * is_first)
        axes.set_title(swept_axes.value_text(data, panel, name) if panel else "")
    add_bar(figure, colours, side_in, digits[0], shown.label)
    return shown.drawing(figure, _caption(shown, rows, left_out + merged), rows)


def _caption(shown: Swept, rows: pandas.DataFrame, left_out: str) -> str:
    """How the map is read."""
    blank, sizes = {*rows.loc[rows["shown"].isna(), "status"]}, swept_axes.problem_axes(shown.data, shown.axes)
    named = [swept_axes.without_unit(shown.axis_text(axis)) for axis in sizes]
    where = f" at each {list_texts(named)}" if sizes else ""
    texts = [f"Number and colour: the best over all other axes; outlined: the fastest{where} and its ties.{left_out}"]
    texts += [f"Hatched: {status_key(sorted(blank - {'ok'}))}."] if blank - {"ok"} else []
    texts += [f"{NO_VALUE}: no such quantity is known."] if "ok" in blank else []
    cells = rows["panel"].nunique() * rows["across"].nunique() * rows["down"].nunique()
    return " ".join([*texts, *(["Grey: not in the sweep."] if len(rows) < cells else [])])
