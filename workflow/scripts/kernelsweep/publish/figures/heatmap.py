"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import matplotlib.cm
import matplotlib.colors
import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelsweep.analysis.reference import shown_status
from kernelsweep.analysis.study_data import StudyData, place_axes
from kernelsweep.analysis.words import STATUS_LETTERS, axis_value, list_texts, status_key
from kernelsweep.drawing import palette
from kernelsweep.drawing.layout import LETTER_IN, TWO_COLUMNS, Frame, empty_figure
from kernelsweep.drawing.series import facet_grid
from kernelsweep.drawing.style import styled
from kernelsweep.judge.best.find import is_tie
from kernelsweep.publish import swept_axes
from kernelsweep.publish.figure_files import FIGURES, QUANTITIES, SHOW
from kernelsweep.publish.swept_axes import KERNEL, axis_text, place_caption, values_of, without_unit

FIGURE = FIGURES["heatmap"]
# The cells' units, where these are not the quantity's label: percent of the fastest where the work names no throughput.
UNITS = {"bandwidth_gbs": "GB/s", "time_us": "% of the fastest"}
# Colours tell shares near the best apart, and those far from it less.
GAMMA = 2.0
# On a cell whose point is right and lacks the quantity that is shown, such as a bandwidth.
NO_VALUE = "–"
# The panel of kernels with one value of y.
SHARED = "further kernels"
# The height of a cell, a panel's title and tick labels, and what stands beside a cell's number and a row's label.
CELL_IN, PANEL_FRAME_IN, PADDING_IN = 0.19, 0.42, 0.08
# The percentages beside the scale of colours.
TICKS = (0, 50, 75, 90, 100)
# Numbers have no decimals where the largest is at least this.
LEAST_WHOLE = 10
# The least height of a panel, and the part of the width that the panels share: beside them stands the scale of colours.
LEAST_ROWS, PANELS_SHARE = 3, 0.87


@styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Figure:
    """The study's file may name the axes: `heatmap: {x: block_x, y: block_y, show: gflops}`.

    Otherwise the two axes with most effect. There is a panel for each kernel, unless the kernel is an axis; kernels
    with one value of y share a panel. Cells without a time are hatched, with a letter for a status. The best is
    outlined, and what can't be told apart from it.
    """
    chosen = data.settings.figure_axes.get("heatmap", {})
    candidates = [axis for axis in swept_axes.by_effect(data) if axis != KERNEL]
    candidates += [KERNEL] * (len(data.kernel_names) > 1) + swept_axes.varied_sizes(data)
    free = [axis for axis in candidates if axis not in chosen.values()]
    x = chosen.get("x") or (free.pop(0) if free else None)
    y = chosen.get("y") or (free.pop(0) if free else None)
    panel = chosen.get("panel", "" if KERNEL in (x, y) else KERNEL)
    drawn = list(dict.fromkeys(filter(None, [x, y, panel])))
    best, every = swept_axes.best_rows(data, drawn), swept_axes.rows_there(data, drawn)
    if best.empty or x is None or y is None:
        reason = swept_axes.no_times(data) if best.empty else "A heat map needs two axes with several values."
        frame = Frame(width, FIGURE.heading(data.title), "Nothing to draw.", place_caption(data, drawn, ""))
        return empty_figure(frame, reason)
    shown = swept_axes.shown_quantity(best, chosen.get(SHOW))
    # Problems of several sizes are not compared with each other.
    sizes = [axis for axis in drawn if axis in place_axes(data.settings)]
    group = best.groupby(sizes).ngroup() if sizes else best[KERNEL].map(lambda _: 0)
    values, label = best[shown].astype("float64"), QUANTITIES.get(shown, shown)
    values = 100 * values.groupby(group).transform("min") / values if shown == "time_us" else values
    fastest = best.loc[best["time_us"].groupby(group).idxmin()].to_dict("records")
    ties = [is_tie(row, fastest[number]) for row, number in zip(best.to_dict("records"), group, strict=True)]
    best = best.assign(shown=values, shade=100 * values / values.groupby(group).transform("max"), is_outlined=ties)
    empty = every.assign(shown=float("nan"), shade=float("nan"), is_outlined=False)
    cells = pandas.concat([best, empty]).drop_duplicates(drawn)
    cells = cells.assign(status=shown_status(cells))
    blank = set(cells.loc[cells["shown"].isna(), "status"])
    unit = UNITS.get(shown, label)
    where = f" at each {list_texts(list(map(without_unit, map(axis_text, sizes))))}" if sizes else ""
    meaning = (
        f"Cells: {unit}, the best over all other axes; outlined: the best{where} and its ties; blank: not in the sweep."
    )
    meaning += f" Hatched: {status_key(sorted(blank - {'ok'}))}." if blank - {"ok"} else ""
    meaning += f" {NO_VALUE}: no {shown} is known." if "ok" in blank else ""
    axes_texts = (axis_text(x), axis_text(y))
    words = map(without_unit, (label, *axes_texts))
    heading = FIGURE.heading(data.title, "{} by {} and {}".format(*words))
    frame = Frame(width, heading, "", place_caption(data, drawn[:2], meaning))
    return _maps(frame, _labelled(data, cells, x, y, panel), axes_texts)


