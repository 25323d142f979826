"""Block size by unroll factor at the reference array size: where each kernel runs best, as heat maps of bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, has_times, timed, undefined_kernels
from kernelsweep.analysis.words import (
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    no_bandwidth,
    reference_text,
    status_key,
    step_name,
)
from kernelsweep.drawing import style
from kernelsweep.drawing.heatmap import Panel, as_panel, draw_panels

EMPTY_BODY_IN = 1.2


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A panel a kernel with several unroll factors; kernels with one share the first panel, a row each.

    Columns are block sizes, cells are annotated with GB/s, one colour scale for all. Failed points are hatched, with a
    letter for their status; combinations outside the sweep stay blank. Of a kernel whose grid size is swept, the
    fastest one is drawn. Published times are for one block size only and are not drawn.
    """
    del published
    rows = at_reference(study, measurements, free=("block_size",))
    rows = rows.assign(bandwidth_gbs=timed(rows, device)["bandwidth_gbs"])
    caption = _caption(rows, study, device)
    if rows["bandwidth_gbs"].isna().all():
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No bandwidth to draw.", caption)
        style.say_missing(figure.subplots(), no_bandwidth(rows, study, device, free=("block_size",)))
        return figure
    cells = _fastest_grids(rows)
    allowed = cells[cells["bandwidth_gbs"].notna() & ~cells["kernel"].isin(undefined_kernels(rows))]
    ranked = allowed.sort_values(["bandwidth_gbs", "kernel", "unroll", "block_size"])
    best = None if ranked.empty else ranked.index[-1]
    return draw_panels(
        study["title"], _message(cells, best), caption, _panels(study, cells, best), "block size (threads)", width_in
    )


def _fastest_grids(rows: pandas.DataFrame) -> pandas.DataFrame:
    """One row for each kernel, unroll factor and block size: the fastest, or the first where none has a time."""
    ordered = rows.sort_values(["bandwidth_gbs", "grid_size", "status"], ascending=[False, True, True])
    return ordered.drop_duplicates(["kernel", "unroll", "block_size"])


def _panels(study: Mapping[str, Any], cells: pandas.DataFrame, best: Any) -> list[Panel]:
    undefined = undefined_kernels(cells)
    column_labels = {size: str(size) for size in sorted(cells["block_size"].unique())}
    panels, single = [], {}
    for kernel in [str(kernel["name"]) for kernel in study["kernels"]]:
        mark = UNDEFINED_MARK if kernel in undefined else ""
        of_kernel = cells[cells["kernel"] == kernel]
        factors = sorted(of_kernel.loc[of_kernel["status"] != "skipped", "unroll"].unique())
        if len(factors) == 1:
            single[kernel, factors[0]] = step_name(kernel, factors[0]) + mark
        elif factors:
            row_labels = {factor: f"×{factor}" for factor in factors}
            title = kernel + mark
            panels.append(
                as_panel(title, of_kernel, ["unroll"], "block_size", row_labels, column_labels, "unroll factor", best)
            )
    if single:
        down = ["kernel", "unroll"]
        panels.insert(0, as_panel("one unroll factor", cells, down, "block_size", single, column_labels, best=best))
    return panels


def _message(cells: pandas.DataFrame, best: Any) -> str:
    if best is None:
        return "Only kernels with undefined behaviour have a time."
    row = cells.loc[best]
    return (
        f"Best: {step_name(row['kernel'], row['unroll'])} with blocks of {row['block_size']} threads,"
        f" {row['bandwidth_gbs']:,.0f} GB/s."
    )


def _caption(rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=("block_size",))
    text = (
        f"{device_text(device)}. Reference point: {where}. Cells: bandwidth in GB/s, the best outlined;"
        " blank: not in the sweep."
    )
    other_grids = rows.drop(_fastest_grids(rows).index)
    if not other_grids.empty:
        text += " Where the grid size is swept too: the fastest grid."
        hidden = failures_text(list(other_grids.loc[other_grids["status"] != "skipped", "status"]))
        text += f" Failed at the others: {hidden}." if has_times(device) and hidden else ""
    failed = sorted(set(rows["status"]) - {"ok"})
    if has_times(device) and failed:
        text += f" Hatched: {status_key(failed)}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
