"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest.

A colour is a number: that of the cell, on a scale up to the best. All panels have the same rows, and each the columns
that its kernel has. Of an axis with very many values, neighbours share a row or a column, which shows the best of them.
"""

from __future__ import annotations

from dataclasses import replace

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing import cells, layout, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, Margins, columns, fitting, is_narrow, panels
from kernelsweep.publish.drawing.style import text_in
from kernelsweep.publish.figure_files import BEST_SHARE, QUANTITIES
from kernelsweep.publish.figures.heatmap_words import caption_of, message_of
from kernelsweep.publish.swept import axes_of_map, cells_of_map, rows_of_map, swept
from kernelsweep.publish.tables.formats import decimals

# The height of a cell, and of one in a narrow figure; the room beside a number or a tick, between panels, for a panel's
# name, and the title of the axis across.
CELL_IN, NARROW_CELL_IN, PADDING_IN, GAP_IN, TITLE_IN, ACROSS_IN = 0.22, 0.135, 0.03, 0.12, 0.2, 0.12


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Drawing:
    """The study's file may name the axes: `heatmap: {x: block_x, y: block_y, show: gflops}`.

    Otherwise the two axes with most effect. There is a panel for each kernel that varies on both, unless the kernel is
    an axis. Cells without a time are hatched, with a letter for a status, and grey if they are not in the sweep.
    """
    x, y, panel = axes_of_map(data)
    shown = swept(data, "heatmap", [x, y], panel)
    if shown.rows.empty or x is None or y is None:
        why = swept_axes.no_times(data) if shown.rows.empty else "A heat map needs two axes with several values."
        return layout.empty_drawing(width, *shown.texts(""), why)
    rows, left_out = rows_of_map(shown)
    rows, (across, down), merged = cells_of_map(shown, rows)
    is_time = shown.quantity == "time_us"
    rows = rows.assign(shade=100 * rows["shown"].min() / rows["shown"] if is_time else rows["shown"])
    across_texts, down_texts = (
        [swept_axes.cell_text(data, axis, value) for value in values] for axis, values in ((x, across), (y, down))
    )
    side_in = text_in(*down_texts) + style.LINE_IN + 0.12
    names = swept_axes.values_of(rows, panel, data) if panel else [None]
    titles = [swept_axes.value_text(data, panel, name) if panel else "" for name in names]
    most, across_in = rows["shown"].max(), text_in(*across_texts)
    # Three digits of the best, or as many as fit: a fourth would be noise. 99.6% is not 100%.
    best = rows["shown"].min() if is_time else most
    digits = [f",.{few}f" for few in range(max(decimals(best) - 1, int(best <= 100)), -1, -1)]
    cell_in = max(text_in(f"{most:{digits[0]}}"), across_in) + PADDING_IN
    panel_in = max(cell_in * len(across), text_in(*titles)) + GAP_IN
    beside = columns(len(names), width - side_in, panel_in)
    cell_in = ((width - side_in) / beside - GAP_IN) / len(across)
    fits = next((few for few in digits if text_in(f"{most:{few}}") + PADDING_IN <= cell_in), "")
    is_upright = isinstance(across[0], str) and across_in > cell_in
    margins = Margins(0.0, GAP_IN, PADDING_IN, top=TITLE_IN if panel else GAP_IN)
    marks, free = cells.marks_of(rows, len(rows) < len(down) * len(across) * len(names)), -len(names) % beside
    key_in = PADDING_IN if free else cells.foot_key_in(marks)
    foot_in = key_in + ACROSS_IN + (across_in if is_upright else style.LINE_IN)
    height_in = (NARROW_CELL_IN if is_narrow(width) else CELL_IN) * len(down) + margins.bottom + margins.top
    figure, drawn = panels(width, height_in, len(names), beside, margins, side_in, foot_in)
    colours = cells.map_scale(rows["shade"])
    for number, (name, axes) in enumerate(zip(names, drawn, strict=True)):
        cells.draw_cells(axes, rows[rows[panel] == name] if panel else rows, len(down), len(across), colours, fits)
        if number + beside >= len(names):
            places = range(len(across))
            labelled = places if is_upright else fitting([cell_in * place for place in places], across_texts)
            texts = [across_texts[place] for place in labelled]
            axes.set_xticks([place + 0.5 for place in labelled], texts, rotation=90 * is_upright)
        if number % beside == 0:
            axes.set_yticks([place + 0.5 for place in range(len(down))], down_texts)
        axes.set_title(titles[number])
    cells.name_axes(figure, shown.axis_text(x), shown.axis_text(y), side_in, key_in, foot_in)
    slot = (width - free * (width - side_in) / beside, foot_in + height_in - margins.top) if free else None
    cells.add_key(figure, colours, QUANTITIES[BEST_SHARE] if is_time else shown.label, marks, side_in, slot)
    caption = caption_of(shown, cells.number_text(colours.get_clim()[0]), left_out + merged)
    return replace(shown.drawing(figure, caption, rows), message=message_of(shown, rows))
