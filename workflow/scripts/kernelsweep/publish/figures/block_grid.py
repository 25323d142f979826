"""Block size by grid size at the reference array size, as heat maps: how many blocks, of how many threads?"""

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
    """A panel for each kernel (and unroll factor) whose grid size is swept; the others need as many blocks as they do.

    Rows are grid sizes, said as multiples of the device's multiprocessors where they are ones; columns are the kernel's
    block sizes. Cells are annotated with GB/s, one colour scale for all, and the best is outlined. Failed points are
    hatched, with a letter for their status; combinations outside the sweep stay blank.
    """
    del published
    rows = _with_grids(at_reference(study, measurements, free=("block_size",)))
    rows = rows.assign(bandwidth_gbs=timed(rows, device)["bandwidth_gbs"])
    caption = _caption(rows, study, device)
    if rows["bandwidth_gbs"].isna().all():
        reason = no_bandwidth(rows, study, device, free=("block_size",))
        if has_times(device) and rows.empty:
            reason = f"No kernel has several grid sizes at {reference_text(study, free=('block_size',))} in this sweep."
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No bandwidth to draw.", caption)
        style.say_missing(figure.subplots(), reason)
        return figure
    allowed = rows[rows["bandwidth_gbs"].notna() & ~rows["kernel"].isin(undefined_kernels(rows))]
    ranked = allowed.sort_values(["bandwidth_gbs", "kernel", "unroll", "block_size", "grid_size"])
    best = None if ranked.empty else ranked.index[-1]
    panels = _panels(study, rows, device, best)
    return draw_panels(study["title"], _message(rows, device, best), caption, panels, "block size (threads)", width_in)


def _with_grids(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of kernels that ran with several grid sizes at one block size and unroll factor."""
    grids = rows.groupby(["kernel", "unroll", "block_size"])["grid_size"].nunique()
    return rows[rows["kernel"].isin(set(grids[grids > 1].index.get_level_values("kernel")))]


def _panels(study: Mapping[str, Any], rows: pandas.DataFrame, device: Mapping[str, Any], best: Any) -> list[Panel]:
    undefined = undefined_kernels(rows)
    run = rows[rows["status"] != "skipped"]
    panels = []
    for kernel in [str(kernel["name"]) for kernel in study["kernels"]]:
        for unroll in sorted(run.loc[run["kernel"] == kernel, "unroll"].unique()):
            shown = rows[(rows["kernel"] == kernel) & (rows["unroll"] == unroll)]
            grids = {int(grid): _grid_text(int(grid), device) for grid in sorted(shown["grid_size"].unique())}
            # A block size that the kernel does not support has no column.
            blocks = sorted(shown.loc[shown["status"] != "skipped", "block_size"].unique())
            columns = {block: str(block) for block in blocks}
            title = step_name(kernel, int(unroll)) + (UNDEFINED_MARK if kernel in undefined else "")
            shown = shown.assign(grid_size=shown["grid_size"].astype(int))
            panels.append(as_panel(title, shown, ["grid_size"], "block_size", grids, columns, "blocks", best))
    return panels


def _grid_text(grid_size: int, device: Mapping[str, Any]) -> str:
    """A grid size in words: "288", or "264 = 2 × 132" for a multiple of the multiprocessors."""
    times, rest = divmod(grid_size, device["multiprocessors"])
    return f"{grid_size:,}" + ("" if rest or not times else f" = {times} × {device['multiprocessors']}")


def _message(rows: pandas.DataFrame, device: Mapping[str, Any], best: Any) -> str:
    if best is None:
        return "Only kernels with undefined behaviour have a time."
    row = rows.loc[best]
    return (
        f"Best: {step_name(row['kernel'], row['unroll'])} with {_grid_text(int(row['grid_size']), device)} blocks of"
        f" {row['block_size']} threads, {row['bandwidth_gbs']:,.0f} GB/s."
    )


def _caption(rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=("block_size",))
    text = (
        f"{device_text(device)}. Reference point: {where}. Cells: bandwidth in GB/s, the best outlined;"
        f" blank: not in the sweep. {device['multiprocessors']}: the device's multiprocessors."
    )
    failed = sorted(set(rows["status"]) - {"ok"})
    if has_times(device) and failed:
        text += f" Hatched: {status_key(failed)}."
    if undefined_kernels(rows):
        text += f" {UNDEFINED_NOTE}"
    return text
