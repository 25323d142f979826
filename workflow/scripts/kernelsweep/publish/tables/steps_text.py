"""How a reader sees the table of a study with steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.limits import limit_text
from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import has_times
from kernelsweep.analysis.words import device_text, reference_text, step_name
from kernelsweep.publish.tables.layout import EMPTY, Column, TableText, numbers
from kernelsweep.publish.tables.points import (
    NOT_MEASURED,
    PUBLISHED_ONLY,
    failure_note,
    flag_notes,
    numbered,
    right_text,
)
from kernelsweep.publish.tables.steps import baseline_kernels, limit_columns

# Four digits tell apart what the intervals tell apart (about 0.2% of a median); more would be noise.
TIME_DIGITS = 4
# A speedup below this is written with two digits that are not zero, such as 0.021.
SMALL_SPEEDUP = 0.1


def study_text(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None
) -> TableText:
    """The table that steps.study_table made. Columns that have nothing to tell in this study are left out."""
    baseline = table["kernel"].isin(baseline_kernels(study))
    rival = table["kernel"].isin(study["rivals"])
    marks, notes = numbered([_notes(row, study, device) for _, row in table.iterrows()])
    return TableText(
        title=str(study["title"]),
        provenance=_provenance(study, device, published),
        kernels=list(table["kernel"]),
        marks=marks,
        columns=[*_columns(table, baseline, study, published), *_columns_apart(table, study)],
        notes=notes,
        explanation=_explanation(table, study, device, published),
        main_rows=int((~baseline & ~rival & (table["status"] != PUBLISHED_ONLY)).sum()),
    )


def _columns(
    table: pandas.DataFrame, baseline: pandas.Series[bool], study: Mapping[str, Any], published: Published | None
) -> list[Column]:
    """The step and its times. (The block size is the same in all rows, and said above the table.)"""
    ratios = published is not None and published.compare == "ratios"
    columns = []
    if (table["unroll"].dropna() != 1).any():
        columns.append(Column("unroll", numbers(table["unroll"], 0), names=True))
    if "time_us" in table:
        # The host takes so much longer that its times need no decimals beside the steps'.
        common = _decimals(table.loc[~baseline, "time_us"])
        decimals = [
            _decimals(table["time_us"].iloc[[row]]) if of_host else common for row, of_host in enumerate(baseline)
        ]
        columns += [
            Column("time (µs)", _times(table, decimals)),
            Column("95% interval (µs)", _intervals(table, decimals)),
            Column("speedup", _speedups(table["speedup"])),
        ]
        if ratios:
            columns.append(Column("over the step before", _speedups(table["step_gain"])))
        columns.append(Column("bandwidth (GB/s)", numbers(table["bandwidth_gbs"], 0)))
        if table["peak_fraction"].notna().any():
            columns.append(Column("of peak", numbers(table["peak_fraction"] * 100, 1, "%")))
        for limit, column in limit_columns(study).items():
            if table[column].notna().any():
                columns.append(Column(f"of {limit.replace('_', ' ')}", numbers(table[column] * 100, 1, "%")))
    if published is not None:
        times = numbers(table["published_time_us"], _decimals(table["published_time_us"]))
        if ratios:
            columns += [
                Column(f"{published.label}, {published.device} (µs)", times),
                Column(f"{published.label} (over the step before)", _speedups(table["published_step_gain"])),
            ]
        else:
            columns += [
                Column(f"{published.label} (µs)", times),
                Column(f"{published.label} (speedup)", _speedups(table["published_speedup"])),
            ]
    return columns


def _columns_apart(table: pandas.DataFrame, study: Mapping[str, Any]) -> list[Column]:
    """How the step is launched, and how right it is."""
    columns = []
    if _has_grids(study):
        columns.append(Column("grid", numbers(table["grid_size"], 0), apart=True))
    if _has_launches(table):
        columns.append(Column("launches", numbers(table["launches"], 0), apart=True))
    if _has_errors(table):
        errors = [
            EMPTY if pandas.isna(error) else f"{error:.1e}" if error else "0" for error in table["relative_error"]
        ]
        columns.append(Column("relative error", errors, apart=True))
    if _has_repeated(table):
        same = [
            f"{same} of {repeated}" if pandas.notna(repeated) and repeated else EMPTY
            for same, repeated in zip(table["bit_identical_points"], table["repeated_points"], strict=True)
        ]
        columns.append(Column("same bits", same, apart=True))
    return [*columns, Column("right", [right_text(row) for _, row in table.iterrows()], apart=True)]


def _has_grids(study: Mapping[str, Any]) -> bool:
    return any(step["grid_size"] is not None for step in study["ladder"])


def _has_launches(table: pandas.DataFrame) -> bool:
    return bool((table["launches"].dropna() > 1).any())


def _has_errors(table: pandas.DataFrame) -> bool:
    return bool(table["relative_error"].notna().any())


def _has_repeated(table: pandas.DataFrame) -> bool:
    return bool((table["repeated_points"].dropna() > 0).any())


def _decimals(values: pandas.Series[float]) -> int:
    """Decimals for a column of times: enough for its smallest value to show TIME_DIGITS digits."""
    if values.notna().sum() == 0:
        return 0
    return min(max(TIME_DIGITS - 1 - math.floor(math.log10(values.min())), 0), TIME_DIGITS - 1)


def _times(table: pandas.DataFrame, decimals: Sequence[int]) -> list[str]:
    """The times; where a step of ours has none, its status stands in the place."""
    instead = table["status"].where(table["status"] != PUBLISHED_ONLY, EMPTY).str.replace("_", " ")
    return [
        word if pandas.isna(time_us) else f"{time_us:.{places}f}"
        for time_us, places, word in zip(table["time_us"], decimals, instead, strict=True)
    ]


def _intervals(table: pandas.DataFrame, decimals: Sequence[int]) -> list[str]:
    return [
        EMPTY if pandas.isna(low) or pandas.isna(high) else f"{low:.{places}f}–{high:.{places}f}"
        for low, high, places in zip(table["time_low_us"], table["time_high_us"], decimals, strict=True)
    ]


def _speedups(values: pandas.Series[float]) -> list[str]:
    return [
        EMPTY if pandas.isna(value) else f"{value:.2f}×" if value >= SMALL_SPEEDUP else f"{value:.2g}×"
        for value in values
    ]


def _notes(row: pandas.Series[Any], study: Mapping[str, Any], device: Mapping[str, Any]) -> list[str]:
    texts = flag_notes(row)
    if row["kernel"] in baseline_kernels(study) and row["status"] != PUBLISHED_ONLY:
        texts.append(f"On the host: {row['device']}, one thread; its caches as the sample before left them.")
    if row["status"] == NOT_MEASURED and has_times(device):
        texts.append(f"Not measured: the sweep has no row at {reference_text(study)}.")
    return texts + failure_note(row, reference_text(study))


def _provenance(study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None) -> str:
    text = f"{device_text(device)}; reference point: {reference_text(study)}"
    if published is not None:
        text += f"; {published.label}: {published.device} ({published.source})"
    return text + "."


def _explanation(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None
) -> str:
    first = step_name(table["kernel"].iloc[0], table["unroll"].iloc[0])
    texts = []
    if has_times(device):
        takes_all = " of all the step's launches" if _has_launches(table) else ""
        texts.append(f"Time{takes_all}: median over the samples, with the confidence interval of that median.")
        peak = device["peak_bandwidth_gbs"]
        texts.append(
            "Bandwidth: each input byte counted once"
            + ("." if peak is None else f"; the memory's theoretical peak is {peak:.0f} GB/s.")
        )
        if any(table[column].notna().any() for column in limit_columns(study).values()):
            limits = ", ".join(limit_text(limit) for limit in study["limits"])
            texts.append(f"Of what was measured in the same run at the same size: {limits}.")
        if table["kernel"].isin(study["rivals"]).any():
            texts.append("Below the steps: libraries' reductions, on the same buffers, timed by the same loop.")
    else:
        texts.append("No times of ours: this platform has no clock that means something.")
    ratios = published is not None and published.compare == "ratios"
    if has_times(device) or (published is not None and not ratios):
        texts.append(f"Speedup: against `{first}` on the same device.")
    if table["kernel"].isin(baseline_kernels(study)).any():
        texts.append(f"That of the host's processor is against `{first}` on {device['name']}.")
    if published is not None and ratios:
        texts.append(
            "Over the step before: that step's time over this one's."
            f" The published times are those of another kind of device, {published.device}:"
            " only ratios between steps compare."
        )
    if _has_grids(study):
        texts.append("Grid: thread blocks" + (" of the first launch." if _has_launches(table) else "."))
    if _has_errors(table):
        texts.append("Relative error: at the reference point, against the exactly rounded sum (`math.fsum`).")
    if _has_repeated(table):
        texts.append(
            "Same bits: floating-point points of the kernel's whole sweep whose repeated runs left the same bits."
        )
    texts.append("Right: points of the kernel's whole sweep, all its unroll factors, whose result was right.")
    return " ".join(texts)
