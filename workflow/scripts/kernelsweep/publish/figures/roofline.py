"""The roofline: the work that a study's problem names, under the roofs of the device's memory and arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.places import at_place, kernel_axes, place_axes
from kernelsweep.analysis.reference import arithmetic_kinds, timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, add_legend, empty_figure, new_figure
from kernelsweep.drawing.series import line_handles, on_grid
from kernelsweep.drawing.value_axis import logarithmic
from kernelsweep.platforms.arithmetic_peak import arithmetic_peak_gflops, share_of_nearest_peak, why_unknown
from kernelsweep.publish.swept_axes import no_times, place_caption
from kernelsweep.results import arithmetic_of

FIGURE = Declaration(
    title="Roofline",
    purpose="performance against arithmetic intensity",
    needs=("times",),
)
BODY_IN = 2.6
# The factor by which the axes go beyond the outermost points.
ROOM = 1.6
# How far left of the memory's and the arithmetic's meeting the horizontal axis begins at the latest.
BEFORE_RIDGE = 4.0
# The part of the width that the horizontal axis has, at least.
AXIS_SHARE = 0.45


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point for each kernel and rival, the fastest with each kind of arithmetic, logarithmic both ways.

    The bytes are those that the problem has to move once: a kernel that moves more lies the lower. The legend has the
    points from the highest down.
    """
    roofs = {kind: arithmetic_peak_gflops(data.device, kind) for kind in arithmetic_kinds(data.kernel_rows)}
    heading, caption = FIGURE.heading(data.title), _caption(data, roofs)
    points = _points(data).sort_values("gflops", ascending=False)
    if points.empty:
        has_times = not timed(data.device_rows, data.device).empty
        reason = "The problem's work names no bytes, or no flops." if has_times else no_times(data)
        return empty_figure(Frame(width, heading, "No roofline to draw.", caption), reason)
    figure = new_figure(Frame(width, heading, _message(points, data), caption), BODY_IN)
    axes = figure.subplots()
    labels, numbers = list(points["label"]), range(len(points))
    seaborn.scatterplot(
        points,
        x="intensity",
        y="gflops",
        hue="label",
        style="label",
        palette=[style.colour(number) for number in numbers],
        markers=[style.marker(number) for number in numbers],
        s=22,
        linewidth=0,
        zorder=3,
        legend=False,
        ax=axes,
    )
    on_grid(axes)
    _draw_roofs(axes, points, roofs, data.device, AXIS_SHARE * width.inches)
    axes.set(xlabel="flops for each byte of the problem's work", ylabel="GFLOP/s")
    add_legend(figure, line_handles(labels, linestyle="none"))
    return figure


def _points(data: StudyData) -> pandas.DataFrame:
    """A row for each point: label, intensity (flops a byte), gflops, bandwidth_gbs, arithmetic."""
    place = {axis: data.settings.reference[axis] for axis in place_axes(data.settings)}
    rows = timed(at_place(data.device_rows, place), data.device)
    rows = rows[rows["gflops"].notna() & rows["bandwidth_gbs"].notna()]
    rows = rows[~rows["kernel"].isin(undefined_kernels(data.measurements))]
    rows = rows[rows["kernel"].isin([*data.kernel_names, *data.settings.rival_names])].sort_values("time_us")
    kinds = [arithmetic_of(row) for row in rows.to_dict("records")]
    rows = rows.assign(
        arithmetic=pandas.Series(kinds, rows.index, "object"),
        intensity=rows["gflops"] / rows["bandwidth_gbs"],
    )
    rows = rows.drop_duplicates(["kernel", "arithmetic"])
    words = ", " + rows["arithmetic"].astype("string") if len(arithmetic_kinds(data.kernel_rows)) > 1 else ""
    return rows.assign(label=(rows["kernel"] + words).fillna(rows["kernel"]))


def _draw_roofs(
    axes: Axes, points: pandas.DataFrame, roofs: Mapping[str, float | None], device: Mapping[str, Any], length_in: float
) -> None:
    """The axes, and the roofs: memory's up to the highest of arithmetic's."""
    peak = device["peak_bandwidth_gbs"]
    known = {kind: gflops for kind, gflops in roofs.items() if gflops}
    lowest, highest = points["intensity"].min() / ROOM, points["intensity"].max() * ROOM
    if peak and known:
        lowest = min(lowest, min(known.values()) / peak / BEFORE_RIDGE)
        highest = max(highest, max(known.values()) / peak * BEFORE_RIDGE)
    logarithmic(axes, lowest, highest, length_in)
    low, high = axes.get_xlim()
    tops = [points["gflops"].max(), *known.values()]
    line: Any = {"color": palette.BLACK, "linewidth": 1.0, "zorder": 1}
    beside: Any = {"textcoords": "offset points", "ha": "left"}
    if peak:
        ends = numpy.array([low, min(high, max(known.values()) / peak) if known else high])
        axes.plot(ends, peak * ends, **line)
        tops.append(peak * ends[1])
        axes.annotate(f"memory: {peak:,.0f} GB/s", (low, peak * low), (18, 0), va="bottom", **beside)
    for kind, gflops in known.items():
        start = gflops / peak if peak else low
        axes.plot([start, high], [gflops, gflops], **line)
        axes.annotate(f"{kind}: {gflops:,.0f} GFLOP/s", (start, gflops), (3, -3), va="top", **beside)
    logarithmic(axes, points["gflops"].min() / ROOM, max(tops) * ROOM, BODY_IN, vertical=True)


def _message(points: pandas.DataFrame, data: StudyData) -> str:
    known = []
    for row in points.to_dict("records"):
        share, of = share_of_nearest_peak(row["bandwidth_gbs"], row["gflops"], row["arithmetic"], data.device)
        known += [(share, of, row["label"])] if share else []
    if not known:
        return f"Fastest: {points['label'].iloc[0]}."
    share, of, label = max(known)
    return f"Nearest to its roof: {label}, at {100 * share:.0f}% of the peak of {of}."


def _caption(data: StudyData, roofs: Mapping[str, float | None]) -> str:
    meaning = (
        "Each point: the fastest configuration. Its flops and bytes are those of the problem's work, each byte once."
        " Lines: the theoretical peaks of memory and arithmetic. Both axes are logarithmic."
    )
    unknown = [why_unknown(data.device, kind) for kind, gflops in roofs.items() if gflops is None]
    return " ".join([place_caption(data, kernel_axes(data.settings), meaning), *unknown])
