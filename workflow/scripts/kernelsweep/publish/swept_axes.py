"""Times over a study's axes, for the figures of any axes: at one place, the best over all axes that are not drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.device.arithmetic_peak import arithmetic_peak_gflops
from kernelsweep.judge.data.reference import at_place, shown_status, timed, undefined_kernels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_axes, shown_place, size_axes, varied
from kernelsweep.judge.data.words import (
    axis_value,
    device_text,
    failures_text,
    limit_kernel,
    list_texts,
    place_text,
    size_words,
)
from kernelsweep.publish.drawing import palette
from kernelsweep.publish.figure_files import LARGE_GFLOPS, LARGE_RATE, PEAK_SHARE
from kernelsweep.results import INTERVAL
from kernelsweep.statistics import Interval, ratio

# The axis of kernels, which every study has.
KERNEL = "kernel"

# Columns that no figure of axes has: each selection would copy them.
_NOT_DRAWN = ["study", "platform", "device", "message", "output", "parameters", "source_sha256", "binary_sha256"]
_NOT_DRAWN += ["work", "bit_identical", "relative_error", "error_share", "launches", "samples", "visits", "clock_mhz"]

# What axes with a common name are, for readers; others keep their names.
AXIS_TITLES = {
    "array_size": "array size (elements)",
    "block_size": "block size (threads)",
    "dtype": "element type",
    "grid_size": "blocks",
    "unroll": "unroll factor",
}


def title_of(axis: str, titles: Mapping[str, str]) -> str:
    """An axis' title for readers: that of the study's `titles`, or a common one, or its name."""
    return titles.get(axis) or AXIS_TITLES.get(axis, axis.replace("_", " "))


def with_tied(data: StudyData, axes: Collection[str]) -> set[str]:
    """The axes, and those that vary together with one of them."""
    groups = [group for group in data.settings.tied if {*group} & {*axes}]
    return {*axes, *(axis for group in groups for axis in group)}


def rows_there(data: StudyData, drawn: Collection[str], beside: Collection[str] = ()) -> pandas.DataFrame:
    """The kernels' rows at the place where kernels are compared; the axes in `drawn` may differ, and axes tied to them.

    Kernels of undefined behaviour are left out.

    beside  names of libraries, whose rows are wanted, too
    """
    rows = data.measurements.drop(columns=[*({*_NOT_DRAWN} - {*data.settings.kinds})], errors="ignore")
    rows = at_place(rows[rows[KERNEL].isin([*data.kernel_names, *beside])], place_beside(data, drawn))
    return rows[~rows[KERNEL].isin(undefined_kernels(data.measurements))]


def best_rows(data: StudyData, axes: Sequence[str], beside: Collection[str] = ()) -> pandas.DataFrame:
    """The row with the least time for each combination of values on `axes`, in their order; times only.

    With the columns PEAK_SHARE and LARGE_RATE.
    """
    rows = timed(rows_there(data, axes, beside), data.device)
    rows = rows.sort_values("time_us", kind="stable").drop_duplicates(list(axes)).sort_values(list(axes))
    return rows.assign(**{PEAK_SHARE: 100 * rows["peak_fraction"], LARGE_RATE: rows["gflops"] / 1000})


def rate_of(data: StudyData) -> str:
    """The quantity in which a study's rates of arithmetic are shown: in TFLOP/s where one is large."""
    return LARGE_RATE if (data.measurements["gflops"] >= LARGE_GFLOPS).any() else "gflops"


def problem_axes(data: StudyData, axes: Collection[str]) -> list[str]:
    """Those of some axes that say which problem is solved: times are compared at equal values."""
    return [axis for axis in axes if axis in place_axes(data.settings)]


def with_ratios(
    rows: pandas.DataFrame, bases: pandas.DataFrame, axes: Sequence[str], name: str, factor: float = 1.0
) -> pandas.DataFrame:
    """The rows with the least time of `bases` at equal values on `axes` over theirs, times a factor.

    It stands in the column `name`, and its interval in the columns that `ends_of` reads.
    """
    key = [*axes, "one"]  # Without axes, all have the same base.
    least = bases.assign(one=1, at=bases.index).sort_values("time_us", kind="stable").drop_duplicates(key)
    beside = rows[[*axes]].assign(one=1).merge(least[[*key, "at", *INTERVAL]], how="left", on=key)
    times = [frame[column] for frame in (beside, rows) for column in ("time_us", "time_low_us", "time_high_us")]
    ends = []
    for at, place, *both in zip(rows.index, beside["at"], *times, strict=True):
        base, own = Interval(*both[:3]), Interval(*both[3:])
        gain = Interval(1, 1, 1) if at == place else ratio(base, own) if base.value == base.value else None
        ends.append([factor * end for end in (gain.value, gain.low, gain.high)] if gain else [float("nan")] * 3)
    columns = pandas.DataFrame(ends, rows.index, [name, f"{name} low", f"{name} high"], dtype="float64")
    return rows.assign(**columns)


def ends_of(rows: pandas.DataFrame, quantity: str) -> list[pandas.Series[float]]:
    """The ends of the 95% interval of a quantity: a ratio's own, or those that follow from the time's."""
    if f"{quantity} low" in rows:
        return [rows[f"{quantity} {end}"] for end in ("low", "high")]
    ends = [rows["time_low_us"], rows["time_high_us"]]
    return ends if quantity == "time_us" else [rows[quantity] * rows["time_us"] / end for end in reversed(ends)]


def by_effect(data: StudyData) -> list[str]:
    """The axes of kernels that vary, and the kernel, those first whose worst value costs most."""
    rows = timed(rows_there(data, ()), data.device)
    costs = {
        axis: rows.groupby(axis)["time_us"].min().max() for axis in varied(rows, [*kernel_axes(data.settings), KERNEL])
    }
    return sorted(costs, key=lambda axis: -costs[axis])


