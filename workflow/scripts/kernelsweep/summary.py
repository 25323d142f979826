"""The summary that ends a run: how many points came out how, every failed one by name, and how well times repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf

import numpy as np

# Repeatability is told for points of up to so many microseconds, and for those above: short ones repeat less well.
_TIME_RANGES_US = (10, 50)

# A right run may have these: a sweep may ask for more memory than there is, and skipped points say why.
HARMLESS = ("ok", "skipped", "out_of_memory")

# More kernels than this that miss counters for one reason are counted, not listed.
_NAMED_KERNELS = 3

# The flags that are remarks on a time; results.py explains them.
_REMARKS = ("noisy", "throttled", "other_processes")

# More failed points of one kernel than this are counted, not listed. Where it doesn't compile, all fail for one reason.
_LISTED_PER_KERNEL = 5
_LISTED_OF_FAILED_BUILD = 1


def failures(rows: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The rows for which a run must not end well: wrong results and points that could not be run.

    A kernel that is marked as undefined behaviour has no right result to miss, so it is among them only where it
    doesn't compile.
    """
    return [row for row in rows if row["status"] not in HARMLESS and not _expected(row)]


def _expected(row: Mapping[str, str]) -> bool:
    """Whether a failure is one that undefined behaviour may have."""
    return "undefined_behaviour" in row["flags"] and row["status"] != "build_failed"


def statuses_of(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The statuses that occur, ok first."""
    return sorted({row["status"] for row in rows}, key=lambda status: (status != "ok", status))


def summarise_rows(
    rows: Sequence[Mapping[str, str]], provenance: str, metrics: Iterable[Mapping[str, str]] = ()
) -> str:
    """The summary as Markdown: points by kernel and status, skipped points by reason, failed points by name.

    metrics  the rows of metrics.csv, of which those without a value are named
    """
    statuses = statuses_of(rows)
    kernels = list(dict.fromkeys((row["study"], row["kernel"]) for row in rows))
    counts = Counter((row["study"], row["kernel"], row["status"]) for row in rows)
    lines = [f"# Summary: {len(rows)} points, {provenance}", ""]
    lines += [f"| study | kernel | {' | '.join(statuses)} |", f"|---|---|{'---:|' * len(statuses)}"]
    for study, kernel in kernels:
        cells = " | ".join(str(counts[study, kernel, status] or "") for status in statuses)
        lines.append(f"| {study} | {kernel} | {cells} |")
    lines += ["", *_times(rows), *_reasons(rows), *missing_metrics(metrics), *failed_points(rows)]
    return "\n".join(lines) + "\n"


def _times(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """How far the visits to a point lie apart, what else is to be known of the times, and what they took."""
    visited = [row for row in rows if row.get("visit_spread")]
    if not visited:
        return []
    lines = ["## Times", "", "How far the medians of a point's visits lie apart:", ""]
    lines += ["| time | points | half of them within | 95% of them within |", "|---|---:|---:|---:|"]
    for low, high in pairwise((0.0, *_TIME_RANGES_US, inf)):
        spreads = [float(row["visit_spread"]) for row in visited if low < float(row["time_us"]) <= high]
        if spreads:
            half, most = np.quantile(spreads, [0.5, 0.95])
            name = f"up to {high:g} µs" if high < inf else f"above {low:g} µs"
            lines.append(f"| {name} | {len(spreads)} | {half:.2%} | {most:.2%} |")
    flags = Counter(flag for row in visited for flag in row["flags"].split())
    flagged = ", ".join(f"{flag} ({flags[flag]})" for flag in _REMARKS if flags[flag])
    seconds, busy = (sum(float(row.get(name) or 0) for row in visited) for name in ("seconds", "busy_seconds"))
    lines += ["", f"Points flagged: {flagged or 'none'}."]
    if seconds:
        lines.append(
            f"Checking and timing them took {seconds:.0f} s; {busy / seconds:.0%} of that the GPU was at work."
        )
    return [*lines, ""]


def _reasons(rows: Sequence[Mapping[str, str]]) -> list[str]:
    reasons = Counter((row["study"], row["kernel"], row["message"]) for row in rows if row["status"] == "skipped")
    if not reasons:
        return []
    lines = ["## Skipped", ""]
    lines += [f"- {study}/{kernel}, {count} points: {why}" for (study, kernel, why), count in reasons.items()]
    return [*lines, ""]


def failed_points(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The points that failed, as Markdown: the worst first, of each kernel the first few; or that all are right."""
    failed = [row for row in rows if row["status"] not in ("ok", "skipped")]
    failed.sort(key=lambda row: row["status"] != "wrong_result")  # What is worst comes first.
    if not failed:
        return ["Every point that was run is right."]
    lines = ["## Failed", ""]
    shown: Counter[tuple[str, str]] = Counter()
    totals = Counter((row["study"], row["kernel"]) for row in failed)
    for row in failed:
        kernel = row["study"], row["kernel"]
        shown[kernel] += 1
        limit = _LISTED_OF_FAILED_BUILD if row["status"] == "build_failed" else _LISTED_PER_KERNEL
        if shown[kernel] <= limit:
            expected = " (expected of undefined behaviour)" if _expected(row) else ""
            lines.append(
                f"- {row['study']}/{row['kernel']}, array size {row['array_size']}, block size {row['block_size']}, "
                f"unroll {row['unroll']}, {row['dtype']} {row['operation']}, {row['cache']}: "
                f"**{row['status']}**{expected}: {row['message']}"
            )
        elif shown[kernel] == totals[kernel]:
            lines.append(f"- {row['study']}/{row['kernel']}: {totals[kernel] - limit} more")
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
