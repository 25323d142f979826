"""The table of a study with a problem of its own: the best configuration of each kernel, with its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas

from kernelsweep.analysis.limits import limit_kernel
from kernelsweep.analysis.places import at_place, kernel_axes, shown_place, size_axes, varied
from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR, edited_kernels, undefined_kernels
from kernelsweep.analysis.roofs import arithmetic_kinds
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import axis_value, device_text, failures_text, point_text
from kernelsweep.intervals import Interval, ratio, time_interval
from kernelsweep.judge.best.best_words import fastest_text, ties_text
from kernelsweep.judge.best.find import Best, Configuration, fastest_of
from kernelsweep.platforms.arithmetic_peak import arithmetic_peak_gflops, share_of_nearest_peak, why_unknown
from kernelsweep.problems.problem_file import problem_of
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
from kernelsweep.publish.tables.point_notes import (
    NOT_MEASURED,
    POINT_COUNTS,
    flag_notes,
    numbered,
    point_counts,
    right_text,
)
from kernelsweep.results import EDITED, INTERVAL, MESSAGE_LENGTH

TIME_COLUMNS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "bandwidth_gbs",
    "peak_fraction",
    "peak_of",
    "gflops",
    "speedup",
    "speedup_low",
    "speedup_high",
    "compared",
    "as_fast",
    "status",
)
FURTHER_COLUMNS = ("error_share_low", "error_share_high", *POINT_COUNTS, "failures", "flags", "message")
# Ties beyond the closest are counted, since a table's column has little room.
MOST_TIES = 2
# More axes stand in a second table in LaTeX, since its page is narrow.
MOST_AXES = 6


def configuration_table(found: Mapping[str, Best], data: StudyData) -> pandas.DataFrame:
    """One row for each kernel, in the order of the study, then for each rival and limit with each of its words.

    found  the kernels' best configurations where they are compared, as best_at() finds them

    Columns:
      kernel
      the axes that say what is computed, and cache: the reference point's values, the same in all rows
      the other axes: the kernel's best configuration there; empty where it has no time
      time_us, time_low_us, time_high_us, bandwidth_gbs, peak_fraction, peak_of, gflops
                                of that configuration, as in measurements.csv
      speedup, speedup_low, speedup_high
                                the first kernel's time over this one's, and its 95% interval
      compared                  the number of the kernel's configurations with a time there
      as_fast                   configurations that can't be told apart from the best, by the values that differ from it
      status                    `ok` with a time; else of the kernel's first point there, or `not_measured`
      error_share_low, error_share_high
                                the least and the most of the kernel's whole sweep, as in measurements.csv
      points_right, points_run, points_skipped
                                over the kernel's whole sweep: right, attempted, skipped
      failures                  the statuses of the others: "2 wrong_result, 1 timed_out"
      flags, message            the kernel's remarks, and why it has no time
    On a device without times, the columns of the configuration and its times are left out.
    """
    place = dict(sorted(shown_place(data).items(), key=lambda value: value[0] == "cache"))
    first = found.get(data.kernel_names[0])
    undefined = undefined_kernels(data.measurements)
    edited = edited_kernels(data.measurements)
    parameters = kernel_axes(data.settings)
    rows = []
    for kernel in data.kernel_names:
        row = {"kernel": kernel, **place, **_whole_sweep(kernel, data)}
        flags = [UNDEFINED_BEHAVIOUR] * (kernel in undefined) + [EDITED] * (kernel in edited)
        row["flags"] = " ".join(flags)
        if kernel in found:
            row |= _measured(found[kernel], first, data)
        else:
            row |= _why_no_time(kernel, place, data)
        rows.append(row)
    columns = ["kernel", *place, *FURTHER_COLUMNS]
    if data.has_times:
        rows += _beside(place, first, data)
        columns[1 + len(place) : 1 + len(place)] = [*parameters, *TIME_COLUMNS]
    return pandas.DataFrame(rows, columns=columns)


def _beside(place: Mapping[str, Any], first: Best | None, data: StudyData) -> list[dict[str, Any]]:
    """The rows of the study's rivals and limits: one for each of their points at a place."""
    rows = []
    for name in (*data.settings["rivals"], *map(limit_kernel, data.settings["limits"])):
        counts = {"kernel": name, **place, **_whole_sweep(name, data), "flags": "", "message": ""}
        there = at_place(data.measurements[data.measurements["kernel"] == name], place)
        for found in ({str(column): value for column, value in row.items()} for row in there.to_dict("records")):
            row = counts | {axis: found[axis] for axis in (*kernel_axes(data.settings), "status")}
            if found["status"] == "ok":
                row |= {column: found[column] for column in (*INTERVAL, "bandwidth_gbs", "gflops")}
                row |= _compared(time_interval(found), first) | _peak(found, data)
            else:
                row["message"] = f"{found['status'].replace('_', ' ')}: {found['message']}"
            rows.append(row)
    return rows


