"""Bandwidth by operation and element type, a heat map a ladder step: does it matter what is combined?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, has_times, timed, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, no_bandwidth, reference_text, status_key
from kernelsweep.drawing import style
from kernelsweep.drawing.heatmap import Panel, as_panel, draw_panels
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS

EMPTY_BODY_IN = 1.2
FREE = ("dtype", "operation")


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A panel a ladder step: operations across, so that a row says what they change; element types down.

    Cells are annotated with GB/s, one colour scale for all. Failed points are hatched, with a letter for their status;
    combinations outside the sweep stay blank.
    """
    del published
    steps = ladder_steps(study, device)
    rows = at_reference(study, measurements, free=FREE)
    rows = rows.assign(bandwidth_gbs=timed(rows, device)["bandwidth_gbs"])
    of_steps = [step.rows(rows) for step in steps]
    drawn = pandas.concat(of_steps).drop_duplicates()
    caption = _caption(steps, drawn, study, device)
    if drawn["bandwidth_gbs"].isna().all():
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No bandwidth to draw.", caption)
        style.say_missing(figure.subplots(), no_bandwidth(drawn, study, device, free=FREE))
        return figure
    labels = step_labels(steps, undefined_kernels(drawn))
    panels = [_panel(label, shown, drawn) for label, shown in zip(labels, of_steps, strict=True) if not shown.empty]
    return draw_panels(study["title"], _message(steps, of_steps), caption, panels, "operation", width_in)


def _panel(label: str, shown: pandas.DataFrame, drawn: pandas.DataFrame) -> Panel:
    dtypes = {dtype: dtype for dtype in CXX_TYPES if dtype in set(drawn["dtype"])}
    operations = {operation: operation for operation in OPERATIONS if operation in set(drawn["operation"])}
    return as_panel(label, shown, ["dtype"], "operation", dtypes, operations)


def _message(steps: Sequence[Step], of_steps: Sequence[pandas.DataFrame]) -> str:
    """How far operations are apart at most, within one kernel and element type."""
    labels = step_labels(steps)
    spreads = []
    for label, shown in zip(labels, of_steps, strict=True):
        allowed = shown[shown["bandwidth_gbs"].notna() & ~shown["kernel"].isin(undefined_kernels(shown))]
        for dtype, group in allowed.groupby("dtype"):
            if len(group) > 1:
                ordered = group.sort_values(["bandwidth_gbs", "operation"])
                slowest, fastest = ordered.iloc[0], ordered.iloc[-1]
                spread = fastest["bandwidth_gbs"] / slowest["bandwidth_gbs"] - 1
                spreads.append((spread, f"{label}, {dtype}: {fastest['operation']} over {slowest['operation']}"))
    if not spreads:
        return "No kernel and element type has times for two operations."
    spread, where = max(spreads)
    return f"Within a kernel and element type, operations differ by at most {spread:.1%} ({where})."


def _caption(steps: Sequence[Step], rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=FREE)
    text = (
        f"{device_text(device)}. Reference point: {where}.{grids_text(steps)}"
        " Cells: bandwidth in GB/s, each input byte counted once; blank: not in the sweep."
    )
    failed = sorted(set(rows["status"]) - {"ok"})
    if has_times(device) and failed:
        text += f" Hatched: {status_key(failed)}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
