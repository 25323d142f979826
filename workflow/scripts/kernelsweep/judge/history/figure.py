"""A figure of kernels' best times over their versions, a panel a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.drawing import palette, style
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, add_legend, empty_figure, new_figure
from kernelsweep.judge.history.report import by_kernel, headline
from kernelsweep.judge.history.versions import Version

TITLE = "Best times over the versions"
MOST_COLUMNS = 3
PANEL_IN = 1.6
# A panel shows the latest versions.
MOST_VERSIONS = 12
# The names of more versions than this are turned.
MOST_UPRIGHT = 3
_COMMON, _SLOWER = (palette.BLUE, "o"), (palette.VERMILLION, "^")


@style.styled
def draw(versions: Sequence[Version], provenance: str, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each kernel with several versions: the best time of each, with its 95% interval.

    A version that is slower or broken is marked. One without a right point has no dot. The axis does not begin at 0.
    """
    timed = by_kernel([version for version in versions if version.row])
    shown = {kernel: of[-MOST_VERSIONS:] for kernel, of in timed.items() if len(of) > 1}
    caption = f"{provenance}. Bars: 95% intervals. A star: files differed from the commit."
    frame = Frame(width, TITLE, headline(versions), caption)
    if not shown:
        return empty_figure(frame, "No kernel was measured in two versions.")
    columns = min(len(shown), MOST_COLUMNS)
    rows = math.ceil(len(shown) / columns)
    figure = new_figure(frame, PANEL_IN * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (kernel, of_kernel) in zip(grid.flat, shown.items(), strict=False):
        _panel(axes, of_kernel)
        axes.set_title(kernel, loc="left")
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("best time (µs)")
    looks = {"as the version before, or faster, or undecided": _COMMON, "slower, or what was best is broken": _SLOWER}
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=4, linestyle="none", label=name)
        for name, (colour, marker) in looks.items()
    ]
    add_legend(figure, handles, is_above=True)
    return figure


def _panel(axes: Axes, versions: Sequence[Version]) -> None:
    times = [[float(version.row[name]) for name in ("time_us", "time_low_us", "time_high_us")] for version in versions]
    axes.plot(range(len(versions)), [time for time, _, _ in times], color=palette.GREY, linewidth=0.6, zorder=1)
    for place, (version, (time, low, high)) in enumerate(zip(versions, times, strict=True)):
        colour, marker = _SLOWER if version.is_worse else _COMMON
        axes.vlines(place, low, high, color=colour, linewidth=1.0, zorder=2)
        axes.plot([place], [time], color=colour, marker=marker, markersize=4, zorder=3)
    turned = len(versions) > MOST_UPRIGHT
    axes.set_xticks(
        range(len(versions)),
        [version.label for version in versions],
        rotation=45 if turned else 0,
        ha="right" if turned else "center",
    )
    axes.set_xlim(-0.5, len(versions) - 0.5)
    axes.grid(axis="y", color=palette.GRID_GREY, linewidth=0.5)
    axes.margins(y=0.15)
