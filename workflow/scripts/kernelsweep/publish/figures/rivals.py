"""The speedup of each kernel's fastest configuration over a library's reduction, against array size.

A panel for each element type and cache state. The library is the first of the study's rivals; beside the kernels are
the other libraries, and kernels that only read, which are limits for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import at_reference, timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text, reference_text, size_text
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Legend,
    Width,
    empty_figure,
    panels_above_a_legend,
    size_axis,
)

FIGURE = Declaration(
    title="Against a library's reduction",
    purpose="speedup over a library's reduction",
    needs=("times", "libraries"),
)
PANEL_IN = {TWO_COLUMNS: 2.3, ONE_COLUMN: 1.25}
PANELS_A_ROW = 2
CACHES = ("cold", "hot")
FREE = ("array_size", "cache", "dtype", "block_size")
LEGEND_TITLE = "kernel, then libraries, then limits"
# A line of two sizes says less than the table.
LEAST_SIZES = 3
# The axis begins at a multiple of this.
TICK = 0.25
# A size that is nearer by ratio to a smaller one is left out: their dots would meet.
NEAREST = 1.01


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each element type and cache state in which the first rival has times of several array sizes.

    A size without a time is a gap in its line.
    """
    study = data.settings
    caption = _caption(data)
    speedups = _speedups(data)
    if speedups.empty:
        return empty_figure(Frame(width, data.title, "No library to compare with.", caption), _why_nothing(data))
    dtypes = sorted(speedups["dtype"].unique(), key=lambda dtype: (dtype != study["reference"]["dtype"], dtype))
    places = [place for place in product(dtypes, CACHES) if not _at(speedups, place).empty]
    lines = list(_lines(study, speedups))
    frame = Frame(width, data.title, _message(study, speedups), caption)
    legend = Legend([look["label"] for _, look in lines], LEGEND_TITLE)
    panels = panels_above_a_legend(frame, legend, len(places), PANELS_A_ROW, PANEL_IN[width])
    for axes, place in zip(panels.grid[0], places, strict=True):
        _draw_panel(axes, lines, _at(speedups, place))
        axes.set_title(", ".join(place) + " cache", loc="left")
        axes.set_ylim(speedups["speedup"].min() // TICK * TICK, speedups["speedup"].max() * 1.05)
    panels.label_x_at_the_bottom()
    for number in panels.left:
        panels.grid[0][number].set_ylabel(f"speedup over {study['rivals'][0]} (×)")
    panels.draw_legend(panels.grid[0][0].get_lines())
    return panels.figure


def _speedups(data: StudyData) -> pandas.DataFrame:
    """The first library's time over the fastest time of each kernel and library, where both have one.

    Columns: kernel, dtype, cache, array_size, speedup.
    """
    study = data.settings
    rows = timed(at_reference(study, data.device_rows, free=FREE), data.device)
    sizes = pandas.Series(sorted(rows["array_size"].unique()), dtype="int64")
    rows = rows[rows["array_size"].isin(sizes[~(sizes < NEAREST * sizes.shift())])]
    place = ["dtype", "cache", "array_size"]
    fastest = rows.groupby(["kernel", *place], sort=False)["time_us"].min().reset_index()
    base = fastest[fastest["kernel"].isin(study["rivals"][:1])][[*place, "time_us"]]
    base = base[base.groupby(["dtype", "cache"])["array_size"].transform("count") >= LEAST_SIZES]
    shown = fastest[fastest["kernel"].isin([*_own_kernels(study), *study["rivals"], *study["limits"]])]
    joined = shown.merge(base, on=place, suffixes=("", "_base"))
    return joined.assign(speedup=joined["time_us_base"] / joined["time_us"])


def _at(speedups: pandas.DataFrame, place: tuple[str, str]) -> pandas.DataFrame:
    return speedups[(speedups["dtype"] == place[0]) & (speedups["cache"] == place[1])]


def _own_kernels(study: Mapping[str, Any]) -> list[str]:
    """The kernels that reduce the whole array, without limits, which leave a part of it to the host."""
    return [str(kernel["name"]) for kernel in study["kernels"] if kernel["name"] not in study["limits"]]


def _lines(study: Mapping[str, Any], speedups: pandas.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kernel of each line with its look, in the legend's order."""
    measured = set(speedups["kernel"])
    for index, kernel in enumerate(_own_kernels(study)):
        if kernel in measured:
            yield kernel, {**style.line_look(index), "linewidth": 1.0, "markersize": 3.2, "label": kernel}
    for index, rival in enumerate(study["rivals"]):
        if rival in measured:
            look = {"color": "black", "linewidth": 1.4 if index == 0 else 0.8, "zorder": 1}
            yield rival, {**look, "linestyle": style.DASHES[index % len(style.DASHES)], "label": rival}
    for index, limit in enumerate(study["limits"]):
        if limit in measured:
            look = {"color": style.GREY, "linewidth": 0.8, "zorder": 1}
            yield limit, {**look, "linestyle": style.DASHES[index % len(style.DASHES)], "label": limit}


def _draw_panel(axes: Axes, lines: Sequence[tuple[str, dict[str, Any]]], speedups: pandas.DataFrame) -> None:
    sizes = sorted(int(size) for size in speedups["array_size"].unique())
    for kernel, look in lines:
        # Sizes without a time become NaN, so that the line breaks there.
        values = speedups[speedups["kernel"] == kernel].set_index("array_size")["speedup"].reindex(sizes)
        axes.plot(sizes, values, markeredgecolor="white", markeredgewidth=0.3, **look)
    size_axis(axes, sizes)
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _message(study: Mapping[str, Any], speedups: pandas.DataFrame) -> str:
    """The range of the speedups of each size's fastest kernel, at the reference type and cache state."""
    reference = study["reference"]
    rows = _at(speedups, (reference["dtype"], reference["cache"]))
    fastest = rows[rows["kernel"].isin(_own_kernels(study))].groupby("array_size")["speedup"].max()
    if fastest.empty:
        return "None of the kernels has a time at the reference type and cache state."
    # The sizes of the least and of the largest speedup.
    sizes = list(fastest.sort_values().index)
    least, most = (f"{fastest[size]:.2f} times ({size_text(int(size))})" for size in (sizes[0], sizes[-1]))
    return (
        f"{reference['dtype']}, {reference['cache']} cache: each size's fastest kernel is {least} to {most} "
        f"as fast as {study['rivals'][0]}."
    )


def _why_nothing(data: StudyData) -> str:
    if not data.settings["rivals"]:
        return "No library is measured beside this study's kernels: its rivals are empty."
    if not data.has_times:
        return "This platform has no times of its own."
    return f"{data.settings['rivals'][0]} has no time at the reference operation."


def _caption(data: StudyData) -> str:
    where = reference_text(data.settings, free=FREE)
    return (
        f"{device_text(data.device)}. Reference point: {where}. Each at its fastest block size, unroll factor and grid."
    )
