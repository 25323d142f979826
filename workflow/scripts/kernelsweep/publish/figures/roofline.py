"""The roofline: the work that a study's problem names, under the roofs of the device's memory and arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.places import at_place, kernel_axes, place_axes
from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.roofs import arithmetic_kinds, arithmetic_of
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.labelled_points import POINTS_IN, points_figure
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.drawing.value_axis import logarithmic
from kernelsweep.platforms.arithmetic_peak import arithmetic_peak_gflops, share_of_nearest_peak, why_unknown
from kernelsweep.publish.swept_axes import no_times, place_caption

FIGURE = Declaration(
    title="Roofline",
    purpose="performance against arithmetic intensity",
    needs=("times",),
)
# The factor by which the axes go beyond the outermost points.
ROOM = 1.6
# How far left of the memory's and the arithmetic's meeting the horizontal axis begins at the latest.
BEFORE_RIDGE = 4.0
# The length of the horizontal axis, at least.
AXIS_IN = 2.9
AXIS_LABELS = ("flops for each byte of the problem's work (logarithmic)", "GFLOP/s (logarithmic)")


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A point for each kernel and rival, the fastest with each kind of arithmetic, logarithmic both ways.

    The bytes are those that the problem has to move once: a kernel that moves more lies the lower.
    """
    roofs = {kind: arithmetic_peak_gflops(data.device, kind) for kind in arithmetic_kinds(data)}
    caption = _caption(data, roofs)
    points = _points(data)
    if points.empty:
        has_times = not timed(data.device_rows, data.device).empty
        reason = "The problem's work names no bytes, or no flops." if has_times else no_times(data)
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No roofline to draw.", caption), reason)
    frame = Frame(width, FIGURE.heading(data.title), _message(points, data), caption)
    return points_figure(points, frame, AXIS_LABELS, lambda axes: _scale(axes, points, roofs, data.device))


def _points(data: StudyData) -> pandas.DataFrame:
    """A row for each point: label, x (flops a byte), y (10^9 flops a second), arithmetic."""
    reference = data.settings["reference"]
    place = {axis: reference[axis] for axis in place_axes(data.settings)}
    rows = timed(at_place(data.device_rows, place), data.device)
    rows = rows[rows["gflops"].notna() & rows["bandwidth_gbs"].notna()]
    rows = rows[~rows["kernel"].isin(undefined_kernels(data.measurements))]
    several = len(arithmetic_kinds(data)) > 1
    names = [*data.kernel_names, *data.settings["rivals"]]
    found = []
    for name in names:
        fastest: dict[str | None, Mapping[str, Any]] = {}
        for row in rows[rows["kernel"] == name].sort_values("time_us").to_dict("records"):
            known = {str(axis): value for axis, value in row.items() if not pandas.isna(value)}
            fastest.setdefault(arithmetic_of({**reference, **known}, data), known)
        for kind, row in fastest.items():
            label = f"{name}, {kind}" if several and kind else name
            intensity = row["gflops"] / row["bandwidth_gbs"]
            throughput = {"bandwidth_gbs": row["bandwidth_gbs"], "gflops": row["gflops"]}
            found.append({"label": label, "x": intensity, "y": row["gflops"], "arithmetic": kind, **throughput})
    return pandas.DataFrame(found, columns=["label", "x", "y", "arithmetic", "bandwidth_gbs", "gflops"])


def _scale(axes: Axes, points: pandas.DataFrame, roofs: Mapping[str, float | None], device: Mapping[str, Any]) -> None:
    peak = device["peak_bandwidth_gbs"]
    known = {kind: gflops for kind, gflops in roofs.items() if gflops}
    lowest, highest = points["x"].min() / ROOM, points["x"].max() * ROOM
    if peak and known:
        ridges = [gflops / peak for gflops in known.values()]
        lowest, highest = min(lowest, min(ridges) / BEFORE_RIDGE), max(highest, max(ridges) * BEFORE_RIDGE)
    logarithmic(axes, lowest, highest, AXIS_IN)
    low, high = axes.get_xlim()
    tops = [points["y"].max(), *known.values()]
    if peak:
        ends = numpy.array([low, min(high, max(known.values()) / peak) if known else high])
        axes.plot(ends, peak * ends, color=palette.BLACK, linewidth=1.0, zorder=1)
        tops.append(peak * ends[1])
        axes.annotate(
            f"memory: {peak:,.0f} GB/s", (low, peak * low), (18, 0), textcoords="offset points", ha="left", va="bottom"
        )
    for kind, gflops in known.items():
        start = gflops / peak if peak else low
        axes.plot([start, high], [gflops, gflops], color=palette.BLACK, linewidth=1.0, zorder=1)
        axes.annotate(
            f"{kind}: {gflops:,.0f} GFLOP/s", (start, gflops), (3, -3), textcoords="offset points", ha="left", va="top"
        )
    logarithmic(axes, points["y"].min() / ROOM, max(tops) * ROOM, POINTS_IN, vertical=True)


def _message(points: pandas.DataFrame, data: StudyData) -> str:
    shares = [
        share_of_nearest_peak(row["bandwidth_gbs"], row["gflops"], row["arithmetic"], data.device)
        for row in points.to_dict("records")
    ]
    known = [(share, of, label) for (share, of), label in zip(shares, points["label"], strict=True) if share]
    if not known:
        return f"Fastest: {points['label'].iloc[int(points['y'].argmax())]}."
    share, of, label = max(known)
    return f"Nearest to its roof: {label}, at {100 * share:.0f}% of the peak of {of}."


def _caption(data: StudyData, roofs: Mapping[str, float | None]) -> str:
    meaning = (
        "Each point: the fastest configuration. Its flops and bytes are those of the problem's work, each byte once."
        " Lines: the theoretical peaks of memory and arithmetic."
    )
    unknown = [why_unknown(data.device, kind) for kind, gflops in roofs.items() if gflops is None]
    return " ".join([place_caption(data, kernel_axes(data.settings), meaning), *unknown])
