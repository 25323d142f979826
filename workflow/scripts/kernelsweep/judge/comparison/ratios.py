"""A forest plot of two sweeps: each kernel's ratio of times over all points and at each size, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from kernelsweep.analysis.words import list_texts
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, add_legend, empty_figure, new_figure
from kernelsweep.judge.comparison.verdicts import ComparedPoint, Overall, by_kernel, by_size, overall
from kernelsweep.measure.pairs import FASTER, SAME, SLOWER, UNDECIDED

FIGURE = Declaration(
    title="New times over old ones",
    purpose="the ratio of each kernel's times in two sweeps, by size",
    needs=("times",),
)
TITLE = "Time after over time before"
ROW_IN, FRAME_IN = 0.16, 0.6
# The panel of all sizes is as wide as this many panels of one size, of which so many fit beside it.
WHOLE_WIDTH, MOST_SIZES = 3.0, 8
# Up to this factor between the ends of the axis, its ticks are round ratios; beyond it 1, 2 and 5 times powers of ten.
NARROW = 4.0
MOST_TICKS = 2
# The room beyond the drawn ends, as a fraction of the axis.
HEADROOM = 0.06

# Colour and shape of each verdict, in drawing order.
LOOKS = {
    UNDECIDED: (palette.GREY, "d"),
    SAME: (palette.GREEN, "o"),
    FASTER: (palette.BLUE, "v"),
    SLOWER: (palette.VERMILLION, "^"),
}


@style.styled
def draw(points: Sequence[ComparedPoint], margin: float, sides: str, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each kernel with compared points; a panel for all its points, and one for each size.

    margin  the smallest difference that matters; this range around 1 is shaded
    sides   the two sweeps in words, for the caption

    A dot is the geometric mean of the points' ratios. Intervals are cut at the ends of the axis.
    """
    compared = [point for point in points if point.ratio]
    without = len(points) - len(compared)
    left_out = f" {without:,} points were not compared: see comparison.md." if without else ""
    if not compared:
        return empty_figure(Frame(width, TITLE, "No ratios to draw.", sides + left_out), _why_none(points))
    kernels = by_kernel(compared)
    every = sorted({point.size for point in compared})
    sizes = every[-MOST_SIZES:]
    if others := [size.text for size in every[:-MOST_SIZES]]:
        left_out += f" Smaller sizes are in comparison.md: {list_texts(others, most=len(others))}."
    caption = (
        f"{sides} Dot: geometric mean ratio; line: mean 99% interval; shaded: within {margin:.2%} of 1."
        f" All panels have the scale of the first.{left_out}"
    )
    frame = Frame(width, TITLE, _message(compared), caption)
    figure = new_figure(frame, FRAME_IN + ROW_IN * len(kernels))
    panels = figure.subplots(
        1, 1 + len(sizes), sharex=True, sharey=True, squeeze=False, width_ratios=[WHOLE_WIDTH, *[1.0] * len(sizes)]
    )[0]
    whole = [overall(of_kernel, margin) for of_kernel in kernels.values()]
    of_sizes = [by_size(of_kernel, margin) for of_kernel in kernels.values()]
    columns = [whole, *([found.get(size) for found in of_sizes] for size in sizes)]
    for axes, column, heading in zip(panels, columns, ["all sizes", *(size.text for size in sizes)], strict=True):
        _draw_column(axes, column, margin)
        axes.set_title(heading)
    _scale(panels, list(kernels), [found for column in columns for found in column if found], margin)
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=0.6, label=name)
        for name, (colour, marker) in reversed(LOOKS.items())
    ]
    add_legend(figure, handles, is_above=True)
    return figure


def _message(compared: Sequence[ComparedPoint]) -> str:
    counts = Counter(point.verdict for point in compared)
    return f"{len(compared):,} points: " + ", ".join(f"{counts[name]:,} {name}" for name in reversed(LOOKS)) + "."


def _why_none(points: Sequence[ComparedPoint]) -> str:
    reasons = Counter(point.note for point in points)
    return f"No times were compared: {reasons.most_common(1)[0][0]}." if reasons else "There are no points."


def _draw_column(axes: Axes, column: Sequence[Overall | None], margin: float) -> None:
    """The kernels' dots from the top down."""
    axes.axvspan(1 / (1 + margin), 1 + margin, color=palette.GRID_GREY, linewidth=0)
    axes.axvline(1, color=palette.GREY, linewidth=0.5)
    for row, found in enumerate(column):
        if found:
            colour, marker = LOOKS[found.verdict]
            axes.hlines(row, found.ratio.low, found.ratio.high, color=colour, linewidth=0.8)
            axes.plot([found.ratio.value], [row], marker=marker, markersize=3.6, markeredgewidth=0, color=colour)


def _scale(panels: Sequence[Axes], kernels: Sequence[str], shown: Sequence[Overall], margin: float) -> None:
    """The kernels' names, and one logarithmic axis of ratios: all dots, most intervals, and the shaded range."""
    first = panels[0]
    values = [found.ratio.value for found in shown]
    low = min(1 / (1 + 2 * margin), *values, float(np.quantile([found.ratio.low for found in shown], 0.1)))
    high = max(1 + 2 * margin, *values, float(np.quantile([found.ratio.high for found in shown], 0.9)))
    room = (high / low) ** HEADROOM
    first.set_xscale("log")
    first.set_xlim(low / room, high * room)
    if high / low <= NARROW:
        # Placed relative to 1, so that 1 itself is a tick.
        away = MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(low - 1, high - 1)
        first.xaxis.set_major_locator(FixedLocator([1 + tick for tick in away]))
    else:
        first.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    first.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    first.minorticks_off()
    first.set_xlabel("time after / before")
    one_study = len({kernel.partition("/")[0] for kernel in kernels}) == 1
    names = [kernel.partition("/")[2] if one_study and len(kernels) > 1 else kernel for kernel in kernels]
    first.set_yticks(range(len(kernels)), names)
    first.set_ylim(len(kernels) - 0.5, -0.5)
    for number, axes in enumerate(panels):
        axes.minorticks_off()
        axes.tick_params(labelbottom=number == 0, length=0)
        axes.grid(axis="x", color=palette.GRID_GREY, linewidth=0.4)
        axes.spines["left"].set_visible(number == 0)
