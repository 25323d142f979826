"""Bandwidth by operation and element type, a heat map for each ladder step: does it matter what is combined?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import no_bandwidth
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import (
    Panel,
    PanelAxis,
    Shades,
    as_panel,
    bandwidth_caption,
    bandwidth_figure,
    bandwidths,
)
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width
from kernelsweep.drawing.style import styled

FIGURE = Declaration(
    title="By operation and type",
    purpose="bandwidth by operation and element type",
    needs=("times",),
)
FREE = ("dtype", "operation")
# Differences from this operation are coloured; the scale goes at least this far to both sides (%).
BASE, LEAST_DIFFERENCE = "sum", 2.0


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each ladder step: operations across, so that a row says what they change; element types down.

    Cells are annotated with GB/s, and coloured by the difference from a sum of the same type. Failed points are
    hatched, with a letter for their status; combinations outside the sweep stay blank.
    """
    steps = data.steps
    rows = bandwidths(data.at_reference(*FREE), data.device)
    of_steps = [step.rows(rows) for step in steps]
    of_steps = [_with_differences(shown) for shown in of_steps]
    drawn = pandas.concat(of_steps).drop_duplicates()
    cells = f"each input byte counted once, coloured by the difference from the {BASE} in their row"
    caption = bandwidth_caption(data, drawn, FREE, cells=cells, grids=grids_text(steps))
    labels = step_labels(steps, undefined_kernels(drawn))
    panels = [_panel(label, shown, drawn) for label, shown in zip(labels, of_steps, strict=True) if not shown.empty]
    reason = no_bandwidth(drawn, data.settings, data.device, FREE)
    frame = Frame(width, FIGURE.heading(data.title), _message(steps, of_steps), caption)
    differences = drawn["difference"].abs().dropna()
    furthest = max(LEAST_DIFFERENCE, *differences) if len(differences) else LEAST_DIFFERENCE
    shades = Shades(f"% over {BASE}", -furthest, furthest, ("PuOr", 0.2, 0.8))
    return bandwidth_figure(frame, panels, "operation", reason, shades)


def _with_differences(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows with a column difference: how much larger the bandwidth is than the base operation's (%)."""
    bases = rows[rows["operation"] == BASE].set_index("dtype")["bandwidth_gbs"]
    return rows.assign(difference=100 * (rows["bandwidth_gbs"] / rows["dtype"].map(bases) - 1))


def _panel(label: str, shown: pandas.DataFrame, drawn: pandas.DataFrame) -> Panel:
    dtypes = {dtype: dtype for dtype in sorted(set(drawn["dtype"]), key=_width)}
    operations = {
        operation: operation for operation in sorted(set(drawn["operation"]), key=lambda name: (name != BASE, name))
    }
    down, across = PanelAxis(["dtype"], dtypes, "element type"), PanelAxis(["operation"], operations)
    return as_panel(label, shown, down, across, shaded="difference")


def _width(dtype: str) -> tuple[bool, int]:
    """Integers before floats, and the narrower first."""
    return np.dtype(dtype).kind == "f", np.dtype(dtype).itemsize


def _message(steps: Sequence[Step], of_steps: Sequence[pandas.DataFrame]) -> str:
    """The largest difference between operations within one kernel and element type."""
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
