"""The table of a study with steps: a row for each step of its ladder, then libraries, the host, and the publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.limits import limit_bandwidths
from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR, at_reference, undefined_kernels
from kernelsweep.analysis.steps import Step
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.publish.tables.point_notes import NOT_MEASURED, POINT_COUNTS, PUBLISHED_ONLY, point_counts
from kernelsweep.results import BASELINE_PREFIX

# Only on platforms with times.
TIME_COLUMNS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "noise",
    "speedup",
    "step_gain",
    "bandwidth_gbs",
    "peak_fraction",
)
TABLE_COLUMNS = (
    "kernel",
    "unroll",
    "block_size",
    "grid_size",
    "launches",
    "device",
    "status",
    *TIME_COLUMNS,
    "published_time_us",
    "published_speedup",
    "published_step_gain",
    "relative_error",
    "largest_relative_error",
    "bit_identical_points",
    "repeated_points",
    *POINT_COUNTS,
    "failures",
    "flags",
    "message",
)
INTEGER_COLUMNS = (
    "unroll",
    "block_size",
    "grid_size",
    "launches",
    "bit_identical_points",
    "repeated_points",
    *POINT_COUNTS,
)
FLOAT_COLUMNS = (
    *TIME_COLUMNS,
    "published_time_us",
    "published_speedup",
    "published_step_gain",
    "relative_error",
    "largest_relative_error",
)
TEXT_COLUMNS = ("kernel", "device", "status", "failures", "flags", "message")

# The columns of measurements.csv that belong to a right point's time.
_TIMES = tuple(column for column in TIME_COLUMNS if column not in ("speedup", "step_gain"))


def baseline_kernels(study: Mapping[str, Any]) -> list[str]:
    """The value of the column kernel in the rows of the study's baselines on the host's processor."""
    return [f"{BASELINE_PREFIX}{baseline}" for baseline in study["baselines"]]


def limit_columns(study: Mapping[str, Any]) -> dict[str, str]:
    """The columns with the fraction that each row reaches of the study's limits, by the limit."""
    return {limit: f"{limit}_fraction" for limit in study["limits"]}


def study_table(data: StudyData) -> pandas.DataFrame:
    """One row for each step in the ladder's order, then libraries, host baselines, and what else is published.

    Columns (`TABLE_COLUMNS`):
      kernel, unroll, block_size    the step at the reference point; for a baseline only its name
      grid_size, launches           thread blocks of the step's first launch, and how many launches it takes
      device                        the device that measured the row: the host's processor for a baseline
      status                        of that point: one of `results.STATUSES`, `not_measured` or `published_only`
      time_us, time_low_us, time_high_us, noise, bandwidth_gbs, peak_fraction
                                    as in measurements.csv; NaN unless the status is `ok`
      read_only_fraction, ...       the bandwidth over that of each of the study's limits, where it has some
      speedup                       the first step's time over this one's; NaN where either has none
      step_gain                     the time of the step before over this one's; a step with undefined behaviour is
                                    never the one before, being no baseline
      published_time_us, published_speedup, published_step_gain
                                    the same from the publication, against its own times
      relative_error                of the reference point, against the exactly rounded sum; NaN but for floats
      largest_relative_error        the largest over the kernel's whole float32 sweep
      bit_identical_points, repeated_points
                                    floating-point points of the kernel's whole sweep: those whose repeated runs left
                                    the same bits, and all that were repeated
      points_right, points_run, points_skipped
                                    over the kernel's whole sweep (all its unroll factors): right, attempted, skipped
      failures                      the statuses of the others: "2 wrong_result, 1 timed_out"
      flags, message                of the reference point
    On a device without times the time columns are left out, and so are libraries and baselines.
    """
    reference = data.at_reference()
    steps = data.steps
    undefined = undefined_kernels(data.measurements)
    rows = [_step_row(step, data, reference) | _whole_sweep(step.kernel, data.measurements) for step in steps]
    for row in rows:
        # A property of the kernel, so it holds even if the sweep has no row at the reference point.
        if row["status"] == NOT_MEASURED and row["kernel"] in undefined:
            row["flags"] = UNDEFINED_BEHAVIOUR
    if data.has_times:
        rows += _rival_rows(data) + _baseline_rows(data)
    if data.published is not None:
        rows += _published_only(data.published, steps)
        for row in rows:
            row["published_time_us"] = data.published.time_us(row["kernel"], row.get("unroll"))
    table = pandas.DataFrame(rows, columns=list(TABLE_COLUMNS))
    table = table.astype(dict.fromkeys(INTEGER_COLUMNS, "Int64") | dict.fromkeys(FLOAT_COLUMNS, "float64"))
    table[list(TEXT_COLUMNS)] = table[list(TEXT_COLUMNS)].astype(object).fillna("").astype(str)
    # The published code of a step may be undefined behaviour, and still is the published step before the next one.
    for ratios, times, left_out in (("", "time_us", undefined), ("published_", "published_time_us", set[str]())):
        table[f"{ratios}speedup"] = table[times].iloc[0] / table[times]
        table[f"{ratios}step_gain"] = _before(table[times], steps, left_out) / table[times]
    if not data.has_times:
        return table.drop(columns=list(TIME_COLUMNS))
    return _with_fractions(table, data)


