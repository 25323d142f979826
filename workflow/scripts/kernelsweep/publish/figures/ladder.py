"""The ladder: each step's time at the reference point, measured beside published, and its speedup on each device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kernelsweep.analysis.published import CPU, Published
from kernelsweep.analysis.reference import has_times, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import UNDEFINED_MARK, UNDEFINED_NOTE, device_text, reference_text, step_name
from kernelsweep.drawing import style
from kernelsweep.publish.tables import NOT_MEASURED, PUBLISHED_ONLY, study_table

ROW_IN = 0.2
# The axis and its label.
FRAME_IN = 0.45
EMPTY_BODY_IN = 1.2
# Room for the value labels beyond the outermost dots: shares of the logarithmic time axis's range, which is drawn over
# a factor of 10 at least.
TIME_ROOM = 0.17
LEAST_TIME_RANGE = 10.0
TIME_TICKS = (1.0, 2.0, 5.0)
# On the linear speedup axis, shares of its range.
SPEEDUP_ROOM = 0.17
# In one column, where the labels take a larger share of each axis.
NARROW_TIME_ROOM, NARROW_SPEEDUP_ROOM = 0.5, 0.34
LABEL_OFFSET_PT = 5.0

MEASURED: dict[str, Any] = {"color": style.BLUE, "marker": "o", "markersize": 4.5, "zorder": 3}
PUBLISHED: dict[str, Any] = {
    "color": style.VERMILLION,
    "marker": "D",
    "markersize": 4.6,
    "markerfacecolor": "white",
    "markeredgewidth": 1.0,
    "zorder": 2,
}


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """Two panels with one row a ladder step: time (logarithmic, so that devices far apart stay legible) and speedup.

    In one column they stand one above the other. Steps without a time say why in its place. On a platform without times
    only the published ones are drawn. Published times of another kind of device are not drawn, their speedups are. A
    CPU's time is the table's: a hundred times as long, it would push the steps together.
    """
    table = study_table(study, measurements, device, published)
    table = table[table["kernel"] != CPU]
    if "time_us" not in table:
        table = table.assign(time_us=float("nan"), time_low_us=float("nan"), time_high_us=float("nan"))
        table = table.assign(speedup=float("nan"))
    table = table.assign(label=_labels(table, ladder_steps(study, device)))
    if _only_ratios(published):
        table = table[table["status"] != PUBLISHED_ONLY].assign(published_time_us=float("nan"))
    message, caption = _message(table, device), _caption(table, study, device, published)
    if table[["time_us", "published_time_us", "published_speedup"]].isna().all(axis=None):
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], message, caption)
        style.say_missing(figure.subplots(), _reason(table, device))
        return figure
    narrow = style.is_narrow(width_in)
    body_in = (FRAME_IN + ROW_IN * len(table)) * (2 if narrow else 1)
    legend_lines = 2 if narrow and published is not None else 1
    figure = style.new_figure(width_in, body_in, study["title"], message, caption, with_legend=legend_lines)
    if narrow:
        time_axes, speedup_axes = figure.subplots(2, 1)
    else:
        time_axes, speedup_axes = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))

    _pairs(time_axes, table["time_us"], table["published_time_us"], _digits, table[["time_low_us", "time_high_us"]])
    _intervals(time_axes, table)
    times = table[["time_low_us", "time_us", "time_high_us", "published_time_us"]].stack()
    if times.notna().any():
        time_axes.set_xscale("log")
        ticks = TIME_TICKS[:1] if narrow and times.max() > LEAST_TIME_RANGE * times.min() else TIME_TICKS
        range_of_times = max(times.max() / times.min(), LEAST_TIME_RANGE)
        room = range_of_times ** (NARROW_TIME_ROOM if narrow else TIME_ROOM)
        time_axes.set_xlim(times.min() / room, times.max() * room)
        time_axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        time_axes.xaxis.set_major_locator(LogLocator(subs=ticks))
        time_axes.minorticks_off()
        time_axes.set_xlabel("time (µs, logarithmic)")
    else:
        time_axes.set_xticks([])
        time_axes.set_xlabel("no times of ours")
    if has_times(device):
        _write_statuses(time_axes, table)

    _pairs(speedup_axes, table["speedup"], table["published_speedup"], lambda value: f"{value:.2f}")
    speedups = pandas.concat([table["speedup"], table["published_speedup"]])
    if speedups.notna().any():
        room = (NARROW_SPEEDUP_ROOM if narrow else SPEEDUP_ROOM) * speedups.max()
        speedup_axes.set_xlim(-room, speedups.max() + room)
        if narrow:
            # The labels' room on the left is wide enough for a tick below 0.
            speedup_axes.set_xticks([tick for tick in speedup_axes.get_xticks() if 0 <= tick <= speedups.max() + room])
        speedup_axes.set_xlabel(f"speedup over {table['label'].iloc[0]} (×)")
    else:
        style.say_missing(speedup_axes, "no speedup: the first step has no time")

    undefined = undefined_kernels(table)
    marks = [UNDEFINED_MARK if kernel in undefined else "" for kernel in table["kernel"]]
    for axes in (time_axes, speedup_axes):
        # Side by side they share the labels.
        if axes is time_axes or (narrow and speedups.notna().any()):
            axes.set_yticks(range(len(table)), [*(table["label"] + marks)])
            axes.set_ylim(len(table) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=style.GRID_GREY, linewidth=0.5)
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
    _legend(figure, time_axes, table, device, published, legend_lines)
    return figure


def _pairs(
    axes: Axes,
    measured: pandas.Series[float],
    published: pandas.Series[float],
    write: Callable[[float], str],
    intervals: pandas.DataFrame | None = None,
) -> None:
    """A dot for each value, joined where a step has both; the labels go to the outer sides, so they never meet.

    `intervals` has the lower and upper ends of the measured values' intervals; their labels stand clear of those.
    """
    for row, (ours, theirs) in enumerate(zip(measured, published, strict=True)):
        low, high = (ours, ours) if intervals is None else intervals.iloc[row]
        if pandas.notna(ours) and pandas.notna(theirs):
            axes.plot([ours, theirs], [row, row], color=style.PALE_GREY, linewidth=1.2, zorder=1)
            # Of equal values, ours is labelled on the left.
            _dot(axes, row, ours, low if ours <= theirs else high, write(ours), MEASURED, left=ours <= theirs)
            _dot(axes, row, theirs, theirs, write(theirs), PUBLISHED, left=theirs < ours)
        elif pandas.notna(ours):
            _dot(axes, row, ours, high, write(ours), MEASURED, left=False)
        elif pandas.notna(theirs):
            _dot(axes, row, theirs, theirs, write(theirs), PUBLISHED, left=False)


def _dot(axes: Axes, row: int, value: float, label_at: float, text: str, look: dict[str, Any], left: bool) -> None:
    axes.plot([value], [row], linestyle="none", **look)
    axes.annotate(
        text,
        (label_at, row),
        xytext=(-LABEL_OFFSET_PT if left else LABEL_OFFSET_PT, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center_baseline",
        color=look["color"],
    )


def _intervals(axes: Axes, table: pandas.DataFrame) -> None:
    """The 95% intervals, behind the dots: they show where they are wider than a dot."""
    for row, (low, high) in enumerate(zip(table["time_low_us"], table["time_high_us"], strict=True)):
        axes.plot([low, high], [row, row], color=style.BLACK, linewidth=1.0, marker="|", markersize=5, zorder=2)


def _write_statuses(axes: Axes, table: pandas.DataFrame) -> None:
    """What became of each step of ours that has no time, at the edge that is farther from the published dot."""
    low, high = axes.get_xlim()
    for row, (time_us, published_us, status) in enumerate(
        zip(table["time_us"], table["published_time_us"], table["status"], strict=True)
    ):
        if pandas.isna(time_us) and status != PUBLISHED_ONLY:
            left = pandas.isna(published_us) or published_us >= math.sqrt(low * high)
            axes.text(
                0.01 if left else 0.99,
                row,
                status.replace("_", " "),
                transform=axes.get_yaxis_transform(),
                ha="left" if left else "right",
                va="center_baseline",
                color=style.BLUE,
                style="italic",
            )


def _digits(value: float) -> str:
    """Three digits: what a reader compares by eye; the table has more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _labels(table: pandas.DataFrame, steps: Sequence[Step]) -> list[str]:
    """The steps' labels, then those of the rows that only the publication has."""
    further = table.iloc[len(steps) :]
    return step_labels(steps) + [
        step_name(kernel, 1 if pandas.isna(unroll) else unroll)
        for kernel, unroll in zip(further["kernel"], further["unroll"], strict=True)
    ]


