"""The summary that ends a run: points by status, failed points by name, and how well times repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf

import numpy as np

from kernelsweep.analysis.completeness import (
    PlannedKernel,
    ended_early,
    kernels_not_run,
    row_count_errors,
    studies_not_run,
)
from kernelsweep.analysis.proofs import KernelProof, Proofs, proof_summary
from kernelsweep.analysis.row_counts import LISTED_PER_KERNEL, RowCounts, is_excused
from kernelsweep.results import ALL_POINT_COLUMNS
from kernelsweep.sweep.point import in_words

# Repeatability is given for ranges of times with these bounds, since short times repeat less well.
_TIME_RANGES_US = (10, 50)

# If more kernels miss counters for one reason, they are counted instead of listed.
_NAMED_KERNELS = 3

# The flags that are remarks on a time; results.py explains them.
_REMARKS = ("noisy", "imprecise", "throttled", "set_clocks", "other_processes")

# All points of a kernel that doesn't compile fail for one reason.
_LISTED_OF_FAILED_BUILD = 1


def summary_text(
    counted: RowCounts,
    provenance: str,
    metrics: Iterable[Mapping[str, str]] = (),
    planned: Sequence[PlannedKernel] = (),
    proofs: Proofs | None = None,
) -> str:
    """The summary as Markdown: points by study and status, skipped points by reason, failed points by name.

    Kernels have rows of their own where a point failed or a check is missing.

    metrics  the rows of metrics.csv; those without a value are named
    planned  the run's plan: kernels that were not run, and missing rows are named
    proofs   of the kernels; None for a recording, which has none
    """
    lines = [f"# Summary: {counted.points.total()} points, {provenance}", "", *_table(counted, proofs)]
    if excluding := [kernel for kernel in planned if kernel.excluded]:
        counts = [f"{kernel.excluded:,} combinations of {kernel.study}/{kernel.kernel}" for kernel in excluding]
        lines += ["", f"Excluded by restrictions: {', '.join(counts)}."]
    lines += _chosen(counted, planned)
    lines += [
        "",
        *counted.differing(),
        *_times(counted),
        *_reasons(counted),
        *missing_metrics(metrics),
        *_not_run(counted, planned),
    ]
    lines += proof_summary(proofs or {}, counted.points)
    lines += [*once_wrong_points(counted), *excused_points(counted), *failed_points(counted)]
    lines += _incomplete(counted, planned)
    return "\n".join(lines) + "\n"


def _table(counted: RowCounts, proofs: Proofs | None) -> list[str]:
    """A row for each study, and below it one for each of its kernels that is not all right."""
    statuses = list(counted.by_status())
    heads = ["study", "kernel", *statuses, *([] if proofs is None else ["proven"])]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * len(statuses)}{'' if proofs is None else '---|'}"]
    studies: dict[str, list[str]] = {}
    for study, kernel in dict.fromkeys((study, kernel) for study, kernel, _ in counted.points):
        studies.setdefault(study, []).append(kernel)

    def row(study: str, name: str, counts: Mapping[str, int], proven: str) -> str:
        cells = [study, name, *(str(counts.get(status) or "") for status in statuses)]
        return f"| {' | '.join([*cells, *([] if proofs is None else [proven])])} |"

    for study, kernels in studies.items():
        found = {kernel: (proofs or {}).get((study, kernel)) for kernel in kernels}
        known = [proof for proof in found.values() if proof is not None]
        proven = f"{sum(proof.is_proven for proof in known)} of {len(known)} kernels" if known else ""
        lines.append(row(study, "all", counted.by_status(study), proven))
        for kernel, proof in found.items():
            if counted.failed[study, kernel] or (proof is not None and not proof.is_proven):
                counts = {status: counted.points[study, kernel, status] for status in statuses}
                lines.append(row(study, kernel, counts, _proven(proof)))
    return lines


def _proven(proof: KernelProof | None) -> str:
    """What was proven of a row's kernel as Markdown; nothing for a library."""
    if proof is None:
        return ""
    return f"**{proof.in_words}**" if proof.found else proof.in_words