def _step_row(step: Step, data: StudyData, reference: pandas.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kernel": step.kernel,
        "unroll": step.unroll,
        "block_size": data.settings["reference"].get("block_size"),
        "grid_size": step.grid_size,
        "device": data.device["name"],
        "status": NOT_MEASURED,
    }
    found = step.rows(reference)
    return row if found.empty else row | _measured(found.iloc[0], ("grid_size", "launches", "relative_error"))


def _measured(point: pandas.Series[Any], further: Sequence[str] = ()) -> dict[str, Any]:
    """The columns that a row copies from its point; times only where the point is right."""
    columns = ("status", "flags", "message", *further, *(_TIMES if point["status"] == "ok" else ()))
    return {column: point[column] for column in columns}


def _whole_sweep(kernel: str, measurements: pandas.DataFrame) -> dict[str, Any]:
    """The columns that summarise all points of a kernel."""
    rows = measurements[measurements["kernel"] == kernel]
    return point_counts(kernel, measurements) | {
        "largest_relative_error": rows.loc[rows["dtype"] == "float32", "relative_error"].astype("float64").max(),
        "bit_identical_points": (rows["bit_identical"] == "yes").sum(),
        "repeated_points": rows["bit_identical"].isin(["yes", "no"]).sum(),
    }


def _rival_rows(data: StudyData) -> list[dict[str, Any]]:
    """The libraries' reductions at the reference point, in the study's order."""
    reference = at_reference(data.settings, data.measurements, free=("block_size",))
    rows = []
    for rival in data.settings["rivals"]:
        found = reference[reference["kernel"] == rival]
        row = {"kernel": rival, "device": data.device["name"], "status": NOT_MEASURED}
        row |= point_counts(rival, data.measurements)
        rows.append(row if found.empty else row | _measured(found.iloc[0], ("relative_error",)))
    return rows


def _with_fractions(table: pandas.DataFrame, data: StudyData) -> pandas.DataFrame:
    """The table with the columns limit_columns(), after that of the theoretical peak."""
    limits = limit_bandwidths(data)
    reference = data.settings["reference"]
    at = limits[(limits["cache"] == reference["cache"]) & (limits["array_size"] == reference["array_size"])]
    bandwidths = at.set_index("limit")["bandwidth_gbs"].reindex(data.settings["limits"])
    on_device = table["device"] == data.device["name"]
    place = list(table.columns).index("peak_fraction")
    for number, (limit, column) in enumerate(limit_columns(data.settings).items(), start=1):
        fractions = (table["bandwidth_gbs"] / bandwidths[limit]).where(on_device)
        table.insert(place + number, column, fractions.astype("float64"))
    return table


def _baseline_rows(data: StudyData) -> list[dict[str, Any]]:
    """The baselines that were measured, in the study's order."""
    rows = data.measurements
    for column in ("array_size", "dtype", "operation"):
        rows = rows[rows[column] == data.settings["reference"][column]]
    found = [rows[rows["kernel"] == kernel] for kernel in baseline_kernels(data.settings)]
    # The peak is the device's memory's, not the host's.
    return [
        {**_measured(points.iloc[0], ("kernel", "device")), "peak_fraction": None}
        for points in found
        if not points.empty
    ]


def _published_only(published: Published, steps: Sequence[Step]) -> list[dict[str, Any]]:
    shown = {(step.kernel, unroll) for step in steps for unroll in (step.unroll, None)}
    return [
        {"kernel": kernel, "unroll": unroll, "status": PUBLISHED_ONLY}
        for kernel, unroll in published.times_us
        if (kernel, unroll) not in shown
    ]


def _before(times: pandas.Series[float], steps: Sequence[Step], left_out: set[str]) -> pandas.Series[float]:
    """The time of the last step before each row that has one, without some kernels; NaN for rows that are no steps."""
    before: list[float] = []
    last = float("nan")
    for step, time_us in zip(steps, times, strict=False):
        before.append(last)
        last = last if step.kernel in left_out or pandas.isna(time_us) else time_us
    return pandas.Series(before, dtype="float64").reindex(times.index)
