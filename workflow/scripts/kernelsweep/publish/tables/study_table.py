"""A study's table for programs: a row for each step of its story, then what stands beside the kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas

from kernelsweep.judge.best.best_words import configuration_text, ties_text
from kernelsweep.judge.best.find import Best, arithmetic_by_row, best_at
from kernelsweep.judge.data.published import columns_beside
from kernelsweep.judge.data.reference import (
    UNDEFINED_BEHAVIOUR,
    at_place,
    flagged_kernels,
    undefined_kernels,
)
from kernelsweep.judge.data.step_metrics import by_step, shown_metrics, step_metrics, unit_of
from kernelsweep.judge.data.steps import step_labels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_axes, shown_place
from kernelsweep.judge.data.words import limit_kernel, place_text, reference_text
from kernelsweep.publish.tables.published_text import PublishedColumn
from kernelsweep.results import EDITED, arithmetic_of
from kernelsweep.statistics import Interval, ratio, time_interval

# The status of a row whose point was not measured.
NOT_MEASURED = "not_measured"

# That of a kernel that no step has, of which there is only the fastest configuration.
NO_STEP = "no_step"

# The kinds of rows.
KERNEL_ROW, RIVAL_ROW, LIMIT_ROW = "kernel", "rival", "limit"

# Columns that a row copies from its point, and those of a right point on a platform with times.
_OF_POINT = ("grid_size", "launches", "status", "relative_error", "flags", "message")
_OF_TIME = ("time_us", "time_low_us", "time_high_us", "noise", "bandwidth_gbs", "gflops")
_OVER_FIRST = ("speedup", "speedup_low", "speedup_high")
TIME_COLUMNS = (*_OF_TIME, "work", "peak_fraction", "peak_of", *_OVER_FIRST, "compared", "as_fast")
_COUNTS = ("bit_identical_points", "repeated_points", "points_right", "points_run", "points_skipped")
_INTEGERS = ("launches", "compared", *_COUNTS)


@dataclass(frozen=True)
class StoryRow:
    """One step of a study's story: of its `steps`, or without them each kernel at its fastest configuration.

    label   its name among the others
    values  those that the study's file gives it on axes of kernels
    point   its row of measurements; None where the sweep has none
    best    a kernel's best configurations, where there are no `steps`
    """

    kernel: str
    label: str
    values: Mapping[str, Any]
    point: Mapping[str, Any] | None
    best: Best | None = None


@cache
def story_of(data: StudyData) -> list[StoryRow]:
    """The steps of a study's story, in their order."""
    if data.steps:
        reference = data.at_reference()
        return [
            StoryRow(step.kernel, label, {**step.axes, "grid_size": step.grid_size}, _first(step.rows(reference)))
            for step, label in zip(data.steps, step_labels(data.steps), strict=True)
        ]
    best, rows = best_at(data), at_place(data.kernel_rows, shown_place(data))
    story = []
    for kernel in (name for name in data.kernel_names if name not in data.settings.limits):
        of_kernel = rows[rows["kernel"] == kernel]
        chosen = best[kernel].fastest.parameters if kernel in best else {}
        at = {axis: value for axis, value in chosen.items() if value is not None}
        failed_first = of_kernel.sort_values("status", key=lambda status: status == "ok", kind="stable")
        point = _first(at_place(of_kernel, at) if at else failed_first)
        story.append(StoryRow(kernel, kernel, at, point, best.get(kernel)))
    return story


def published_columns(data: StudyData) -> list[PublishedColumn]:
    """What is published of the steps of a study's story."""
    steps = [(one.kernel, one.values) for one in story_of(data)] if data.published else []
    return [PublishedColumn(*of, numbers) for of, numbers in columns_beside(data.published, steps).items()]


def _first(rows: pandas.DataFrame) -> dict[str, Any] | None:
    return {str(name): value for name, value in rows.iloc[0].items()} if not rows.empty else None


def place_of_table(data: StudyData) -> str:
    """The point of the table's times in words."""
    return reference_text(data.settings) if data.steps else place_text(shown_place(data))


