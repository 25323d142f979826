"""The table of a study with steps, for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.limits import limit_text
from kernelsweep.analysis.published import Published
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text, reference_text, small_number, step_name
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText, intervals, numbers, shown_decimals, speedups
from kernelsweep.publish.tables.ladder_table import baseline_kernels, limit_columns
from kernelsweep.publish.tables.point_notes import (
    NOT_MEASURED,
    PUBLISHED_ONLY,
    failure_note,
    flag_notes,
    numbered,
    right_text,
)

NO_TIMES_OF_OURS = "No times of ours: this platform has no clock that means something."


def study_text(table: pandas.DataFrame, data: StudyData) -> TableText:
    """The table that study_table() made. Columns without any information in this study are left out."""
    baseline = table["kernel"].isin(baseline_kernels(data.settings))
    rival = table["kernel"].isin(data.settings["rivals"])
    marks, notes = numbered([_notes(row, data) for _, row in table.iterrows()])
    return TableText(
        title=data.title,
        provenance=_provenance(data),
        kernels=list(table["kernel"]),
        marks=marks,
        columns=[*_columns(table, baseline, data), *_columns_apart(table, data.settings)],
        notes=notes,
        explanation=_explanation(table, data),
        main_rows=int((~baseline & ~rival & (table["status"] != PUBLISHED_ONLY)).sum()),
    )


def _columns(table: pandas.DataFrame, baseline: pandas.Series[bool], data: StudyData) -> list[Column]:
    """The step and its times. The block size is the same in all rows and given above the table."""
    columns = []
    if (table["unroll"].dropna() != 1).any():
        columns.append(Column("unroll", numbers(table["unroll"], 0), names=True))
    if "time_us" in table:
        columns += _time_columns(table, baseline, data)
    if data.published is not None:
        columns += _published_columns(table, data.published)
    return columns


def _time_columns(table: pandas.DataFrame, baseline: pandas.Series[bool], data: StudyData) -> list[Column]:
    # The host takes so much longer that its times need no decimals beside the steps'.
    common = shown_decimals(table.loc[~baseline, "time_us"])
    decimals = [
        shown_decimals(table["time_us"].iloc[[row]]) if of_host else common for row, of_host in enumerate(baseline)
    ]
    columns = [
        Column("time (µs)", _times(table, decimals)),
        Column("95% interval (µs)", intervals(table, decimals)),
        Column("speedup", speedups(table["speedup"])),
    ]
    if data.published is not None and data.published.only_ratios:
        columns.append(Column("over the step before", speedups(table["step_gain"])))
    columns.append(Column("bandwidth (GB/s)", numbers(table["bandwidth_gbs"], 0)))
    fractions = {"peak": "peak_fraction"} | {
        limit.replace("_", " "): column for limit, column in limit_columns(data.settings).items()
    }
    return columns + [
        Column(f"of {limit}", numbers(table[column] * 100, 1, "%"))
        for limit, column in fractions.items()
        if table[column].notna().any()
    ]


def _published_columns(table: pandas.DataFrame, published: Published) -> list[Column]:
    label = published.label
    times = numbers(table["published_time_us"], shown_decimals(table["published_time_us"]))
    if published.only_ratios:
        return [
            Column(f"{label} (over the step before)", speedups(table["published_step_gain"])),
            Column(f"{label} (µs)", times),
        ]
    return [
        Column(f"{label} (µs)", times),
        Column(f"{label} (speedup)", speedups(table["published_speedup"])),
    ]


def _columns_apart(table: pandas.DataFrame, study: Mapping[str, Any]) -> list[Column]:
    """How each step is launched, and how right its results are."""
    columns = []
    if _has_grids(study):
        columns.append(Column("grid", numbers(table["grid_size"], 0), apart=True))
    if _has_launches(table):
        columns.append(Column("launches", numbers(table["launches"], 0), apart=True))
    if _has_errors(table):
        errors = [
            EMPTY if pandas.isna(error) else small_number(error) if error else "0" for error in table["relative_error"]
        ]
        columns.append(Column("relative error", errors, apart=True))
    if _differs(table, "bit_identical_points", "repeated_points"):
        same = [
            f"{same} of {repeated}" if pandas.notna(repeated) and repeated else EMPTY
            for same, repeated in zip(table["bit_identical_points"], table["repeated_points"], strict=True)
        ]
        columns.append(Column("same bits", same, apart=True))
    if not _all_right(table):
        columns.append(Column("right", [right_text(row) for _, row in table.iterrows()], apart=True))
    return columns


def _has_grids(study: Mapping[str, Any]) -> bool:
    return any(step["grid_size"] is not None for step in study["steps"])


def _has_launches(table: pandas.DataFrame) -> bool:
    return bool((table["launches"].dropna() > 1).any())


def _has_errors(table: pandas.DataFrame) -> bool:
    return bool(table["relative_error"].notna().any())


def _differs(table: pandas.DataFrame, some: str, of_all: str) -> bool:
    """Whether a row has fewer of some points than of all."""
    return bool((table[some].dropna() < table[of_all].dropna()).any())


def _all_right(table: pandas.DataFrame) -> bool:
    return not _differs(table, "points_right", "points_run") and not table["points_skipped"].any()


def _times(table: pandas.DataFrame, decimals: Sequence[int]) -> list[str]:
    """The times, or the status of a step of ours that has none."""
    instead = table["status"].where(table["status"] != PUBLISHED_ONLY, EMPTY).str.replace("_", " ")
    return [
        word if pandas.isna(time_us) else f"{time_us:,.{places}f}"
        for time_us, places, word in zip(table["time_us"], decimals, instead, strict=True)
    ]


def _notes(row: pandas.Series[Any], data: StudyData) -> list[str]:
    texts = flag_notes(row)
    reference = reference_text(data.settings)
    if row["kernel"] in baseline_kernels(data.settings) and row["status"] != PUBLISHED_ONLY:
        texts.append(f"On the host: {row['device']}, one thread; its caches as the sample before left them.")
    if row["status"] == NOT_MEASURED and data.has_times:
        texts.append(f"Not measured: the sweep has no row at {reference}.")
    return texts + failure_note(row, reference)


def _provenance(data: StudyData) -> str:
    text = f"{device_text(data.device)}; reference point: {reference_text(data.settings)}"
    if data.published is not None:
        text += f"; {data.published.label}: {data.published.device} ({data.published.source})"
    return text + "."


def _explanation(table: pandas.DataFrame, data: StudyData) -> str:
    first = step_name(table["kernel"].iloc[0], table["unroll"].iloc[0])
    texts = _on_times(table, data) if data.has_times else [NO_TIMES_OF_OURS]
    published = data.published
    if data.has_times or (published is not None and not published.only_ratios):
        texts.append(f"Speedup: against `{first}` on the same device.")
    if table["kernel"].isin(baseline_kernels(data.settings)).any():
        texts.append(f"That of the host's processor is against `{first}` on {data.device['name']}.")
    if published is not None and published.only_ratios:
        texts.append(
            "Over the step before: that step's time over this one's."
            f" The published times are those of another kind of device, {published.device}:"
            " only ratios between steps compare."
        )
    return " ".join([*texts, *_on_columns_apart(table, data.settings)])


def _on_times(table: pandas.DataFrame, data: StudyData) -> list[str]:
    """Notes that explain the columns of times and bandwidths, and the libraries' rows."""
    takes_all = " of all the step's launches" if _has_launches(table) else ""
    texts = [f"Time{takes_all}: median over the samples, with the confidence interval of that median."]
    peak = data.device["peak_bandwidth_gbs"]
    texts.append(
        "Bandwidth: each input byte counted once"
        + ("." if peak is None else f"; the memory's theoretical peak is {peak:,.0f} GB/s.")
    )
    if any(table[column].notna().any() for column in limit_columns(data.settings).values()):
        limits = ", ".join(limit_text(limit) for limit in data.settings["limits"])
        texts.append(f"Of what was measured in the same run at the same size: {limits}.")
    if table["kernel"].isin(data.settings["rivals"]).any():
        texts.append("Below the steps: libraries' reductions, on the same buffers, timed by the same loop.")
    return texts


def _on_columns_apart(table: pandas.DataFrame, study: Mapping[str, Any]) -> list[str]:
    """Notes that explain the columns of _columns_apart()."""
    texts = []
    if _has_grids(study):
        texts.append("Grid: thread blocks" + (" of the first launch." if _has_launches(table) else "."))
    if _has_errors(table):
        texts.append("Relative error: at the reference point, against the exactly rounded sum (`math.fsum`).")
    of_kernels = table.drop_duplicates("kernel")
    if _differs(table, "bit_identical_points", "repeated_points"):
        texts.append(
            "Same bits: floating-point points of the kernel's whole sweep whose repeated runs left the same bits."
        )
    elif repeated := of_kernels["repeated_points"].sum():
        texts.append(f"Repeated runs of all {repeated:,} floating-point points left the same bits.")
    if _all_right(table):
        texts.append(f"All {of_kernels['points_run'].sum():,} points of these kernels' sweeps are right.")
    else:
        texts.append("Right: points of the kernel's whole sweep, all its unroll factors, whose result was right.")
    return texts