def _whole_sweep(kernel: str, data: StudyData) -> dict[str, Any]:
    """The columns that summarise all points of a kernel, a rival or a limit."""
    shares = data.measurements.loc[data.measurements["kernel"] == kernel, "error_share"]
    counts = point_counts(kernel, data.measurements)
    return {"error_share_low": shares.min(), "error_share_high": shares.max(), **counts}


def _compared(time: Interval, first: Best | None) -> dict[str, Any]:
    """The columns of the first kernel's time over another."""
    if first is None or first.undefined:
        return {}
    gain = ratio(over=_time(first.fastest), under=time)
    return {"speedup": gain.value, "speedup_low": gain.low, "speedup_high": gain.high}


def _peak(throughput: Mapping[str, Any], data: StudyData) -> dict[str, Any]:
    """The columns of the device's peak, from a row's bandwidth_gbs and gflops, and its values on the axes."""
    known = {axis: value for axis, value in throughput.items() if not pandas.isna(value)}
    arithmetic = problem_of(data.settings["problem"]).work(known).get("arithmetic")
    share, of = share_of_nearest_peak(known.get("bandwidth_gbs"), known.get("gflops"), arithmetic, data.device)
    return {"peak_fraction": share, "peak_of": of}


def _measured(best: Best, first: Best | None, data: StudyData) -> dict[str, Any]:
    one = best.fastest
    gain = _compared(_time(one), first)
    if gain and first is best:
        gain = {"speedup": 1.0, "speedup_low": 1.0, "speedup_high": 1.0}
    throughput = {"bandwidth_gbs": one.bandwidth_gbs, "gflops": one.gflops}
    return {
        **one.parameters,
        "time_us": one.time_us,
        "time_low_us": one.time_low_us,
        "time_high_us": one.time_high_us,
        "bandwidth_gbs": one.bandwidth_gbs,
        "gflops": one.gflops,
        **_peak({**best.point, **one.parameters, **throughput}, data),
        **gain,
        "compared": best.compared,
        "as_fast": "" if not best.ties else ties_text(best, len(best.ties)),
        "status": "ok",
        "message": "",
    }


def _time(one: Configuration) -> Interval:
    return Interval(one.time_us, one.time_low_us, one.time_high_us)


def _why_no_time(kernel: str, place: Mapping[str, Any], data: StudyData) -> dict[str, str]:
    """The columns that say why none of a kernel's configurations at a point has a time."""
    if not data.has_times:
        return {"message": ""}
    rows = at_place(data.kernel_rows[data.kernel_rows["kernel"] == kernel], place)
    if rows.empty:
        return {"status": NOT_MEASURED, "message": "the sweep has no point there"}
    failed = rows[rows["status"] != "ok"]
    first = failed.iloc[0] if not failed.empty else rows.iloc[0]
    message = " ".join(str(first["message"]).split()) or "no message"
    return {"status": first["status"], "message": f"{failures_text(list(rows['status']))}; {message}"}


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
            *_errors(table, apart=data.has_times),
            Column("right", [right_text(row) for _, row in table.iterrows()], apart=data.has_times),
        ],
        notes=notes,
        explanation=_explanation(found, data),
        main_rows=len(data.kernel_names),
    )


