"""Any two axes as a heat map of throughput, a panel for each kernel: the best over the rest.

A colour is a number: that of the cell.
"""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import FuncNorm, ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from kernelsweep.judge.best.find import is_tie
from kernelsweep.judge.data.reference import shown_status
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import STATUS_LETTERS, axis_value, list_texts, status_key
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing import palette
from kernelsweep.publish.drawing.layout import LETTER_IN, TWO_COLUMNS, Frame, empty_figure
from kernelsweep.publish.drawing.series import facet_grid
from kernelsweep.publish.drawing.style import styled
from kernelsweep.publish.figure_files import BEST_SHARE, FIGURES, QUANTITIES, SHOW
from kernelsweep.publish.swept_axes import KERNEL, axis_text, place_caption, values_of, without_unit
from kernelsweep.publish.tables.formats import decimals

FIGURE = FIGURES["heatmap"]
# The cells' units, where these are not the quantity's label.
UNITS = {"bandwidth_gbs": "GB/s"}
# Colours go with this power of a rate: they tell apart what is near the best.
GAMMA = 2.0
# On a cell whose point is right and lacks the quantity that is shown, such as a bandwidth.
NO_VALUE = "–"
# The panel of kernels with one value of y.
SHARED = "further kernels"
# The height of a cell, a panel's title and tick labels, and what stands beside a cell's number and a row's label.
CELL_IN, PANEL_FRAME_IN, PADDING_IN = 0.19, 0.42, 0.08
# Beside the scale of colours: the distance of numbers, and how many round ones are tried.
TICK_IN, ROUND_TICKS = 0.3, 20
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
    best, rows = swept_axes.best_rows(data, drawn), swept_axes.rows_there(data, drawn)
    if best.empty or x is None or y is None:
        reason = swept_axes.no_times(data) if best.empty else "A heat map needs two axes with several values."
        frame = Frame(width, FIGURE.heading(data.title), "Nothing to draw.", place_caption(data, drawn, ""))
        return empty_figure(frame, reason)
    quantity = swept_axes.shown_quantity(best, chosen.get(SHOW))
    # Where the work names no throughput, shares: they are high where it is fast, too.
    quantity = BEST_SHARE if quantity == "time_us" and SHOW not in chosen else quantity
    label = chosen.get("label") or QUANTITIES[quantity]
    # Problems of several sizes are not compared with each other.
    sizes = swept_axes.problem_axes(data, drawn)
    group = best.groupby(sizes).ngroup() if sizes else best[KERNEL].map(lambda _: 0)
    fastest = best.loc[best["time_us"].groupby(group).idxmin()].to_dict("records")
    ties = [is_tie(row, fastest[number]) for row, number in zip(best.to_dict("records"), group, strict=True)]
    best = best.assign(shown=best[quantity].astype("float64"), is_outlined=ties)
    empty = rows.assign(shown=float("nan"), is_outlined=False)
    cells = pandas.concat([best, empty]).drop_duplicates(drawn)
    cells = cells.assign(status=shown_status(cells))
    blank = set(cells.loc[cells["shown"].isna(), "status"])
    unit = UNITS.get(quantity, label)
    colours = _colours(best["shown"], quantity == "time_us")
    where = f" at each {list_texts(list(map(without_unit, map(axis_text, sizes))))}" if sizes else ""
    meaning = (
        f"Number and colour of a cell: {unit}, the best over all other axes; outlined: the best{where} and its ties; "
        "blank: not in the sweep."
    )
    meaning += f" Hatched: {status_key(sorted(blank - {'ok'}))}." if blank - {"ok"} else ""
    meaning += f" {NO_VALUE}: no {quantity} is known." if "ok" in blank else ""
    axes_texts = (axis_text(x), axis_text(y))
    words = map(without_unit, (label, *axes_texts))
    heading = FIGURE.heading(data.title, "{} by {} and {}".format(*words))
    frame = Frame(width, heading, "", place_caption(data, drawn[:2], meaning))
    return _maps(frame, _labelled(data, cells, x, y, panel), axes_texts, colours, unit)