def varied_sizes(data: StudyData) -> list[str]:
    """The axes of the problem's size that vary among the points with a time, the one with most values first."""
    rows = timed(data.kernel_rows, data.device)
    return sorted(varied(rows, size_axes(data.settings)), key=lambda axis: -rows[axis].nunique())


def axis_text(data: StudyData, axis: str) -> str:
    """An axis for readers: as the study's file calls it; of blocks, with the number of multiprocessors."""
    text = title_of(axis, data.settings.titles)
    return f"{text} (on {data.device['multiprocessors']} multiprocessors)" if text == AXIS_TITLES["grid_size"] else text


def without_unit(text: str) -> str:
    """A quantity's or an axis' words alone: `bandwidth` of `bandwidth (GB/s)`."""
    return text.partition(" (")[0]


def values_of(rows: pandas.DataFrame, axis: str, data: StudyData) -> list[Any]:
    """An axis' values in order: numbers by size, kernels in the order of their story."""
    found = set(rows[axis].dropna())
    named = [*data.kernel_names, *data.settings.rival_names, *map(limit_kernel, data.settings.limits)]
    order = dict.fromkeys(named)
    return [name for name in order if name in found] if axis == KERNEL else sorted(found)


def value_text(data: StudyData, axis: str, value: Any) -> str:
    """A value of an axis, with its multiplication sign or the axis' name where it says nothing alone."""
    text = axis_value(axis, value)
    if axis in ("unroll", "cache"):
        return f"×{text}" if axis == "unroll" else f"{text} cache"
    return text if isinstance(value, str) else f"{without_unit(axis_text(data, axis))} {text}"


def cell_text(data: StudyData, axis: str, value: Any) -> str:
    """A value of an axis at its ticks; grids that are a multiple of the device's multiprocessors as such."""
    if axis == "unroll":
        return value_text(data, axis, value)
    times, rest = divmod(value, data.device["multiprocessors"]) if axis == "grid_size" else (0, 0)
    return f"{times} × {data.device['multiprocessors']}" if times and not rest else axis_value(axis, value)


def size_texts(data: StudyData, axis: str, rows: pandas.DataFrame) -> dict[Any, str]:
    """The values of an axis in order, as ticks: with those that vary together with it, 4098 × 4094."""
    group = next((group for group in data.settings.tied if axis in group), [axis])
    points = rows.drop_duplicates(axis).set_index(axis, drop=False)[group]
    if len(group) == 1:
        return {value: axis_value(axis, value) for value in values_of(rows, axis, data)}
    return {value: size_words(dict(points.loc[value])).replace("\xa0", " ") for value in values_of(rows, axis, data)}


def line_colours(data: StudyData, axis: str | None, values: Sequence[Any]) -> dict[Any, str]:
    """The colours of an axis' values: those of kernels are theirs everywhere, others are along a scale."""
    scale = {value: palette.size_colour(number, len(values)) for number, value in enumerate(values)}
    return {**(kernel_colours(data) if axis == KERNEL else scale), **data.settings.colours}


def kernel_colours(data: StudyData) -> dict[str, str]:
    """The colours of a study's kernels, and of what was measured beside them."""
    last = {*map(limit_kernel, data.settings.limits), *undefined_kernels(data.measurements)}
    names = [*data.kernel_names, *data.settings.rival_names]
    return palette.kernel_colours(names, last, data.measurements[KERNEL].unique(), data.settings.colours)


def place_beside(data: StudyData, drawn: Collection[str]) -> dict[str, Any]:
    """Where kernels are compared, on axes other than those that are drawn."""
    free = with_tied(data, drawn)
    return {axis: value for axis, value in shown_place(data).items() if axis not in free}


def place_caption(data: StudyData, drawn: Collection[str], meaning: str) -> str:
    """The caption of a figure: on which device, at which place, and what failed there."""
    if data.settings.search:
        meaning += " A search chose the configurations: what it tried seldom may look too slow."
    # No figure has rows for what was skipped.
    failed = failures_text([status for status in shown_status(rows_there(data, drawn)) if status != "skipped"])
    where = ", ".join(filter(None, [str(data.device["name"]), place_text(place_beside(data, drawn))]))
    return f"{where}. {meaning}" + (f" Without a time: {failed}." if failed else "")


def peak_label(rows: pandas.DataFrame, label: str, panel: str | None) -> str:
    """The label of shares of the peak: of which, or that each panel has its own."""
    kinds = {str(kind) or "memory" for kind in rows["peak_of"].dropna()}
    own = f"each {panel}'s" if panel and len(kinds) > 1 else "the"
    kind = "" if len(kinds) != 1 else "memory's " if "memory" in kinds else f"{min(kinds)} "
    return label.replace("the peak", f"{own} {kind}peak")


def peak_text(data: StudyData, rows: pandas.DataFrame) -> str:
    """A caption's sentence on what 100% of a peak are, for each kind of peak of some rows."""
    kinds = sorted({str(kind) for kind in rows["peak_of"].dropna()})
    peaks = {kind: arithmetic_peak_gflops(data.device, kind) for kind in kinds if kind not in ("", "memory")}
    texts = [f"{gflops / 1000:,.1f} TFLOP/s of {kind}" for kind, gflops in peaks.items() if gflops]
    texts += [f"{data.device['peak_bandwidth_gbs']:,.0f} GB/s of the memory"] * (len(peaks) < len(kinds))
    return f" Peak: {list_texts(texts)}." if texts else ""


def no_times(data: StudyData) -> str:
    """Why there is nothing to draw."""
    if not data.has_times:
        return f"No times: {device_text(data.device)}."
    return "No point has a time at the place where kernels are compared."
