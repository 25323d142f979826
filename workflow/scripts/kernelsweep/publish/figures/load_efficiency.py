"""Time against the efficiency of loads from global memory: how much of the story is coalescing?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
ROOM = 1.25
EFFICIENCY = "global_load_efficiency"


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    metrics: Metrics,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A point a ladder step: its load efficiency, from 0 to 100%, and its time, logarithmic."""
    del published
    found = step_metrics(study, metrics, measurements, device)
    steps = ladder_steps(study, device)
    rows = timed(at_reference(study, measurements), device)
    undefined = undefined_kernels(measurements)
    labels = step_labels(steps, undefined)
    points = [
        (efficiency, float(step.rows(rows)["time_us"].iloc[0]), label)
        for step, label, efficiency in zip(steps, labels, by_step(found, EFFICIENCY, "value", len(steps)), strict=True)
        if pandas.notna(efficiency) and not step.rows(rows).empty
    ]
    caption = _caption(found, study, device, undefined)
    if not points:
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "Nothing to draw.", caption)
        style.say_missing(figure.subplots(), _reason(found, device))
        return figure
    efficiencies, times, names = zip(*points, strict=True)
    figure, axes, below = panel_and_names(width_in, BODY_IN, study["title"], _message(points), caption, names)
    axes.set_xlim(0, 102)
    logarithmic(axes, True, min(times) / ROOM, max(times) * ROOM)
    axes.set_xlabel("global load efficiency (%)")
    axes.set_ylabel("time (µs, logarithmic)")
    axes.grid(color=style.GRID_GREY, linewidth=0.4)
    axes.set_axisbelow(True)
    draw_points(axes, efficiencies, times, names, below, width_in)
    return figure


def _message(points: list[tuple[float, float, str]]) -> str:
    """From the least efficient step to the fastest."""
    (low, slow, first), (high, fast, last) = min(points), min(points, key=lambda point: point[1])
    return f"{first}: {low:.1f}% and {slow:.4g} µs; {last}: {high:.1f}% and {fast:.4g} µs."


def _reason(found: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    if not has_times(device):
        return f"No times: {device_text(device)}."
    if found.empty or found.loc[found["metric"] == EFFICIENCY, "value"].isna().all():
        return why_none(found, [EFFICIENCY], device)
    return "No step has both a time and counters at the reference point."


def _caption(found: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], undefined: set[str]) -> str:
    steps = ladder_steps(study, device)
    texts = [f"{device_text(device)}. Reference point: {reference_text(study)}.{grids_text(steps)}"]
    texts.append("Efficiency: of the bytes in the sectors that loads touch, those that threads asked for.")
    if not found.empty:
        texts.append(f"Counters: {sources(found)}. Time: measured without the profiler.")
    if undefined & {step.kernel for step in steps}:
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