def _only_ratios(published: Published | None) -> bool:
    """Whether the published times are another kind of device's, of which only ratios mean something here."""
    return published is not None and published.compare == "ratios"


def _legend(
    figure: Figure,
    axes: Axes,
    table: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    lines: int,
) -> None:
    handles = []
    if table["time_us"].notna().any():
        handles += axes.plot([], [], linestyle="none", label=f"measured: {device['name']}", **MEASURED)
    if published is not None:
        what = ", speedups alone" if _only_ratios(published) else ""
        label = f"{published.label}: {published.device}{what}"
        handles += axes.plot([], [], linestyle="none", label=label, **PUBLISHED)
    style.legend_above(figure, handles, lines, handletextpad=0.3)


def _reason(table: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    if not has_times(device):
        return f"No times: {device_text(device)}."
    statuses: Sequence[str] = sorted(set(table["status"]) - {PUBLISHED_ONLY})
    if statuses == [NOT_MEASURED]:
        return "No times: the sweep has no points at the reference."
    return f"No times: the points at the reference are {', '.join(statuses).replace('_', ' ')}."


def _message(table: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    if not has_times(device):
        return "Published figures only: this platform has no times of its own."
    if table["time_us"].isna().all():
        return "No step has a measured time at the reference point."
    allowed = table[table["time_us"].notna() & ~table["kernel"].isin(undefined_kernels(table))]
    if allowed.empty:
        return "Only steps with undefined behaviour have a time."
    best = allowed.sort_values(["time_us", "kernel", "unroll"]).iloc[0]
    if pandas.isna(best["speedup"]):
        return (
            f"Fastest: {best['label']}, {_digits(best['time_us'])} µs on {device['name']};"
            f" no speedup of ours, as {table['label'].iloc[0]} has no time."
        )
    if best["label"] == table["label"].iloc[0]:
        return f"No later step is faster than {best['label']} at the reference point on {device['name']}."
    times = f"{best['speedup']:.{1 if best['speedup'] >= 2 else 2}f}"
    return f"{best['label']} is {times} times as fast as {table['label'].iloc[0]} on {device['name']}."


def _caption(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None
) -> str:
    texts = [
        f"{device_text(device)}.",
        f"Reference point: {reference_text(study)}.{grids_text(ladder_steps(study, device))}",
    ]
    if table["time_us"].notna().any():
        texts.append("Black bars: 95% interval of the median, where it is wider than the dot.")
    if published is not None:
        texts.append(f"{published.label[:1].upper()}{published.label[1:]}: {published.device} ({published.source}).")
    if _only_ratios(published):
        texts.append(
            "Its times are not drawn: on another kind of device only the ratios between steps can be compared."
        )
    if undefined_kernels(table):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
