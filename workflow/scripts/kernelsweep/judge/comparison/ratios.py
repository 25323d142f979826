"""A figure of two sweeps' ratios against array size, one panel a kernel, with the ratios' intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from kernelsweep.analysis.words import size_text
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import POINTS_PER_INCH, TWO_COLUMNS, Frame, empty_figure, legend_above, new_figure
from kernelsweep.judge.comparison.sides import name_of
from kernelsweep.judge.comparison.verdicts import FASTER, SAME, SLOWER, UNDECIDED, ComparedPoint, by_kernel, by_size

FIGURE = Declaration(
    title="New times over old ones",
    purpose="the ratio of each point's times in two sweeps, against array size",
    needs=("times",),
)
TITLE = "Time after over time before"
MOST_COLUMNS = 4
PANEL_IN = 1.75
ONE_PANEL_IN = 2.7

# Points of one array size stand side by side in this fraction of the distance between two sizes.
SPREAD = 0.8
SMALLEST_MARKER_PT, LARGEST_MARKER_PT = 1.3, 4.5
# The fraction of a panel's width inside the axes' decorations, about.
INNER_WIDTH = 0.8

# Up to this factor between the ends of the axis, its ticks are round ratios; beyond it 1, 2 and 5 times powers of ten.
NARROW = 4.0
MOST_TICKS = 6
# The room beyond the drawn ends, as a fraction of the axis.
HEADROOM = 0.04
# The number of array size labels that fit into a row of panels.
MOST_SIZES_IN_A_ROW = 20

# Colour and shape of each verdict, in drawing order.
LOOKS = {
    UNDECIDED: (style.GREY, "d"),
    SAME: (style.GREEN, "o"),
    FASTER: (style.BLUE, "v"),
    SLOWER: (style.VERMILLION, "^"),
}


@style.styled
def draw(points: Sequence[ComparedPoint], margin: float, sides: str) -> Figure:
    """A panel for each kernel with compared points, all on the same axes.

    margin  the smallest difference that matters; this range around 1 is shaded
    sides   the two sweeps in words, for the caption

    Points of one array size stand side by side, ordered by cache, block size and unroll factor. Intervals are cut at
    the ends of the axes.
    """
    compared = [point for point in points if point.ratio]
    counts = Counter(point.verdict for point in compared)
    without = len(points) - len(compared)
    left_out = f" {without:,} points were not compared: see comparison.md." if without else ""
    if not compared:
        return empty_figure(Frame(TWO_COLUMNS, TITLE, "No ratios to draw.", sides + left_out), _why_none(points))
    caption = (
        f"{sides} Bars: 99% intervals of the ratios; black: geometric mean of an array size; shaded: within "
        f"{margin:.2%} of 1.{left_out}"
    )
    kernels = by_kernel(compared)
    columns = min(len(kernels), MOST_COLUMNS)
    rows = math.ceil(len(kernels) / columns)
    message = f"{len(compared):,} points: " + ", ".join(f"{counts[name]:,} {name}" for name in reversed(LOOKS)) + "."
    body_in = PANEL_IN * rows if len(kernels) > 1 else ONE_PANEL_IN
    figure = new_figure(Frame(TWO_COLUMNS, TITLE, message, caption), body_in, with_legend=1)
    sizes = sorted({point.array_size for point in compared})
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    one_study = len({kernel.partition("/")[0] for kernel in kernels}) == 1
    for axes, (kernel, of_kernel) in zip(grid.flat, kernels.items(), strict=False):
        _panel(axes, of_kernel, sizes, margin, TWO_COLUMNS.inches / columns)
        study, _, name = kernel.partition("/")
        axes.set_title(kernel if len(kernels) == 1 else name if one_study else f"{study}:\n{name}", loc="left")
    for axes in list(grid.flat)[len(kernels) :]:
        axes.set_axis_off()
    _scale(list(grid.flat)[: len(kernels)], columns, sizes, _limits(compared, margin))
    legend_above(
        figure,
        [
            Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=0.6, label=name)
            for name, (colour, marker) in reversed(LOOKS.items())
        ],
    )
    return figure


def _why_none(points: Sequence[ComparedPoint]) -> str:
    reasons = Counter(point.note for point in points)
    return f"No times were compared: {reasons.most_common(1)[0][0]}." if reasons else "There are no points."


def _panel(axes: Axes, points: Sequence[ComparedPoint], sizes: Sequence[int], margin: float, width_in: float) -> None:
    axes.axhspan(1 / (1 + margin), 1 + margin, color=style.GRID_GREY, linewidth=0)
    axes.axhline(1, color=style.BLACK, linewidth=0.5, zorder=2.5)
    of_size = {size: [point for point in points if point.array_size == size] for size in sizes}
    most = max(map(len, of_size.values()))
    room_pt = width_in * POINTS_PER_INCH * INNER_WIDTH / len(sizes) * SPREAD / most
    marker_pt = min(max(room_pt, SMALLEST_MARKER_PT), LARGEST_MARKER_PT)
    for verdict, (colour, marker) in LOOKS.items():
        drawn = [
            (size_number + offset, point.ratio)
            for size_number, group in enumerate(of_size.values())
            for offset, point in zip(_offsets(len(group), most), sorted(group, key=_order), strict=True)
            if point.verdict == verdict and point.ratio
        ]
        if not drawn:
            continue
        places, ratios = zip(*drawn, strict=True)
        axes.vlines(
            places,
            [found.low for found in ratios],
            [found.high for found in ratios],
            color=colour,
            linewidth=min(0.8, marker_pt / 3),
            alpha=0.3,
        )
        axes.plot(
            places,
            [found.value for found in ratios],
            linestyle="none",
            marker=marker,
            markersize=marker_pt,
            markeredgewidth=0,
            color=colour,
            zorder=3,
        )
    for size, found in by_size(points, margin).items():
        place = sizes.index(size)
        axes.hlines(
            found.ratio.value, place - SPREAD / 2, place + SPREAD / 2, color=style.BLACK, linewidth=1.0, zorder=4
        )


def _offsets(count: int, most: int) -> list[float]:
    """The positions of points of one size around its tick; all sizes have the same distance between points."""
    return [SPREAD * (number - (count - 1) / 2) / most for number in range(count)]


def _order(point: ComparedPoint) -> tuple[object, ...]:
    row = point.row
    return row["cache"], row["dtype"], row["operation"], int(row["block_size"]), int(row["unroll"]), name_of(row)


def _limits(points: Sequence[ComparedPoint], margin: float) -> tuple[float, float]:
    """The ends of the ratio axis: it contains all ratios, most of their intervals, and the shaded range."""
    ratios = [point.ratio for point in points if point.ratio]
    lows, highs = ([getattr(found, end) for found in ratios] for end in ("low", "high"))
    low = min(1 / (1 + 2 * margin), *(found.value for found in ratios), float(np.quantile(lows, 0.1)))
    high = max(1 + 2 * margin, *(found.value for found in ratios), float(np.quantile(highs, 0.9)))
    room = (high / low) ** HEADROOM
    return low / room, high * room


def _scale(panels: Sequence[Axes], columns: int, sizes: Sequence[int], limits: tuple[float, float]) -> None:
    """The same logarithmic axis of ratios, and the same array sizes, for all panels."""
    low, high = limits
    for number, axes in enumerate(panels):
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        if high / low <= NARROW:
            # Placed relative to 1, so that 1 itself is a tick.
            away = MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(low - 1, high - 1)
            axes.yaxis.set_major_locator(FixedLocator([1 + tick for tick in away]))
        else:
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_xlim(-0.6, len(sizes) - 0.4)
        step = math.ceil(len(sizes) * columns / MOST_SIZES_IN_A_ROW)
        axes.set_xticks(range(0, len(sizes), step), [size_text(size) for size in sizes[::step]])
        # The panel below it may be missing.
        axes.tick_params(labelbottom=number + columns >= len(panels))
        if number + columns >= len(panels):
            axes.set_xlabel("array size (elements)")
        if number % columns == 0:
            axes.set_ylabel("time after / before")