def _maps(
    frame: Frame, cells: pandas.DataFrame, axes_texts: tuple[str, str], colours: ScalarMappable, unit: str
) -> Figure:
    """The panels, as many side by side as have room for their cells; cells are only coloured where one has none."""
    digits = f",.{decimals(_ends(colours)[0])}f"
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
        _draw_cells(axes, of_panel.assign(**used), colours, digits if fits else "", step)
        # All cells are of one size, and labels are right below them.
        axes.spines["bottom"].set_position(("data", of_panel["down"].nunique()))
        axes.set(xlim=(0, across), ylim=(down, 0), xlabel=labels[0], ylabel=labels[1] if panel != SHARED else "")
    ticks = _ticks(colours, figure.get_figheight())
    bar = figure.colorbar(colours, ax=list(grid.axes.flat), ticks=ticks, pad=0.02, fraction=0.04, aspect=25)
    bar.set_ticklabels([f"{ticks[0]:{digits}}", *(f"{tick:,g}" for tick in ticks[1:])])
    bar.set_label(unit)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_inverted(ticks[0] == colours.norm.vmin)
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
        alone = cells[is_alone].sort_values("time_us").drop_duplicates([KERNEL, x])
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


def _colours(values: pandas.Series[float], is_time: bool) -> ScalarMappable:
    """The colours of numbers, on which black digits can be read: dark is fast."""
    colours = ListedColormap(matplotlib.colormaps["YlGnBu"](numpy.linspace(0.0, 0.55, 256)))
    if not is_time:
        return ScalarMappable(PowerNorm(GAMMA, 0.0, values.max()), colours)
    # A time's rate is one over it. The norm is asked for shorter ones, too, such as 0.
    low, high = values.min(), values.max()
    power = (lambda time: -(numpy.maximum(time, low) ** -GAMMA), lambda power: (-power) ** (-1 / GAMMA))
    return ScalarMappable(FuncNorm(power, low, high), colours.reversed())


def _ends(colours: ScalarMappable) -> tuple[float, float]:
    """The numbers of the darkest colour and of the palest."""
    low, high = colours.get_clim()
    return (low, high) if isinstance(colours.norm, FuncNorm) else (high, low)


def _ticks(colours: ScalarMappable, height_in: float) -> list[float]:
    """The best number, and round ones, as many as have room beside a scale of that height."""
    low, high = colours.get_clim()
    ticks = [_ends(colours)[0]]
    rounds = [
        float(tick)
        for tick in MaxNLocator(ROUND_TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
        if low <= tick <= high
    ]
    for tick in sorted(rounds, key=lambda number: abs(number - ticks[0])):
        places = numpy.asarray(colours.norm(numpy.array([tick, ticks[-1]])), dtype=float)
        if abs(places[0] - places[1]) * height_in >= TICK_IN:
            ticks.append(tick)
    return ticks


def _draw_cells(axes: Axes, cells: pandas.DataFrame, colours: ScalarMappable, digits: str, step: int) -> None:
    """Cells that are coloured and annotated, hatched with a status's letter, or blank.

    cells  a row for each: down and across, the labels of its row and column, ordered categories; shown, its number, NaN
           without one; status; is_outlined
    digits  the format of a number; "" for cells that are only coloured
    step    of how many columns one is labelled
    """
    names = ["shown", "status", "is_outlined"]
    table = cells.pivot(index="down", columns="across", values=names)
    numbers, status, is_outlined = (table[name] for name in names)
    seaborn.heatmap(
        numbers.astype(float),
        annot=bool(digits),
        fmt=digits,
        annot_kws={"color": palette.BLACK, "va": "center_baseline"},
        cmap=colours.cmap,
        norm=colours.norm,
        vmin=colours.norm.vmin,
        vmax=colours.norm.vmax,
        linewidths=0.5,
        linecolor="white",
        cbar=False,
        xticklabels=step,
        yticklabels=[*numbers.index],
        ax=axes,
    )
    axes.set(xlabel="", ylabel="")
    for row, column in numpy.argwhere((numbers.isna() & status.notna()).to_numpy()):
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
