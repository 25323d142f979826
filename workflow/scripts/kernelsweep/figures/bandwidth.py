"""Bandwidth against array size, a line a ladder step, at the reference block size; cold and hot cache side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.figures import style
from kernelsweep.measurements import (
    at_reference,
    device_text,
    has_times,
    ladder_steps,
    no_bandwidth,
    reference_text,
    size_text,
    step_name,
    timed,
    undefined_kernels,
)
from kernelsweep.published import Published

BODY_IN = 2.7
EMPTY_BODY_IN = 1.2
CACHES = ("cold", "hot")
# Sizes are ticked up to this many; beyond it every second or third one, so that the labels do not meet.
MOST_TICKS = 10
HEADROOM = 1.08

MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "h", "p", "d", "8")
# With seven colours, four dashes: no two of 28 steps share both.
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
) -> Figure:
    """A panel a cache state that has times; published times have no bandwidth curve and are not drawn.

    Points that failed are gaps in their line, counted in the caption.
    """
    del published
    rows = at_reference(study, measurements, free=("array_size", "cache"))
    rows = rows[pandas.MultiIndex.from_frame(rows[["kernel", "unroll"]]).isin(ladder_steps(study))]
    with_times = timed(rows, device).sort_values("array_size")
    caches = [cache for cache in CACHES if (with_times["cache"] == cache).any()]
    caption = _caption(rows, study, device)
    if not caches:
        message = "No bandwidth to draw."
        figure = style.new_figure(style.TWO_COLUMN_IN, EMPTY_BODY_IN, study["title"], message, caption)
        style.say_missing(figure.subplots(), no_bandwidth(rows, study, device, free=("array_size", "cache")))
        return figure
    message = _message(with_times[with_times["cache"] == caches[0]], caches[0], device)
    figure = style.new_figure(style.TWO_COLUMN_IN, BODY_IN, study["title"], message, caption)
    panels = list(figure.subplots(1, len(caches), sharey=True, squeeze=False)[0])
    for axes, cache in zip(panels, caches, strict=True):
        _panel(axes, study, with_times[with_times["cache"] == cache])
        axes.set_title(f"{cache} cache", loc="left")
    peak = device["peak_bandwidth_gbs"]
    top = max(with_times["bandwidth_gbs"].max(), peak or 0.0)
    panels[0].set_ylim(0, top * HEADROOM)
    panels[0].set_ylabel("bandwidth (GB/s)")
    panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if peak is not None:
        _peak_line(panels, peak)
    panels[-1].legend(
        handles=panels[0].get_lines()[: len(study["ladder"])],
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
        handlelength=3.2,
        labelspacing=0.45,
        borderpad=0.1,
        title="step, in the ladder's order",
        title_fontsize=style.TEXT_PT,
        alignment="left",
    )
    return figure


def _panel(axes: Axes, study: Mapping[str, Any], rows: pandas.DataFrame) -> None:
    sizes = sorted(int(size) for size in rows["array_size"].unique())
    undefined = undefined_kernels(rows)
    for index, (kernel, unroll) in enumerate(ladder_steps(study)):
        line = rows[(rows["kernel"] == kernel) & (rows["unroll"] == unroll)]
        # Sizes without a time become NaN, so that the line breaks there instead of bridging the gap.
        values = line.set_index("array_size")["bandwidth_gbs"].reindex(sizes)
        axes.plot(
            sizes,
            values,
            label=step_name(kernel, unroll) + (style.UNDEFINED_MARK if kernel in undefined else ""),
            color=style.LINE_COLOURS[index % len(style.LINE_COLOURS)],
            linestyle=DASHES[index % len(DASHES)],
            marker=MARKERS[index % len(MARKERS)],
            linewidth=1.0,
            markersize=3.6,
            markeredgecolor="white",
            markeredgewidth=0.3,
        )
    axes.set_xscale("log", base=2)
    # Powers of two alone: a size just off one would have its label on that one's.
    ticks = [size for size in sizes if size.bit_count() == 1] or sizes
    ticks = ticks[:: math.ceil(len(ticks) / MOST_TICKS)]
    axes.set_xticks(ticks, [size_text(size) for size in ticks])
    axes.minorticks_off()
    axes.set_xlabel("array size (elements)")
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _peak_line(panels: Sequence[Axes], peak: float) -> None:
    for axes in panels:
        axes.axhline(peak, color=style.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    panels[0].annotate(
        f"memory's theoretical peak, {peak:,.0f} GB/s",
        (0.02, peak),
        xycoords=panels[0].get_yaxis_transform(),
        xytext=(0, -2),
        textcoords="offset points",
        va="top",
        color=style.GREY,
    )


def _message(rows: pandas.DataFrame, cache: str, device: Mapping[str, Any]) -> str:
    rows = rows[~rows["kernel"].isin(undefined_kernels(rows))]
    if rows.empty:
        return "Only steps with undefined behaviour have a time."
    largest = rows[rows["array_size"] == rows["array_size"].max()]
    best = largest.sort_values(["bandwidth_gbs", "kernel", "unroll"]).iloc[-1]
    text = (
        f"At array size {size_text(int(best['array_size']))}, {cache} cache,"
        f" {step_name(best['kernel'], best['unroll'])} is fastest and reads {best['bandwidth_gbs']:,.0f} GB/s"
    )
    peak = device["peak_bandwidth_gbs"]
    return text + ("." if peak is None else f", {best['bandwidth_gbs'] / peak:.0%} of the memory's peak.")


def _caption(rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    where = reference_text(study, free=("array_size", "cache"))
    text = f"{device_text(device)}. Reference point: {where}. Each input byte counted once; 1 GB/s is 10⁹ bytes/s."
    failed = rows.loc[rows["status"] != "ok", "status"].value_counts().sort_index()
    if has_times(device) and not failed.empty:
        counts = ", ".join(f"{count} {str(status).replace('_', ' ')}" for status, count in failed.items())
        text += f" Points without a time (gaps): {counts}."
    if undefined_kernels(rows):
        text += f" {style.UNDEFINED_NOTE}"
    return text
