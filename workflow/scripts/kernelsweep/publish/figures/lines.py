"""Throughput, or time, against one axis: a line for each value of another, the best over the rest."""

from __future__ import annotations

from kernelsweep.judge.best.find import reference_uses
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import limit_kernel, limit_text, list_texts
from kernelsweep.publish import swept_axes
from kernelsweep.publish.axis_places import places_of
from kernelsweep.publish.drawing import palette, series, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, Margins, columns, empty_drawing, is_narrow, panels
from kernelsweep.publish.figures.dots import draw_rows
from kernelsweep.publish.swept import axes_of_lines, named_lines, swept
from kernelsweep.publish.swept_axes import KERNEL, line_colours, value_text
from kernelsweep.publish.tables.formats import broken

# A panel's height, that below its axis, and the least width of one beside others; the letters of a name on one line.
PANEL_IN, BOTTOM_IN, LEAST_IN, NAME_LETTERS = 2.2, 0.4, 2.6, 24


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Drawing:
    """The study's file may name the axes: `lines: {x: n, by: tile, panel: cache, show: gflops}`.

    Otherwise x is the axis of the problem's size with most values, or the axis with most effect; lines are kernels, or
    values of the axis with most effect. Up to seven have colours; others are grey. Points that failed are gaps. A
    narrow figure has one panel, the reference point's. Where no line joins the values of x, lines are rows of marks.
    """
    x, by, panel = axes_of_lines(data)
    is_tied = any(x in group for group in data.settings.tied)
    # Lines would be too many with those of limits; rows of marks have room.
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings.limits if is_tied and by == KERNEL}
    beside = [*data.settings.rival_names, *limits]
    shown = swept(data, "lines", [x, by], panel, beside if by == KERNEL else ())
    caption = "Points: the best over all other axes, with 95% intervals; at lines' ends, the last value."
    if shown.rows.empty:
        return empty_drawing(width, *shown.texts(caption), swept_axes.no_times(data))
    rows = shown.rows[(shown.rows["status"] != "skipped") & shown.rows[x].notna()]
    order = swept_axes.values_of(rows, by, data) if by else [""]
    rows = rows.assign(line=rows[by] if by else "")
    alone = data.kernel_names[0] if len(data.kernel_names) == 1 else "the best"
    words = {line: value_text(data, by, line) if by else alone for line in order} | limits
    ticks = swept_axes.size_texts(data, x, rows)
    places, on_line = places_of([*ticks], is_tied)
    if not any(on_line):
        figure, caption = draw_rows(shown, rows[rows["shown"].notna()], width, ticks, words)
        return shown.drawing(figure, caption, rows)
    at = {value: place for value, place, is_drawn in zip(ticks, places, on_line, strict=True) if is_drawn}
    alike = [text for value, text in ticks.items() if value not in at]
    caption += f" Left out, each beside a nearly equal value: {list_texts(alike, len(alike))}." if alike else ""
    rows = rows[rows[x].isin(at)]
    panel_names, left_out = shown.panels(rows, is_narrow(width))
    # In a view, the reader chose the lines.
    asked = order if "label" in data.settings.figure_axes.get("lines", {}) else data.settings.rival_names
    used = [use.kernel for use in reference_uses(data)] if by == KERNEL else []
    named = named_lines(shown, rows, order, asked, used)
    grey, of_lines = [line for line in order if line not in named], line_colours(data, by, named)
    if grey:
        caption += f" In grey, mostly behind others: {list_texts([words[line] for line in grey], len(grey))}."
    colours = dict.fromkeys(grey, palette.LEADER_GREY) | {line: of_lines[line] for line in named}
    rows = rows.assign(at=rows[x].map(at))
    drawn = {name: rows[rows[panel] == name] if panel else rows for name in panel_names}
    # Grey lines have names, too, if all have room.
    some = order if len(order) * (style.LINE_IN + series.GAP_IN) < PANEL_IN - BOTTOM_IN else named
    names = {line: "\n".join(broken(str(words[line]), NAME_LETTERS)) for line in some}
    # Panels side by side share the names, at the ends of the last one's lines, if that has them all.
    last, names_in = [*drawn][-1], style.text_in(*names.values()) + series.BRACKET_IN
    has_all = {*drawn[last].dropna(subset="shown")["line"]} >= {*some}
    across = columns(len(panel_names), width - names_in, LEAST_IN) if has_all else 1
    bare = names if across == 1 else dict.fromkeys(names, "")
    of_panels = {name: names if name == last else bare for name in drawn}
    ends = {name: series.line_ends(drawn[name], of_panels[name], colours, shown.quantity) for name in drawn}
    markers = dict(zip(named, style.MARKERS, strict=False))
    shared_in = names_in if across > 1 else 0.0
    beside_in = min(max(map(series.beside_in, ends.values())), 0.6 * width) - shared_in
    margins = Margins(0.5, beside_in, BOTTOM_IN, 0.2 if panel else 0.08)
    figure, panels_drawn = panels(width, PANEL_IN, len(panel_names), across, margins, right=shared_in)
    for name, axes in zip(panel_names, panels_drawn, strict=True):
        series.scale(axes, "y", rows["low"].min(), rows["high"].max(), shown.quantity)
        series.draw_lines(axes, drawn[name], colours, markers)
        series.label_x(axes, [*at.values()], [ticks[value] for value in at])
        axes.set(xlabel=shown.axis_text(x), ylabel=shown.label, title=panel_names[name])
        series.name_ends(axes, ends[name])
    return shown.drawing(figure, caption + left_out, rows)
