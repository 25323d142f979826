"""The table of a study with a problem of its own: the best configuration of each kernel, with its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas

from kernelsweep.analysis.places import at_place, kernel_axes, shown_place, size_axes, varied
from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import MESSAGE_LENGTH, axis_value, device_text, failures_text, point_text
from kernelsweep.intervals import Interval, ratio
from kernelsweep.judge.best.best_words import fastest_text, ties_text
from kernelsweep.judge.best.find import Best, Configuration, fastest_of
from kernelsweep.publish.tables.formats import (
    EMPTY,
    Column,
    TableText,
    intervals,
    numbers,
    shown_decimals,
    speedups,
)
from kernelsweep.publish.tables.ladder_text import NO_TIMES_OF_OURS
from kernelsweep.publish.tables.point_notes import POINT_COUNTS, flag_notes, numbered, point_counts, right_text

TIME_COLUMNS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "bandwidth_gbs",
    "peak_fraction",
    "gflops",
    "speedup",
    "speedup_low",
    "speedup_high",
    "compared",
    "as_fast",
)
FURTHER_COLUMNS = (*POINT_COUNTS, "failures", "flags", "message")
# Ties beyond the closest are counted, since a table's column has little room.
MOST_TIES = 2


def configuration_table(found: Mapping[str, Best], data: StudyData) -> pandas.DataFrame:
    """One row for each kernel, in the order of the study.

    found  the kernels' best configurations where they are compared, as best_at() finds them

    Columns:
      kernel
      the axes that say what is computed, and cache: the reference point's values, the same in all rows
      the other axes: the kernel's best configuration there; empty where it has no time
      time_us, time_low_us, time_high_us, bandwidth_gbs, peak_fraction, gflops
                                of that configuration, as in measurements.csv
      speedup, speedup_low, speedup_high
                                the first kernel's time over this one's, and its 95% interval
      compared                  the number of the kernel's configurations with a time there
      as_fast                   configurations that can't be told apart from the best, by the values that differ from it
      points_right, points_run, points_skipped
                                over the kernel's whole sweep: right, attempted, skipped
      failures                  the statuses of the others: "2 wrong_result, 1 timed_out"
      flags, message            the kernel's remarks, and why it has no time
    On a device without times, the columns of the configuration and its times are left out.
    """
    place = dict(sorted(shown_place(data).items(), key=lambda value: value[0] == "cache"))
    first = found.get(data.kernel_names[0])
    undefined = undefined_kernels(data.measurements)
    parameters = kernel_axes(data.settings)
    rows = []
    for kernel in data.kernel_names:
        row = {"kernel": kernel, **place, **point_counts(kernel, data.measurements)}
        row["flags"] = UNDEFINED_BEHAVIOUR if kernel in undefined else ""
        if kernel in found:
            row |= _measured(found[kernel], first, data)
        else:
            row["message"] = _why_no_time(kernel, place, data)
        rows.append(row)
    columns = ["kernel", *place, *FURTHER_COLUMNS]
    if data.has_times:
        columns[1 + len(place) : 1 + len(place)] = [*parameters, *TIME_COLUMNS]
    return pandas.DataFrame(rows, columns=columns)


def _measured(best: Best, first: Best | None, data: StudyData) -> dict[str, Any]:
    one = best.fastest
    peak = data.device["peak_bandwidth_gbs"]
    gain = None
    if first is not None and not first.undefined:
        gain = ratio(over=_time(first.fastest), under=_time(one))
        if first is best:
            gain = Interval(1.0, 1.0, 1.0)
    return {
        **one.parameters,
        "time_us": one.time_us,
        "time_low_us": one.time_low_us,
        "time_high_us": one.time_high_us,
        "bandwidth_gbs": one.bandwidth_gbs,
        "peak_fraction": one.bandwidth_gbs / peak if one.bandwidth_gbs and peak else None,
        "gflops": one.gflops,
        "speedup": gain and gain.value,
        "speedup_low": gain and gain.low,
        "speedup_high": gain and gain.high,
        "compared": best.compared,
        "as_fast": "" if not best.ties else ties_text(best, len(best.ties)),
        "message": "",
    }


def _time(one: Configuration) -> Interval:
    return Interval(one.time_us, one.time_low_us, one.time_high_us)


def _why_no_time(kernel: str, place: Mapping[str, Any], data: StudyData) -> str:
    """Why none of a kernel's configurations at a point has a time; "" on a device without times."""
    if not data.has_times:
        return ""
    rows = at_place(data.kernel_rows[data.kernel_rows["kernel"] == kernel], place)
    if rows.empty:
        return "the sweep has no point there"
    failed = rows[rows["status"] != "ok"]
    messages = " ".join(str(failed["message"].iloc[0]).split()) if not failed.empty else ""
    return f"{failures_text(list(rows['status']))}; {messages or 'no message'}"


