"""The result rows of a kernel's points: for measurements, samples and builds; no time may be below the peaks'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from kernelsweep.device.arithmetic_peak import arithmetic_peak_gflops, share_of_nearest_peak
from kernelsweep.device.outcome import Outcome, flags_of
from kernelsweep.device.platform import MOST_LAUNCHES
from kernelsweep.results import BUILD_COLUMNS, Row, is_imprecise, point_columns, time_columns
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem import ARITHMETIC
from kernelsweep.sweep.identity import IdentityOf, identity_sha256


def measurement_rows(
    kernel: KernelSource,
    report: Mapping[str, Any],
    outcomes: Mapping[Point, Outcome],
    device: Mapping[str, Any],
    known: Mapping[str, Any],
    relative_precision: float,
    identity_of: IdentityOf | None = None,
) -> list[Row]:
    """The kernel's rows of measurements.csv, in the outcomes' order.

    known               the columns that the caller knows: study, kernel, platform, source_sha256
    relative_precision  the protocol's; a point whose final interval is wider is flagged `imprecise`
    identity_of         as sweep.identity.identities() returns it; without it, the column identity_sha256 is empty
    """
    rows = []
    for point, outcome in outcomes.items():
        launches = kernel.plan(point).launches
        work = kernel.problem.work(point)
        outcome = _plausible(outcome, point, work, device)
        times = _times(outcome, work, device)
        binary = report["variants"].get(instantiation(kernel, point), {}).get("binary_sha256")
        flags = flags_of(outcome, bool(kernel.entry.undefined_behaviour))
        flags += ["imprecise"] if times and is_imprecise(times, relative_precision) else []
        flags += ["graph"] if times and len(launches) > MOST_LAUNCHES else []
        rows.append(
            {
                **known,
                **point_columns(point),
                "device": device["name"],
                "launches": len(launches),
                "grid_size": launches[0].blocks,
                "status": outcome.status,
                "message": _message(outcome),
                "reason": outcome.reason,
                "flags": " ".join(flags),
                "binary_sha256": binary,
                **times,
                "relative_error": None if outcome.relative_error is None else f"{outcome.relative_error:.4g}",
                "error_share": None
                if outcome.error_share is None or outcome.status != "ok"
                else f"{outcome.error_share:.3g}",
                "bit_identical": {None: "", True: "yes", False: "no"}[outcome.bit_identical],
                "output": outcome.output,
                "compiler": report.get("compiler"),
                "power_limit_w": device.get("power_limit_w"),
                "clock_limit_mhz": device.get("clock_limit_mhz"),
                "identity_sha256": identity_sha256(identity_of(point, binary, None)) if identity_of and binary else "",
            }
        )
    return rows


def _message(outcome: Outcome) -> str:
    """A row's message: why its point failed, or that it failed before."""
    if outcome.status == "ok" and outcome.once_wrong:
        return f"right now, and wrong in an earlier run of the same code: {' '.join(outcome.once_wrong.split())}"
    return " ".join(outcome.message.split())


def _plausible(outcome: Outcome, point: Point, work: Mapping[str, Any], device: Mapping[str, Any]) -> Outcome:
    """The outcome, or that of an implausible point in its place."""
    if outcome.status != "ok" or not outcome.visits:
        return outcome
    time_us = median(outcome.samples)
    reason = why_implausible(point, work, time_us, device)
    return replace(outcome, status="implausible", message=reason) if reason else outcome


def _times(outcome: Outcome, work: Mapping[str, Any], device: Mapping[str, Any]) -> Row:
    """The columns that only a timed point has; `work` is one run's, by unit."""
    visits = outcome.visits
    if outcome.status != "ok" or not visits:
        return {}
    powers = [visit.power_w for visit in visits if visit.power_w is not None]
    return {
        **_of_peak(time_columns([visit.counted for visit in visits], work, device["peak_bandwidth_gbs"]), work, device),
        "work": " ".join(f"{unit}={count}" for unit, count in work.items()),
        "clock_mhz": min((visit.clock_mhz for visit in visits if visit.clock_mhz is not None), default=None),
        "temperature_c": max(
            (visit.temperature_c for visit in visits if visit.temperature_c is not None), default=None
        ),
        "power_w": f"{sum(powers) / len(powers):.1f}" if powers else "",
        "throttle_reasons": " ".join(sorted({reason for visit in visits for reason in visit.throttle_reasons})),
        "device_uuid": " ".join(sorted({visit.device_uuid for visit in visits if visit.device_uuid})),
        "seconds": f"{sum(visit.seconds for visit in visits):.4f}",
        "busy_seconds": f"{sum(visit.busy_seconds for visit in visits):.4f}",
    }


