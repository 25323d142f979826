"""The roofline: operations a second against operations for each byte of memory, under the roof of the memory's peak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, has_times, timed, undefined_kernels
from kernelsweep.analysis.step_metrics import Metrics, by_step, sources, step_metrics, why_none
from kernelsweep.analysis.steps import grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import style
from kernelsweep.drawing.labelled_points import draw_points, logarithmic, panel_and_names

BODY_IN, EMPTY_BODY_IN = 2.6, 1.2
# How far the axes go beyond the outermost points, as factors; and the least range of a logarithmic axis.
ROOM = 1.6
BYTES = "dram_bytes"
MEGA = 1e6


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    metrics: Metrics,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A point a ladder step, logarithmic both ways, and the roof that the memory's peak bandwidth sets.

    An operation is one combination of two elements, and an array has as many as elements: what a kernel must do, not
    what it executes. The bytes are those that the profiler saw moved, the time is the one measured without it.
    """
    del published
    found = step_metrics(study, metrics, measurements, device)
    points = _points(study, measurements, device, found)
    caption = _caption(found, study, device, undefined_kernels(measurements))
    if points.empty:
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No roofline to draw.", caption)
        style.say_missing(figure.subplots(), _reason(found, device))
        return figure
    labels = list(points["label"])
    figure, axes, below = panel_and_names(width_in, BODY_IN, study["title"], _message(points, device), caption, labels)
    low, high = points["intensity"].min() / ROOM, points["intensity"].max() * ROOM
    logarithmic(axes, False, low, high)
    tops = [points["rate"].max()]
    peak = device["peak_bandwidth_gbs"]
    if peak is not None:
        ends = numpy.array(axes.get_xlim())
        tops.append(peak * points["intensity"].max())
        axes.plot(ends, peak * ends, color=style.BLACK, linewidth=1.0, zorder=1)
    logarithmic(axes, True, points["rate"].min() / ROOM, max(tops) * ROOM)
    axes.set_xlabel("operations for each byte that memory moves (logarithmic)")
    axes.set_ylabel("10⁹ operations a second (logarithmic)")
    axes.grid(color=style.GRID_GREY, linewidth=0.4)
    axes.set_axisbelow(True)
    draw_points(axes, list(points["intensity"]), list(points["rate"]), labels, below, width_in)
    return figure


def _points(
    study: Mapping[str, Any], measurements: pandas.DataFrame, device: Mapping[str, Any], found: pandas.DataFrame
) -> pandas.DataFrame:
    """A row a step that has both a time and a number of bytes: label, intensity (1/byte), rate (10^9/s)."""
    steps = ladder_steps(study, device)
    rows = timed(at_reference(study, measurements), device)
    megabytes = by_step(found, BYTES, "value", len(steps))
    labels = step_labels(steps, undefined_kernels(measurements))
    operations = study["reference"]["array_size"]
    points = []
    for step, label, size in zip(steps, labels, megabytes, strict=True):
        times = step.rows(rows)["time_us"]
        if not times.empty and size > 0:
            seconds = float(times.iloc[0]) * 1e-6
            points.append({"label": label, "intensity": operations / (size * MEGA), "rate": operations / seconds / 1e9})
    return pandas.DataFrame(points, columns=["label", "intensity", "rate"])


def _message(points: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    peak = device["peak_bandwidth_gbs"]
    if peak is None:
        return f"Fastest: {points['label'].iloc[int(points['rate'].argmax())]}."
    share = points["rate"] / (peak * points["intensity"])
    best = int(share.argmax())
    return f"Nearest to the memory's roof: {points['label'].iloc[best]}, at {100 * share.iloc[best]:.0f}% of it."


def _reason(found: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    if not has_times(device):
        return f"No times, so no roofline: {device_text(device)}."
    if found.empty or found.loc[found["metric"] == BYTES, "value"].isna().all():
        return why_none(found, [BYTES], device)
    return "No step has both a time and counters at the reference point."


def _caption(found: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], undefined: set[str]) -> str:
    steps = ladder_steps(study, device)
    texts = [f"{device_text(device)}. Reference point: {reference_text(study)}.{grids_text(steps)}"]
    texts.append("An operation combines two elements; an array has as many as elements.")
    if not found.empty:
        texts.append(
            f"Bytes: read from and written to memory. Counters: {sources(found)}. Time: measured without the profiler."
        )
    if device["peak_bandwidth_gbs"] is not None:
        texts.append(f"Line: the memory's theoretical peak, {device['peak_bandwidth_gbs']:,.0f} GB/s.")
    if undefined & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
