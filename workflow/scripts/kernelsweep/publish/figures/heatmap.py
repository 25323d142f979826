"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest.

A colour is a number: that of the cell, on a scale up to the best. All panels have the same rows, and each the columns
that its kernel has. Of an axis with very many values, neighbours share a row or a column, which shows the best of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing import layout, style
from kernelsweep.publish.drawing.cells import add_bar, draw_cells, map_scale, marks_of, name_axes, number_text
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, Margins, fitting, in_lines, is_narrow
from kernelsweep.publish.drawing.style import text_in
from kernelsweep.publish.figure_files import BEST_SHARE, QUANTITIES
from kernelsweep.publish.figures.heatmap_words import caption_of, message_of
from kernelsweep.publish.swept import axes_of_map, cells_of_map, rows_of_map, swept
from kernelsweep.publish.tables.formats import decimals

# The height of a cell, and of one in a narrow figure; the room beside a number or a tick, between panels, for a panel's
# name, the title of the axis across, and the scale of colours.
CELL_IN, NARROW_CELL_IN, PADDING_IN, GAP_IN, TITLE_IN, ACROSS_IN, FOOT_IN = 0.22, 0.135, 0.06, 0.12, 0.2, 0.12, 0.46
# So many widths of a cell are tried.
WIDTHS_TRIED = 300


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
    cells = [rows[rows[panel] == name] if panel else rows for name in names]
    own = [sorted({*of["across"]}) for of in cells]
    are_alike = all(columns == own[0] for columns in own)
    most, across_in = rows["shown"].max(), text_in(*across_texts)
    # Three digits of the best, or as many as fit: a fourth would be noise. 99.6% is not 100%.
    best = rows["shown"].min() if is_time else most
    digits = [f",.{few}f" for few in range(max(decimals(best) - 1, int(best <= 100)), -1, -1)]
    least_in = max(text_in(f"{most:{digits[0]}}"), across_in) + PADDING_IN
    cell_in, lines = _in_lines([*map(len, own)], titles, width - side_in, least_in)
    fits = next((few for few in digits if text_in(f"{most:{few}}") + PADDING_IN <= cell_in), "")
    is_upright = isinstance(across[0], str) and across_in > cell_in
    below_in = across_in if is_upright else style.LINE_IN
    margins = Margins(0.0, GAP_IN, PADDING_IN + below_in * (not are_alike), top=TITLE_IN if panel else GAP_IN)
    foot_in = FOOT_IN + ACROSS_IN + below_in * are_alike
    height_in = (NARROW_CELL_IN if is_narrow(width) else CELL_IN) * len(down) + margins.bottom + margins.top
    figure, drawn = in_lines(width, height_in, lines, margins, side_in, foot_in)
    colours = map_scale(rows["shade"])
    firsts = {sum(map(len, lines[:before])) for before in range(len(lines))}
    for number, (of, columns, axes) in enumerate(zip(cells, own, drawn, strict=True)):
        of = of.assign(across=of["across"].map(columns.index))
        draw_cells(axes, of, len(down), len(columns), colours, fits)
        if not are_alike or number + len(lines[0]) >= len(names):
            texts, places = [across_texts[column] for column in columns], range(len(columns))
            labelled = places if is_upright else fitting([place * cell_in for place in places], texts)
            texts = [texts[place] for place in labelled]
            axes.set_xticks([place + 0.5 for place in labelled], texts, rotation=90 * is_upright)
        if number in firsts:
            axes.set_yticks([place + 0.5 for place in range(len(down))], down_texts)
        axes.set_title(titles[number])
    name_axes(figure, shown.axis_text(x), shown.axis_text(y), side_in, FOOT_IN, foot_in)
    marks = marks_of(rows, len(rows) < len(down) * sum(map(len, own)))
    add_bar(figure, colours, side_in, QUANTITIES[BEST_SHARE] if is_time else shown.label, marks)
    left_out += " Each panel has columns of its own." * (not are_alike)
    drawing = shown.drawing(figure, caption_of(shown, number_text(colours.get_clim()[0]), left_out + merged), rows)
    return replace(drawing, message=message_of(shown, rows))


def _in_lines(
    counts: Sequence[int], titles: Sequence[str], room_in: float, least_in: float
) -> tuple[float, Sequence[Sequence[tuple[float, float]]]]:
    """The width of a cell; and in lines, for each panel of so many columns, the widths of its room and of itself.

    Cells are as wide as they can be in the fewest lines.

    room_in   of a line
    least_in  of a cell, if a panel fits
    """

    def lines(cell_in: float) -> list[list[tuple[float, float]]]:
        found: list[list[tuple[float, float]]] = [[]]
        for count, title in zip(counts, titles, strict=True):
            slot = (max(cell_in * count, text_in(title)) + GAP_IN, cell_in * count)
            if found[-1] and sum(room for room, _ in [*found[-1], slot]) > room_in + GAP_IN / 2:
                found.append([])
            found[-1].append(slot)
        return found

    most_in = (room_in - GAP_IN) / max(counts)
    widths = numpy.linspace(most_in, min(least_in, most_in), WIDTHS_TRIED)
    cell_in = next(width for width in widths if len(lines(width)) <= len(lines(widths[-1])))
    return float(cell_in), lines(cell_in)
