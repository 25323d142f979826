"""The summary that ends a run: how many points came out how, every failed one by name, and how well times repeat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from math import inf

import numpy as np

from kernelsweep.analysis.tally import LISTED_PER_KERNEL, Tally

# Repeatability is told for points of up to so many microseconds, and for those above: short ones repeat less well.
_TIME_RANGES_US = (10, 50)

# A right run may have these: a sweep may ask for more memory than there is, and skipped points say why.
HARMLESS = ("ok", "skipped", "out_of_memory")

# More kernels than this that miss counters for one reason are counted, not listed.
_NAMED_KERNELS = 3

# The flags that are remarks on a time; results.py explains them.
_REMARKS = ("noisy", "throttled", "other_processes")

# Of a kernel that doesn't compile, all points fail for one reason.
_LISTED_OF_FAILED_BUILD = 1


def is_failure(row: Mapping[str, str]) -> bool:
    """Whether a run must not end well for a row: a wrong result, or a point that could not be run.

    A kernel that is marked as undefined behaviour has no right result to miss: it fails only where it doesn't compile.
    """
    return row["status"] not in HARMLESS and not _expected(row)


def _expected(row: Mapping[str, str]) -> bool:
    """Whether a failure is one that undefined behaviour may have."""
    return "undefined_behaviour" in row["flags"] and row["status"] != "build_failed"


def summary_text(
    counted: Tally,
    provenance: str,
    metrics: Iterable[Mapping[str, str]] = (),
    without_header: Collection[tuple[str, str]] = (),
) -> str:
    """The summary as Markdown: points by kernel and status, skipped points by reason, failed points by name.

    metrics         the rows of metrics.csv, of which those without a value are named
    without_header  the kernels, by study and name, whose files have no header; those among the rows are named
    """
    statuses = list(counted.by_status())
    kernels = dict.fromkeys((study, kernel) for study, kernel, _ in counted.points)
    lines = [f"# Summary: {counted.points.total()} points, {provenance}", ""]
    lines += [f"| study | kernel | {' | '.join(statuses)} |", f"|---|---|{'---:|' * len(statuses)}"]
    for study, kernel in kernels:
        cells = " | ".join(str(counted.points[study, kernel, status] or "") for status in statuses)
        lines.append(f"| {study} | {kernel} | {cells} |")
    if named := [f"{study}/{kernel}" for study, kernel in kernels if (study, kernel) in without_header]:
        lines += ["", f"Without a header (`kernelsweep:`), so run by its defaults: {', '.join(named)}."]
    lines += ["", *_times(counted), *_reasons(counted), *missing_metrics(metrics), *failed_points(counted)]
    return "\n".join(lines) + "\n"


def _times(counted: Tally) -> list[str]:
    """How far the visits to a point lie apart, what else is to be known of the times, and what they took."""
    if not counted.spreads:
        return []
    lines = ["## Times", "", "How far the medians of a point's visits lie apart:", ""]
    lines += ["| time | points | half of them within | 95% of them within |", "|---|---:|---:|---:|"]
    times, every_spread = np.asarray(counted.times_us), np.asarray(counted.spreads)
    for low, high in pairwise((0.0, *_TIME_RANGES_US, inf)):
        spreads = every_spread[(low < times) & (times <= high)]
        if len(spreads):
            half, most = np.quantile(spreads, [0.5, 0.95])
            name = f"up to {high:g} µs" if high < inf else f"above {low:g} µs"
            lines.append(f"| {name} | {len(spreads)} | {half:.2%} | {most:.2%} |")
    flagged = ", ".join(f"{flag} ({counted.flags[flag]})" for flag in _REMARKS if counted.flags[flag])
    seconds, busy = counted.seconds["seconds"], counted.seconds["busy_seconds"]
    lines += ["", f"Points flagged: {flagged or 'none'}."]
    if seconds:
        lines.append(
            f"Checking and timing them took {seconds:.0f} s; {busy / seconds:.0%} of that the GPU was at work."
        )
    return [*lines, ""]


def _reasons(counted: Tally) -> list[str]:
    if not counted.skipped:
        return []
    lines = ["## Skipped", ""]
    lines += [f"- {study}/{kernel}, {count} points: {why}" for (study, kernel, why), count in counted.skipped.items()]
    return [*lines, ""]


def failed_points(counted: Tally) -> list[str]:
    """The points that failed, as Markdown: the worst first, of each kernel the first few; or that all are right."""
    if not counted.failed:
        return ["Every point that was run is right."]
    lines = ["## Failed", ""]
    # What is worst comes first.
    for study, kernel in sorted(counted.failed, key=lambda name: not counted.points[(*name, "wrong_result")]):
        rows = sorted(counted.first_failed[study, kernel], key=lambda row: row["status"] != "wrong_result")
        listed = rows[: _LISTED_OF_FAILED_BUILD if rows[0]["status"] == "build_failed" else LISTED_PER_KERNEL]
        for row in listed:
            expected = " (expected of undefined behaviour)" if _expected(row) else ""
            lines.append(
                f"- {study}/{kernel}, array size {row['array_size']}, block size {row['block_size']}, "
                f"unroll {row['unroll']}, {row['dtype']} {row['operation']}, {row['cache']}: "
                f"**{row['status']}**{expected}: {row['message']}"
            )
        if more := counted.failed[study, kernel] - len(listed):
            lines.append(f"- {study}/{kernel}: {more} more")
    return lines


def missing_metrics(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """Why values of metrics.csv are empty, as Markdown: each reason with how many values and of which kernels."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["value"] == "":
            reasons.setdefault(row["message"], []).append(f"{row['study']}/{row['kernel']}")
    if not reasons:
        return []
    lines = ["## Counters that are missing", ""]
    for message, of in reasons.items():
        kernels = list(dict.fromkeys(of))
        named = ", ".join(kernels) if len(kernels) <= _NAMED_KERNELS else f"{len(kernels)} kernels"
        lines.append(f"- {named}, {len(of)} values: {message}")
    return [*lines, ""]