def _chosen(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The kernels with fewer rows than valid points, as Markdown: a search has chosen the points, or nothing could."""
    fewer = [kernel for kernel in planned if kernel.rows is not None and kernel.rows < kernel.valid]
    ended = [kernel for kernel in fewer if ended_early(counted, kernel)]
    chosen = [kernel for kernel in fewer if kernel not in ended]
    why = {
        True: "Chosen by the search",
        False: "Checked as a selection that has every value of every axis, because there are no times to search by",
    }
    lines = []
    for searched, text in why.items():
        counts = [
            f"{kernel.rows:,} of {kernel.valid:,} points of {kernel.study}/{kernel.kernel}"
            for kernel in chosen
            if kernel.searched == searched
        ]
        lines += ["", f"{text}: {', '.join(counts)}."] if counts else []
    for kernel in ended:
        count = counted.points[kernel.study, kernel.kernel, "build_failed"]
        lines += ["", f"The search of {kernel.study}/{kernel.kernel} ended after {count} points: none compiles."]
    return lines


def _times(counted: RowCounts) -> list[str]:
    """How far a point's visits differ, remarks on times, and how long measuring took, as Markdown."""
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


def _reasons(counted: RowCounts) -> list[str]:
    if not counted.skipped:
        return []
    lines = ["## Skipped", ""]
    lines += [f"- {study}/{kernel}, {count} points: {why}" for (study, kernel, why), count in counted.skipped.items()]
    return [*lines, ""]


def _not_run(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The kernels that were not run at all, as Markdown."""
    kernels = kernels_not_run(counted, planned)
    if not kernels:
        return []
    lines = ["## Not run", ""]
    for kernel in kernels:
        why = kernel.cannot_run or ("every point was skipped" if kernel.rows else "it has no rows")
        lines.append(f"- {kernel.study}/{kernel.kernel}: {why}")
    return [*lines, ""]


def _incomplete(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """Why the run proves less than it was asked to, as Markdown."""
    errors = incomplete_run(counted, planned)
    return ["", "## Incomplete", "", *(f"- {error}" for error in errors)] if errors else []


def incomplete_run(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The reasons for which a run must not end well although no point failed: rows that are missing, or nothing run."""
    return [
        *row_count_errors(counted, planned),
        *(
            f"study {study}: no point was run, so nothing was shown to be right. The section Skipped says why."
            for study in studies_not_run(counted, planned)
        ),
    ]


def excused_points(counted: RowCounts) -> list[str]:
    """The failed points of kernels of which undefined behaviour explains each, as Markdown; empty if there are none."""
    excused = [kernel for kernel in counted.failed if _is_excused(counted, kernel)]
    return ["## Expected of undefined behaviour", "", *_listed(counted, excused), ""] if excused else []


def once_wrong_points(counted: RowCounts) -> list[str]:
    """The points that are right, and were wrong in an earlier run of the same code, as Markdown; empty without any."""
    lines = [f"- {_point_name(row)}: {row['message']}" for row in counted.once_wrong]
    return ["## Wrong in an earlier run", "", *lines, ""] if lines else []


def failed_points(counted: RowCounts) -> list[str]:
    """The first failed points of the other kernels as Markdown, the worst kernels first; or that there are none."""
    # The worst come first.
    failed = sorted(
        (kernel for kernel in counted.failed if not _is_excused(counted, kernel)),
        key=lambda name: not counted.points[(*name, "wrong_result")],
    )
    if failed:
        return ["## Failed", "", *_listed(counted, failed)]
    run = counted.points.total() - counted.skipped.total()
    return [f"{all_right(bool(counted.failed))}." if run else "**No point was run.**"]


def all_right(are_some_excused: bool) -> str:
    """The verdict on a run without failures.

    are_some_excused  whether undefined behaviour explains wrong results in it
    """
    return "Every point that was run is right" + (
        ", apart from kernels with undefined behaviour" if are_some_excused else ""
    )


def _is_excused(counted: RowCounts, kernel: tuple[str, str]) -> bool:
    return counted.failed[kernel] == counted.excused[kernel]


def _listed(counted: RowCounts, kernels: Iterable[tuple[str, str]]) -> list[str]:
    lines = []
    for study, kernel in kernels:
        rows = sorted(counted.first_failed[study, kernel], key=lambda row: row["status"] != "wrong_result")
        listed = rows[: _LISTED_OF_FAILED_BUILD if rows[0]["status"] == "build_failed" else LISTED_PER_KERNEL]
        for row in listed:
            expected = " (expected of undefined behaviour)" if is_excused(row) else ""
            lines.append(f"- {_point_name(row)}: **{row['status']}**{expected}: {row['message']}")
        if more := counted.failed[study, kernel] - len(listed):
            lines.append(f"- {study}/{kernel}: {more} more")
    return lines


def _point_name(row: Mapping[str, str]) -> str:
    """A row's kernel and its values on all axes, in words."""
    return f"{row['study']}/{row['kernel']}, {in_words({column: row.get(column) for column in ALL_POINT_COLUMNS})}"


def missing_metrics(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """Why values of metrics.csv are empty, as Markdown: each reason, its number of values, and their kernels."""
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