def _of_peak(times: Row, work: Mapping[str, Any], device: Mapping[str, Any]) -> Row:
    """The columns of a timed point, with its share of the nearest peak where its work names a kind of arithmetic."""
    if "arithmetic" not in work:
        return times
    bandwidth_gbs, gflops = (float(times[column]) if times[column] else None for column in ("bandwidth_gbs", "gflops"))
    share, of = share_of_nearest_peak(bandwidth_gbs, gflops, work["arithmetic"], device)
    return {**times, "peak_fraction": "" if share is None else f"{share:.5f}", "peak_of": of}


def sample_rows(kernel: KernelSource, outcomes: Mapping[Point, Outcome]) -> Iterator[Row]:
    """The kernel's rows of samples/<study>/<kernel>.csv, one at a time: there may be millions of them."""
    return (
        {
            **of_point,
            "visit": number,
            "sample": sample,
            "time_us": f"{time_us:.3f}",
            "throttled": "yes" if sample in throttled else "",
        }
        for point, outcome in outcomes.items()
        for of_point in [{**point_columns(point), "grid_size": kernel.plan(point).launches[0].blocks}]
        for number, visit in enumerate(outcome.visits)
        for throttled in [set(visit.throttled)]
        for sample, time_us in enumerate(visit.samples)
    )


def _build_status(outcome: Outcome, report: Mapping[str, Any]) -> Row:
    """Whether a point's variant was built: as the report of all says, or the outcome of one compiled on its own."""
    failed = outcome if outcome.status == "build_failed" else None
    status, message = (failed.status, failed.message) if failed else (report["status"], report["message"])
    return {"status": status, "message": " ".join(message.split()) if status != "ok" else ""}


def build_rows(
    kernel: KernelSource, report: Mapping[str, Any], outcomes: Mapping[Point, Outcome], known: Mapping[str, Any]
) -> list[Row]:
    """The kernel's rows of builds.csv: one for each variant that some point runs."""
    rows: dict[tuple[Any, ...], Row] = {}
    for point, outcome in outcomes.items():
        if outcome.status == "skipped":
            continue
        columns = point_columns({name: point[name] for name in kernel.variant_axes})
        variant = {name: value for name, value in columns.items() if name in BUILD_COLUMNS}
        resources = report["variants"].get(instantiation(kernel, point), {})
        row = rows.setdefault(
            tuple(variant.values()),
            {
                **{name: known[name] for name in ("study", "kernel", "platform")},
                **variant,
                "target": report["target"],
                **_build_status(outcome, report),
                **{name: value for name, value in resources.items() if name in BUILD_COLUMNS},
            },
        )
        if outcome.occupancy is not None:
            row["occupancy"] = f"{outcome.occupancy:.4f}"
    return list(rows.values())


# How far above a peak a time may be: clocks vary, and the timer has steps.
MARGIN = 1.05

# The fastest arithmetic on operands of a type: tensor cores multiply float32 as tf32. For other types they may be
# faster than the known peak.
_FASTEST = {"float32": "tf32", "tf32": "tf32", "int32": "int32"}


def why_implausible(
    point: Mapping[str, Any], work: Mapping[str, Any], time_us: float, device: Mapping[str, Any]
) -> str | None:
    """Why a point can't have taken so little time, in a sentence, or None if it can.

    work    the work of one run, by unit: bytes and flops are known, and the kind of arithmetic
    device  a device.json

    A point in a hot cache may be faster than the memory.
    """
    rates = []
    if point["cache"] == "cold" and "bytes" in work:
        rates.append(("GB/s", work["bytes"], device["peak_bandwidth_gbs"], "the memory's"))
    types = [work["arithmetic"]] if "arithmetic" in work else [one for one in point.values() if one in ARITHMETIC]
    if len(types) == 1 and "flops" in work:
        arithmetic = _FASTEST.get(types[0])
        peak = arithmetic_peak_gflops(device, arithmetic) if arithmetic else None
        rates.append(("GFLOP/s", work["flops"], peak, f"that of {arithmetic}"))
    for unit, count, peak, whose in rates:
        rate = count / time_us / 1e3
        if peak and rate > MARGIN * peak:
            return (
                f"{time_us:.3f} us would be {rate:,.0f} {unit}, and the peak is {peak:,.0f} ({whose}). Either the "
                "kernel doesn't do all of its work when it is timed, or the problem's work is counted wrong"
            )
    return None