def _maps(frame: Frame, cells: pandas.DataFrame, axes_texts: tuple[str, str]) -> Figure:
    """The panels, as many side by side as have room for their cells; cells are only coloured where one has none."""
    digits = ",.0f" if cells["shown"].max() >= LEAST_WHOLE else ".2f"
    by_panel = cells.groupby("panel", sort=False)
    across, down = by_panel["across"].nunique().max(), max(LEAST_ROWS, by_panel["down"].nunique().max())
    texts = [f"{cells['shown'].max():{digits}}", *cells["across"].unique()]
    cell_in, labels_in = (max(map(len, words)) * LETTER_IN + PADDING_IN for words in (texts, cells["down"].unique()))
    least_in = (across * cell_in + labels_in + 2 * PADDING_IN) / PANELS_SHARE
    panel_in, fits = (least_in, PANEL_FRAME_IN + CELL_IN * down), least_in <= frame.width
    room_in = (frame.width * PANELS_SHARE - labels_in) / across
    step = 1 if fits else math.ceil((max(map(len, texts[1:])) * LETTER_IN + PADDING_IN) / room_in)
    figure, grid = facet_grid(frame, cells, "panel", list(cells["panel"].unique()), panel_in, share_y=False)
    grid.set_axis_labels(*axes_texts)
    for panel, axes in grid.axes_dict.items():
        of_panel, labels = cells[cells["panel"] == panel], (axes.get_xlabel(), axes.get_ylabel())
        used = {side: of_panel[side].cat.remove_unused_categories() for side in ("across", "down")}
        _draw_cells(axes, of_panel.assign(**used), digits if fits else "", step)
        # All cells are of one size, and labels are right below them.
        axes.spines["bottom"].set_position(("data", of_panel["down"].nunique()))
        axes.set(xlim=(0, across), ylim=(down, 0), xlabel=labels[0], ylabel=labels[1] if panel != SHARED else "")
    bar = figure.colorbar(_shades(), ax=list(grid.axes.flat), pad=0.02, fraction=0.04, aspect=25)
    bar.set_label("% of the best")
    bar.set_ticks(TICKS)
    bar.outline.set_visible(False)
    return figure