def configuration_text(table: pandas.DataFrame, found: Mapping[str, Best], data: StudyData) -> TableText:
    """The table that configuration_table() made, for readers. Axes with one value in the whole study are left out."""
    place = shown_place(data)
    where = point_text({axis: place[axis] for axis in size_axes(data.settings)})
    marks, notes = numbered([_notes(row, where) for _, row in table.iterrows()])
    there = f"; {where}, {place['cache']} cache".replace("; , ", "; ") if data.has_times else ""
    return TableText(
        title=data.title,
        provenance=f"{device_text(data.device)}{there}.",
        kernels=list(table["kernel"]),
        marks=marks,
        columns=[
            *(_columns(table, found, data) if data.has_times else []),
            Column("right", [right_text(row) for _, row in table.iterrows()], apart=data.has_times),
        ],
        notes=notes,
        explanation=_explanation(found, data),
        main_rows=len(table),
    )


def _columns(table: pandas.DataFrame, found: Mapping[str, Best], data: StudyData) -> list[Column]:
    columns = [
        Column(axis, [EMPTY if pandas.isna(value) else axis_value(axis, value) for value in table[axis]])
        for axis in varied(data.kernel_rows, kernel_axes(data.settings))
    ]
    decimals = [shown_decimals(table["time_us"])] * len(table)
    columns += [
        Column("time (µs)", numbers(table["time_us"], decimals[0])),
        Column("95% interval (µs)", intervals(table, decimals)),
        Column("speedup", speedups(table["speedup"])),
    ]
    rates = [("bandwidth (GB/s)", "bandwidth_gbs", 1.0, 0, ""), ("of peak", "peak_fraction", 100.0, 1, "%")]
    for header, column, factor, places, unit in [*rates, ("GFLOP/s", "gflops", 1.0, 0, "")]:
        if table[column].notna().any():
            columns.append(Column(header, numbers(table[column].astype("float64") * factor, places, unit)))
    ties = [ties_text(found[kernel], MOST_TIES) if kernel in found else EMPTY for kernel in table["kernel"]]
    columns.append(Column("as fast", ties, right=False, apart=True))
    return columns


def _notes(row: pandas.Series[Any], where: str) -> list[str]:
    texts = flag_notes(row)
    if row["message"]:
        message = row["message"]
        message = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
        texts.append(f"No time{f' at {where}' if where else ''}: {message}")
    return texts


def _explanation(found: Mapping[str, Best], data: StudyData) -> str:
    right = "Right: points of the kernel's whole sweep with the right result."
    if not data.has_times:
        return f"{right} {NO_TIMES_OF_OURS}"
    fastest = fastest_of(found.values())
    return " ".join(
        [
            *([fastest_text(fastest, data.device)] if fastest else []),
            "Each row: the kernel's fastest configuration at this point. Speedup: the first kernel's time over this"
            " one's. As fast: configurations whose time's ratio to it has a 95% interval with 1 in it, by the values"
            " that differ.",
            right,
        ]
    )