def _errors(table: pandas.DataFrame, apart: bool) -> list[Column]:
    """How much of its error bound each kernel's results take, where results have bounds."""
    if table["error_share_high"].isna().all():
        return []
    shares = [
        EMPTY if pandas.isna(high) else f"{100 * low:.2g}–{100 * high:.2g}%"
        for low, high in zip(table["error_share_low"], table["error_share_high"], strict=True)
    ]
    return [Column("error of bound", shares, apart=apart)]


def _columns(table: pandas.DataFrame, found: Mapping[str, Best], data: StudyData) -> list[Column]:
    axes = varied(data.kernel_rows, kernel_axes(data.settings))
    many = len(axes) > MOST_AXES
    columns = [
        Column(axis, [EMPTY if pandas.isna(value) else axis_value(axis, value) for value in table[axis]], apart=many)
        for axis in axes
    ]
    decimals = [shown_decimals(table["time_us"])] * len(table)
    columns += [
        Column("time (µs)", numbers(table["time_us"], decimals[0])),
        Column("95% interval (µs)", intervals(table, decimals)),
        Column("speedup", speedups(table["speedup"])),
    ]
    rates = [("bandwidth (GB/s)", "bandwidth_gbs", 1.0, 0, ""), (_peak_header(table), "peak_fraction", 100.0, 1, "%")]
    for header, column, factor, places, unit in [*rates, ("GFLOP/s", "gflops", 1.0, 0, "")]:
        if table[column].notna().any():
            columns.append(Column(header, numbers(table[column].astype("float64") * factor, places, unit)))
    ties = [ties_text(found[kernel], MOST_TIES) if kernel in found else EMPTY for kernel in table["kernel"]]
    columns.append(Column("as fast", ties, right=False, apart=not many))
    return columns


def _peak_header(table: pandas.DataFrame) -> str:
    """What the shares in a table are of: all of one peak, or each of the nearest one."""
    of = {str(peak) for peak in table["peak_of"].dropna() if peak}
    return f"of {of.pop()} peak" if len(of) == 1 else "of nearest peak"


def _notes(row: pandas.Series[Any], where: str) -> list[str]:
    texts = flag_notes(row)
    if row["message"]:
        message = row["message"]
        message = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
        texts.append(f"No time{f' at {where}' if where else ''}: {message}")
    return texts


def _peaks(data: StudyData) -> list[str]:
    """What a share of a peak is, where the device has one."""
    peak = data.device["peak_bandwidth_gbs"]
    if peak is None or data.kernel_rows["bandwidth_gbs"].isna().all():
        return []
    kinds = arithmetic_kinds(data)
    known = {kind: arithmetic_peak_gflops(data.device, kind) for kind in kinds}
    texts = [f"{gflops:,.0f} GFLOP/s of {kind}" for kind, gflops in known.items() if gflops]
    missing = [why_unknown(data.device, kind) for kind, gflops in known.items() if not gflops]
    return [f"Theoretical peaks: {', '.join([f'memory {peak:,.0f} GB/s', *texts])}.", *missing]


def _explanation(found: Mapping[str, Best], data: StudyData) -> str:
    right = "Right: points of the kernel's whole sweep with the right result."
    if data.measurements["error_share"].notna().any():
        right += (
            " Error of bound: a point's largest error as a share of what the problem's error_bound allows, from the"
            " sweep's least to its most."
        )
    if not data.has_times:
        return f"{right} {NO_TIMES_OF_OURS}"
    fastest = fastest_of(found.values())
    return " ".join(
        [
            *([fastest_text(fastest, data.device)] if fastest else []),
            "Each row: the kernel's fastest configuration at this point. Speedup: the first kernel's time over this"
            " one's. As fast: configurations whose time's ratio to it has a 95% interval with 1 in it, by the values"
            " that differ.",
            *_peaks(data),
            right,
        ]
    )