@cache  # A ladder, which shows it, is drawn in several widths.
def study_table(data: StudyData) -> pandas.DataFrame:
    """One row for each step of the study's story, then libraries and limits. Nobody changes it.

    Columns; those that the platform or the study has nothing for are left out:
      kernel, kind               its name; kernel, rival or limit
      the study's axes           the values of its point
      launches, device, status   of that point; the status is one of `results.STATUSES`, `not_measured` or, of a kernel
                                 that no step has, `no_step`
      time_us, time_low_us, time_high_us, noise, bandwidth_gbs, gflops
                                 as in measurements.csv; NaN unless the status is `ok`
      work                       as in measurements.csv
      peak_fraction, peak_of     the share of the device's nearest peak, and which that is
      copy_fraction, ...         the bandwidth over that of each of the study's limits
      speedup, speedup_low, speedup_high
                                 the first step's time over this one's, with its 95% interval
      fastest_us, fastest        with `steps`: the time of the kernel's fastest configuration at the place, and which
      compared, as_fast          without `steps`: the number of the kernel's configurations with a time, and those that
                                 can't be told apart from the fastest
      relative_error             of the point, against the exactly rounded sum; NaN but for floats
      error_share_low, error_share_high
                                 the least and the most of the kernel's whole sweep, as in measurements.csv; on a
                                 platform with times, of the reference's element type alone; of a library's row, of its
                                 kind of arithmetic
      bit_identical_points, repeated_points
                                 floating-point points of the whole sweep: those whose repeated runs left the same bits,
                                 and all that were repeated
      points_right, points_run, points_skipped, failures
                                 over the whole sweep: right, attempted, skipped, and the statuses of the others
      proven                     what the proof of the kernel says
      flags, message             of the point
      a column for each metric with its unit
      published_time_us SOURCE (DEVICE), published_speedup SOURCE (DEVICE), ...
                                 what others print of this step; a speedup is over their own first step
    """
    rows = [_row(step.kernel, step, data) for step in story_of(data)]
    best: Mapping[str, Best] = {}
    if data.has_times and not data.compares_outputs:
        best = best_at(data) if data.steps else {}
        no_step = [name for name in best if name not in {row["kernel"] for row in rows}]
        rows += [_base(name, KERNEL_ROW, data) | {"status": NO_STEP} for name in no_step]
        rows += _beside(data)
    axes = dict.fromkeys((*place_axes(data.settings), *kernel_axes(data.settings), "grid_size"))
    columns = ["kernel", "kind", *axes, "launches", "device", "status", *TIME_COLUMNS, "relative_error"]
    columns += [column for column in rows[0] if column not in (*columns, "flags", "message")] + ["flags", "message"]
    table = pandas.DataFrame(rows, columns=columns, dtype=object)
    others = [column for column in columns if not isinstance(rows[0].get(column), str) and column not in axes]
    types = dict.fromkeys(others, "float64") | dict.fromkeys(_INTEGERS, "Int64")
    table = table.astype(types)
    table = table.assign(**{axis: table[axis].convert_dtypes() for axis in axes})
    _add_ratios(table, data)
    has_no = {
        *(() if data.has_times and not data.compares_outputs else TIME_COLUMNS),
        *(() if data.proofs else ("proven",)),
        *(("compared", "as_fast") if data.steps else ()),
    }
    table = _with_metrics(table.drop(columns=list(has_no)), data)
    if best:
        fastest = [best[name].fastest if name in best else None for name in table["kernel"]]
        times = pandas.Series([one.time_us if one else math.nan for one in fastest], dtype="float64")
        texts = [configuration_text(one) if one else "" for one in fastest]
        table = table.assign(fastest_us=times, fastest=texts)
    columns_beside = published_columns(data)
    published = {column.name: pandas.Series(column.values, dtype="float64") for column in columns_beside}
    return table.assign(**{name: values.reindex(range(len(table))) for name, values in published.items()})


def _row(kernel: str, step: StoryRow, data: StudyData) -> dict[str, Any]:
    row: dict[str, Any] = _base(kernel, KERNEL_ROW, data) | dict(step.values)
    if step.point is not None and not data.compares_outputs:
        row |= _measured(step.point, data)
    if not step.values:
        row |= dict.fromkeys(kernel_axes(data.settings))
    if step.best is not None:
        row |= {
            "compared": step.best.compared,
            "as_fast": ties_text(step.best, len(step.best.ties)) if step.best.ties else "",
        }
    return row


