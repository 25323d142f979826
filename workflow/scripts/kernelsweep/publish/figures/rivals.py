"""How many times as fast as a library's reduction each kernel is at its fastest configuration, against array size.

A panel an element type and cache state. The library is the first of the study's rivals; beside the kernels are the
others, and the kernels that only read, which are the limits of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, has_times, timed
from kernelsweep.analysis.words import device_text, reference_text, size_text
from kernelsweep.drawing import style

PANEL_IN = 2.3
EMPTY_BODY_IN = 1.2
# A panel in one column, where they stand one above the other.
NARROW_PANEL_IN = 1.25
CACHES = ("cold", "hot")
FREE = ("array_size", "cache", "dtype", "block_size")
LEGEND_TITLE = "kernel, then libraries, then limits"
# A line of two sizes says less than the table.
LEAST_SIZES = 3
# The axis begins at a multiple of this.
TICK = 0.25
# Sizes that are nearer by ratio to a smaller one would have their dots on its own.
NEAREST = 1.01


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A panel for each element type and cache state in which the first rival has times of several array sizes.

    measurements  with the rows of rivals

    A size without a time is a gap in its line.
    """
    del published
    caption = _caption(study, device)
    speedups = _speedups(study, measurements, device)
    if speedups.empty:
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No library to compare with.", caption)
        style.say_missing(figure.subplots(), _why_nothing(study, device))
        return figure
    dtypes = sorted(speedups["dtype"].unique(), key=lambda dtype: (dtype != study["reference"]["dtype"], dtype))
    places = [place for place in product(dtypes, CACHES) if not _at(speedups, place).empty]
    lines = list(_lines(study, speedups))
    labels = [look["label"] for _, look in lines]
    message = _message(study, speedups)
    legend_in = style.legend_below_in(labels, width_in, LEGEND_TITLE)
    columns = 1 if style.is_narrow(width_in) else min(2, len(places))
    panel_in = NARROW_PANEL_IN if style.is_narrow(width_in) else PANEL_IN
    heights = [*[panel_in] * -(-len(places) // columns), legend_in]
    figure = style.new_figure(width_in, sum(heights), study["title"], message, caption)
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(grid[index // columns, index % columns]) for index in range(len(places))]
    for axes, place in zip(panels, places, strict=True):
        _panel(axes, lines, _at(speedups, place))
        axes.set_title(", ".join(place) + " cache", loc="left")
        axes.set_ylim(speedups["speedup"].min() // TICK * TICK, speedups["speedup"].max() * 1.05)
    for axes in panels[:-columns]:
        axes.set_xlabel("")
    for axes in panels[::columns]:
        axes.set_ylabel(f"speedup over {study['rivals'][0]} (×)")
    style.legend_below(figure.add_subplot(grid[-1, :]), panels[0].get_lines(), width_in, LEGEND_TITLE)
    return figure


def _speedups(study: Mapping[str, Any], measurements: pandas.DataFrame, device: Mapping[str, Any]) -> pandas.DataFrame:
    """The first rival's time over that of everything's fastest configuration, where both have one.

    Columns: kernel, dtype, cache, array_size, speedup.
    """
    rows = timed(at_reference(study, measurements, free=FREE), device)
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
    """The kernels that reduce the whole array; those that are limits leave a part of it to the host."""
    return [str(kernel["name"]) for kernel in study["kernels"] if kernel["name"] not in study["limits"]]


def _lines(study: Mapping[str, Any], speedups: pandas.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """What has a line, in the legend's order, and how it looks."""
    there = set(speedups["kernel"])
    for index, kernel in enumerate(_own_kernels(study)):
        if kernel in there:
            look = {"color": style.LINE_COLOURS[index % len(style.LINE_COLOURS)], "linewidth": 1.0, "markersize": 3.2}
            look["marker"] = style.MARKERS[index % len(style.MARKERS)]
            yield kernel, {**look, "linestyle": style.DASHES[index % len(style.DASHES)], "label": kernel}
    for index, rival in enumerate(study["rivals"]):
        if rival in there:
            look = {"color": "black", "linewidth": 1.4 if index == 0 else 0.8, "zorder": 1}
            yield rival, {**look, "linestyle": style.DASHES[index % len(style.DASHES)], "label": rival}
    for index, limit in enumerate(study["limits"]):
        if limit in there:
            look = {"color": style.GREY, "linewidth": 0.8, "zorder": 1}
            yield limit, {**look, "linestyle": style.DASHES[index % len(style.DASHES)], "label": limit}


def _panel(axes: Axes, lines: Sequence[tuple[str, dict[str, Any]]], speedups: pandas.DataFrame) -> None:
    sizes = sorted(int(size) for size in speedups["array_size"].unique())
    for kernel, look in lines:
        # Sizes without a time become NaN, so that the line breaks there instead of bridging the gap.
        values = speedups[speedups["kernel"] == kernel].set_index("array_size")["speedup"].reindex(sizes)
        axes.plot(sizes, values, markeredgecolor="white", markeredgewidth=0.3, **look)
    style.size_axis(axes, sizes)
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _message(study: Mapping[str, Any], speedups: pandas.DataFrame) -> str:
    """The range of what each size's fastest kernel reaches, at the reference type and cache state."""
    reference = study["reference"]
    rows = _at(speedups, (reference["dtype"], reference["cache"]))
    fastest = rows[rows["kernel"].isin(_own_kernels(study))].groupby("array_size")["speedup"].max()
    if fastest.empty:
        return "None of the kernels has a time at the reference type and cache state."
    # By their speedup: the sizes of the least and of the most.
    sizes = list(fastest.sort_values().index)
    least, most = (f"{fastest[size]:.2f} times ({size_text(int(size))})" for size in (sizes[0], sizes[-1]))
    return (
        f"{reference['dtype']}, {reference['cache']} cache: each size's fastest kernel is {least} to {most} "
        f"as fast as {study['rivals'][0]}."
    )


def _why_nothing(study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    if not study["rivals"]:
        return "No library is measured beside this study's kernels: its rivals are empty."
    if not has_times(device):
        return "This platform has no times of its own."
    return f"{study['rivals'][0]} has no time at the reference operation."


def _caption(study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=FREE)
    return f"{device_text(device)}. Reference point: {where}. Each at its fastest block size, unroll factor and grid."