def _labelled(data: StudyData, cells: pandas.DataFrame, x: str, y: str, panel: str) -> pandas.DataFrame:
    """The cells that were tried, with the columns panel, down and across.

    A panel for each value of the axis `panel`. Kernels with one value of y come last, and share one.
    """
    tried = cells[cells["status"] != "skipped"]
    across, down = ({value: _label(data, axis, value) for value in values_of(tried, axis, data)} for axis in (x, y))
    cells = cells[cells[x].isin(list(across)) & cells[y].isin(list(down))]
    cells = cells.assign(
        panel=[_label(data, panel, it) for it in cells[panel]] if panel else "",
        across=cells[x].map(across),
        down=cells[y].map(down),
    )
    rows = list(down.values())
    if panel == KERNEL:
        most = tried.groupby([KERNEL, x])[y].nunique().groupby(KERNEL).max()
        is_alone = ~cells[KERNEL].isin(most[most > 1].index)
        alone = cells[is_alone].sort_values("shown", ascending=False).drop_duplicates([KERNEL, x])
        alone = alone.assign(panel=SHARED, down=alone[KERNEL])
        cells = pandas.concat([cells[~is_alone], alone])
        rows += data.kernel_names
    order = {name: place for place, name in enumerate(data.kernel_names)}
    cells = cells.sort_values(
        "panel", key=lambda names: names.map(lambda name: order.get(name, len(order))), kind="stable"
    )
    return cells.assign(
        across=pandas.Categorical(cells["across"], list(across.values()), ordered=True),
        down=pandas.Categorical(cells["down"], rows, ordered=True),
    )


def _label(data: StudyData, axis: str, value: Any) -> str:
    """A value of an axis; grids that are a multiple of the device's multiprocessors as such."""
    if axis == "unroll":
        return f"×{value}"
    times, rest = divmod(value, data.device["multiprocessors"]) if axis == "grid_size" else (0, 0)
    return f"{times} × {data.device['multiprocessors']}" if times and not rest else axis_value(axis, value)


def _shades() -> matplotlib.cm.ScalarMappable:
    """The colours of percentages, on which black digits can be read."""
    colours = matplotlib.colors.ListedColormap(matplotlib.colormaps["YlGnBu"](numpy.linspace(0.0, 0.55, 256)))
    return matplotlib.cm.ScalarMappable(matplotlib.colors.PowerNorm(GAMMA, 0.0, 100.0), colours)


def _draw_cells(axes: Axes, cells: pandas.DataFrame, digits: str, step: int) -> None:
    """Cells that are coloured and annotated, hatched with a status's letter, or blank.

    cells  a row for each: down and across, the labels of its row and column, ordered categories; shown, its number, NaN
           without one; shade, its percentage; status; is_outlined
    digits  the format of a number; "" for cells that are only coloured
    step    of how many columns one is labelled
    """
    names = ["shown", "shade", "status", "is_outlined"]
    table = cells.pivot(index="down", columns="across", values=names)
    shown, shade, status, is_outlined = (table[name] for name in names)
    seaborn.heatmap(
        shade.astype(float),
        annot=shown.astype(float) if digits else None,
        fmt=digits,
        annot_kws={"color": palette.BLACK, "va": "center_baseline"},
        cmap=_shades().cmap,
        norm=_shades().norm,
        vmin=0.0,
        vmax=100.0,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
        xticklabels=step,
        yticklabels=[*shown.index],
        ax=axes,
    )
    axes.set(xlabel="", ylabel="")
    for row, column in numpy.argwhere((shown.isna() & status.notna()).to_numpy()):
        look: Any = {"facecolor": palette.PALE_GREY, "edgecolor": "white", "hatch": "/////", "linewidth": 0.5}
        axes.add_patch(Rectangle((column, row), 1, 1, zorder=2, **look))
        letter = STATUS_LETTERS.get(str(status.to_numpy()[row, column]), NO_VALUE)
        middle: Any = {"ha": "center", "va": "center_baseline", "color": palette.BLACK, "zorder": 3}
        axes.text(column + 0.5, row + 0.5, letter, weight="bold", **middle)
    for row, column in numpy.argwhere(is_outlined.eq(True).to_numpy()):
        look = {"fill": False, "edgecolor": palette.VERMILLION, "linewidth": 0.9, "clip_on": False}
        axes.add_patch(Rectangle((column, row), 1, 1, zorder=4, **look))
    axes.tick_params(length=0, rotation=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