def _base(kernel: str, kind: str, data: StudyData, arithmetic: str | None = None) -> dict[str, Any]:
    """The columns of a kernel's whole sweep, and of a point that was not measured.

    arithmetic  the kind that a library's errors are of, as it may have several
    """
    rows = data.measurements[data.measurements["kernel"] == kernel]
    counts = rows["status"].value_counts()
    failed = counts.drop(["ok", "skipped"], errors="ignore").sort_index()
    dtype = data.settings.reference.get("dtype") if data.has_times else None
    alike = rows[arithmetic_by_row(rows) == arithmetic] if arithmetic else rows
    errors = (alike[alike["dtype"] == dtype] if dtype else alike)["error_share"]
    proof = data.proofs.get(kernel)
    # Properties of the kernel hold even if the sweep has no row at the point.
    flags = {UNDEFINED_BEHAVIOUR: undefined_kernels(rows), EDITED: flagged_kernels(rows, EDITED)}
    return {
        "kernel": kernel,
        "kind": kind,
        "device": data.device["name"],
        "status": NOT_MEASURED,
        **dict.fromkeys(("peak_of", "work", "as_fast", "message"), ""),
        "flags": " ".join(flag for flag, kernels in flags.items() if kernel in kernels),
        "error_share_low": errors.min(),
        "error_share_high": errors.max(),
        "bit_identical_points": (rows["bit_identical"] == "yes").sum(),
        "repeated_points": rows["bit_identical"].isin(["yes", "no"]).sum(),
        "points_right": counts.get("ok", 0),
        "points_run": counts.sum() - counts.get("skipped", 0),
        "points_skipped": counts.get("skipped", 0),
        "failures": ", ".join(f"{count} {status}" for status, count in failed.items()),
        "proven": proof.in_words if proof else "",
    }


def _measured(point: Mapping[str, Any], data: StudyData) -> dict[str, Any]:
    """The columns that a row copies from its point; times only where the point is right."""
    values = {axis: value for axis, value in point.items() if not pandas.isna(value)}
    row = {axis: values[axis] for axis in data.settings.kinds if axis in values}
    row |= {column: values[column] for column in _OF_POINT if column in values}
    if point["status"] == "ok" and data.has_times:
        row |= {column: values[column] for column in (*_OF_TIME, "work", "peak_fraction") if column in values}
        row["peak_of"] = values.get("peak_of") or ("memory" if "peak_fraction" in values else "")
    return row


def _beside(data: StudyData) -> list[dict[str, Any]]:
    """The rows of libraries and of limits, at the place where kernels are compared."""
    place = shown_place(data)
    rows = []
    kinds = dict.fromkeys(data.measured_libraries, RIVAL_ROW)
    kinds |= {limit_kernel(limit): LIMIT_ROW for limit in data.settings.limits}
    for name, kind in kinds.items():
        rows_there = at_place(data.measurements[data.measurements["kernel"] == name], place)
        if kind == LIMIT_ROW:
            rows_there = rows_there.sort_values("time_us").head(1)
        # How a library launches is not known.
        unknown = dict.fromkeys(kernel_axes(data.settings)) if name not in data.kernel_names else {}
        for point in rows_there.to_dict("records"):
            measured = _measured({str(column): value for column, value in point.items()}, data)
            own = {axis: value for axis, value in unknown.items() if axis in ("block_size", "unroll", "grid_size")}
            base = _base(name, kind, data, arithmetic_of(point))
            rows.append(base | measured | own | ({"launches": None} if unknown else {}))
    return rows


def _add_ratios(table: pandas.DataFrame, data: StudyData) -> None:
    """Fill in the columns of ratios: over the first step, and to limits."""
    times, has_first = table["time_us"], table["kernel"].iloc[0] not in undefined_kernels(data.measurements)
    table["speedup"] = times.iloc[0] / times if has_first else math.nan
    rows = table.to_dict("records")
    gains = [_gain(row, rows[0]) if not pandas.isna(row["speedup"]) else None for row in rows]
    for column, end in (("speedup_low", "low"), ("speedup_high", "high")):
        table[column] = pandas.Series([getattr(gain, end) if gain else None for gain in gains], dtype="float64")
    for limit in data.settings.limits if data.has_times else ():
        of_limit = table.loc[(table["kernel"] == limit_kernel(limit)) & (table["kind"] == LIMIT_ROW), "bandwidth_gbs"]
        fractions = table["bandwidth_gbs"] / of_limit.max()
        table.insert(list(table.columns).index("speedup"), f"{limit}_fraction", fractions.astype("float64"))


def _gain(row: Mapping[Any, Any], first: Mapping[Any, Any]) -> Interval:
    return Interval(1, 1, 1) if row is first else ratio(over=time_interval(first), under=time_interval(row))


def _with_metrics(table: pandas.DataFrame, data: StudyData) -> pandas.DataFrame:
    metrics, steps = step_metrics(data), len(data.steps)
    columns = {
        f"{name} ({unit_of(metrics, name)})": by_step(metrics, name, steps).reindex(range(len(table)))
        for name in shown_metrics(data, metrics)
    }
    return table.assign(**columns)
