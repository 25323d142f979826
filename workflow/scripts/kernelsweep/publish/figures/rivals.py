"""The speedup of the fastest kernel over a library's reduction, against array size.

A panel for each element type and cache state. The library is the first of the study's rivals; beside the fastest kernel
of each size are the other libraries, and the fastest of the kernels that only read, which are a limit for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.reference import at_reference, timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text, list_texts, reference_text, size_text
from kernelsweep.drawing import palette, style
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
from kernelsweep.drawing.series import draw_lines, line_handles

FIGURE = Declaration(
    title="Against a library's reduction",
    purpose="speedup over a library's reduction",
    needs=("times", "libraries"),
)
PANEL_IN = {TWO_COLUMNS: 2.3, ONE_COLUMN: 1.25}
PANELS_A_ROW = 2
CACHES = ("cold", "hot")
FREE = ("array_size", "cache", "dtype", "block_size")
OURS, READING = "the fastest kernel", "reading alone"
READING_LOOK: Any = {"color": palette.GREY, "linewidth": 1.0}
# More lines could not be told apart: of the libraries, the fastest ones at the reference point are drawn.
MOST_LIBRARIES = 3
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
    speedups = _speedups(data)
    caption = _caption(data, speedups)
    if speedups.empty:
        return empty_figure(
            Frame(width, FIGURE.heading(data.title), "No library to compare with.", caption), _why_nothing(data)
        )
    dtypes = sorted(speedups["dtype"].unique(), key=lambda dtype: (dtype != study["reference"]["dtype"], dtype))
    places = [place for place in product(dtypes, CACHES) if not _at(speedups, place).empty]
    measured = set(speedups["kernel"])
    names = [name for name in (OURS, *_libraries(study, speedups)) if name in measured]
    reading = [READING] if READING in measured else []
    frame = Frame(width, FIGURE.heading(data.title), _message(study, speedups), caption)
    drawn = speedups.loc[speedups["kernel"].isin([*names, *reading]), "speedup"]
    legend = Legend([*names, *reading])
    panels = panels_above_a_legend(frame, legend, len(places), PANELS_A_ROW, PANEL_IN[width])
    for axes, place in zip(panels.grid[0], places, strict=True):
        _draw_panel(axes, names, _at(speedups, place))
        axes.set_title(", ".join(place) + " cache", loc="left")
        axes.set_ylim(drawn.min() // TICK * TICK, drawn.max() * 1.05)
    panels.label_x_at_the_bottom()
    for number in panels.left:
        panels.grid[0][number].set_ylabel(f"speedup over {study['rivals'][0]} (×)")
    panels.draw_legend([*line_handles(names), *(Line2D([], [], label=name, **READING_LOOK) for name in reading)])
    return panels.figure


def _speedups(data: StudyData) -> pandas.DataFrame:
    """The first library's time over that of the fastest kernel, of each library and of reading alone, where both exist.

    Columns: kernel (the line's name), dtype, cache, array_size, speedup.
    """
    study = data.settings
    rows = timed(at_reference(study, data.device_rows, free=FREE), data.device)
    sizes = pandas.Series(sorted(rows["array_size"].unique()), dtype="int64")
    rows = rows[rows["array_size"].isin(sizes[~(sizes < NEAREST * sizes.shift())])]
    place = ["dtype", "cache", "array_size"]
    fastest = rows.groupby(["kernel", *place], sort=False)["time_us"].min().reset_index()
    base = fastest[fastest["kernel"].isin(study["rivals"][:1])][[*place, "time_us"]]
    base = base[base.groupby(["dtype", "cache"])["array_size"].transform("count") >= LEAST_SIZES]
    groups = dict.fromkeys(_own_kernels(study), OURS) | {rival: rival for rival in study["rivals"]}
    groups |= {name: READING for name in data.kernel_names if name in study["limits"]}
    shown = fastest[fastest["kernel"].isin(groups)]
    shown = shown.assign(kernel=shown["kernel"].map(groups)).groupby(["kernel", *place], as_index=False).min()
    joined = shown.merge(base, on=place, suffixes=("", "_base"))
    return joined.assign(speedup=joined["time_us_base"] / joined["time_us"])


def _at(speedups: pandas.DataFrame, place: tuple[str, str]) -> pandas.DataFrame:
    return speedups[(speedups["dtype"] == place[0]) & (speedups["cache"] == place[1])]


def _own_kernels(study: Mapping[str, Any]) -> list[str]:
    """The kernels that reduce the whole array, without limits, which leave a part of it to the host."""
    return [str(kernel["name"]) for kernel in study["kernels"] if kernel["name"] not in study["limits"]]


def _libraries(study: Mapping[str, Any], speedups: pandas.DataFrame) -> list[str]:
    """The libraries that are drawn, in the study's order: the first, and those that are fastest at the reference."""
    reference = study["reference"]
    rows = _at(speedups, (reference["dtype"], reference["cache"]))
    there = rows[(rows["array_size"] == reference["array_size"]) & rows["kernel"].isin(study["rivals"][1:])]
    fastest = there.nlargest(MOST_LIBRARIES - 1, "speedup")["kernel"]
    return [rival for rival in study["rivals"] if rival in {study["rivals"][0], *fastest}]


def _draw_panel(axes: Axes, names: Sequence[str], speedups: pandas.DataFrame) -> None:
    draw_lines(axes, speedups, "array_size", "speedup", "kernel", names)
    reading = speedups[speedups["kernel"] == READING].sort_values("array_size")
    axes.plot(reading["array_size"], reading["speedup"], **READING_LOOK)
    size_axis(axes, sorted(int(size) for size in speedups["array_size"].unique()))


def _message(study: Mapping[str, Any], speedups: pandas.DataFrame) -> str:
    """The range of the speedups of each size's fastest kernel, at the reference type and cache state."""
    reference = study["reference"]
    rows = _at(speedups, (reference["dtype"], reference["cache"]))
    fastest = rows[rows["kernel"] == OURS].set_index("array_size")["speedup"]
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


def _caption(data: StudyData, speedups: pandas.DataFrame) -> str:
    where = reference_text(data.settings, free=FREE)
    text = (
        f"{device_text(data.device)}. Reference point: {where}. Each at its fastest block size, unroll factor and grid."
    )
    if speedups.empty:
        return text
    slower = [rival for rival in data.settings["rivals"] if rival not in _libraries(data.settings, speedups)]
    left_out = [rival for rival in slower if rival in set(speedups["kernel"])]
    return text + (f" Slower libraries are in the table: {list_texts(left_out)}." if left_out else "")
