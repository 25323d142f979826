"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest."""

from __future__ import annotations

from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import shown_status
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import axis_title, axis_value, status_key
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import NO_VALUE, Panel, PanelAxis, as_panel, bandwidth_figure
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.drawing.style import styled
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import best_at, fastest_of
from kernelsweep.publish.swept_axes import (
    KERNEL,
    axes_of_figure,
    best_rows,
    by_effect,
    no_times,
    place_caption,
    rows_there,
    shown_quantity,
    values_of,
    varied_sizes,
)

FIGURE = Declaration(
    title="Two axes",
    purpose="throughput by any two axes",
    needs=("times",),
    axes=("x", "y"),
    shows_quantity=True,
)
# The cells' units, where these are not the quantity's label: percent of the fastest where the work names no throughput.
UNITS = {"bandwidth_gbs": "GB/s", "time_us": "% of the fastest"}


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """The study's file may name the axes: `heatmap: {x: block_x, y: block_y, show: gflops}`.

    Otherwise the two axes with most effect.

    A panel for each kernel, unless the kernel is an axis. Cells without a time are hatched, with a letter for a status.
    """
    chosen = axes_of_figure(data, "heatmap")
    candidates = [axis for axis in by_effect(data) if axis != KERNEL]
    candidates += [KERNEL] * (len(data.kernel_names) > 1) + varied_sizes(data)
    free = [axis for axis in candidates if axis not in chosen.values()]
    x = chosen.get("x") or (free.pop(0) if free else None)
    y = chosen.get("y") or (free.pop(0) if free else None)
    drawn = list(dict.fromkeys([*filter(None, [x, y]), KERNEL]))
    best, every = best_rows(data, drawn), rows_there(data, drawn)
    if best.empty:
        return empty_figure(
            Frame(width, FIGURE.heading(data.title), "No times to draw.", place_caption(data, drawn, "")),
            no_times(data),
        )
    if x is None or y is None:
        frame = Frame(width, FIGURE.heading(data.title), "No two axes vary.", place_caption(data, drawn, ""))
        return empty_figure(frame, "A heat map needs two axes with several values.")
    shown = shown_quantity(best, data, "heatmap")
    values = shown.values if shown.more_is_better else 100 * shown.values.min() / shown.values
    unit = UNITS.get(shown.name, shown.label if shown.more_is_better else f"% of the least {shown.name}")
    cells = pandas.concat([best.assign(shown=values), every.assign(shown=float("nan"))]).drop_duplicates(drawn)
    blank = set(shown_status(cells[cells["shown"].isna()]))
    failed = sorted(blank - {"ok"})
    meaning = f"Cells: {unit}, the best over all other axes; outlined: the best; blank: not in the sweep."
    meaning += f" Hatched: {status_key(failed)}." if failed else ""
    meaning += f" {NO_VALUE}: no {shown.name} is known." if "ok" in blank else ""
    fastest = fastest_of(best_at(data).values())
    frame = Frame(
        width,
        FIGURE.heading(data.title),
        fastest_text(fastest, data.device) if fastest else "",
        place_caption(data, drawn[:2], meaning),
    )
    panels = _panels(data, cells, x, y)
    return bandwidth_figure(frame, panels, axis_title(x), no_times(data))


def _panels(data: StudyData, cells: pandas.DataFrame, x: str, y: str) -> list[Panel]:
    down, across = (_side(data, cells, axis) for axis in (y, x))
    with_value = cells[cells["shown"].notna()]
    best: list[Any] = [] if with_value.empty else [with_value["shown"].idxmax()]
    if KERNEL in (x, y):
        return [as_panel("", cells, down, across, best, "shown")]
    kernels = values_of(cells, KERNEL, data)
    return [as_panel(kernel, cells[cells[KERNEL] == kernel], down, across, best, "shown") for kernel in kernels]


def _side(data: StudyData, cells: pandas.DataFrame, axis: str) -> PanelAxis:
    labels = {value: axis_value(axis, value) for value in values_of(cells, axis, data)}
    return PanelAxis([axis], labels, axis_title(axis))
