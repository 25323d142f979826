"""Counts of warps of 64 lanes beside what omniperf printed for an AMD GPU: a page of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kernelsweep.analysis.published import Published

# A metric's title, its value from a kernel's counts, and its decimals as printed.
_Counts = Mapping[str, float]
_COMPARED: Mapping[str, tuple[str, Callable[[_Counts], float], int]] = {
    "executing_threads": ("active lanes of 64", lambda counts: counts["executing_threads"], 2),
    "branch": ("branches a wavefront", lambda counts: counts["branch"], 2),
    "bank_conflict": ("bank conflicts a wavefront", lambda counts: counts["bank_conflict"] / counts["warps"], 2),
}


@dataclass(frozen=True)
class ComparedStep:
    """A step's values by metric: as counted, and as printed (None where the source prints none)."""

    kernel: str
    values: Mapping[str, tuple[float, float | None]]


def compare_with_omniperf(
    counted: Iterable[Mapping[str, str]], published: Published, kernels: Sequence[str]
) -> list[ComparedStep]:
    """The steps that the source printed a metric of, in the order of `kernels`.

    counted  rows of metrics.csv, of one point a kernel
    """
    counts: dict[str, dict[str, float]] = {}
    unroll = {}
    for row in counted:
        if row["value"]:
            counts.setdefault(row["kernel"], {})[row["metric"]] = float(row["value"])
            unroll[row["kernel"]] = int(row["unroll"])
    steps = []
    for kernel in kernels:
        if kernel not in counts:
            continue
        printed = {metric: published.metric(kernel, unroll[kernel], metric) for metric in _COMPARED}
        if any(value is not None for value in printed.values()):
            values = {metric: (of(counts[kernel]), printed[metric]) for metric, (_, of, _) in _COMPARED.items()}
            steps.append(ComparedStep(kernel, values))
    return steps


def omniperf_page(steps: Sequence[ComparedStep], title: str, published: Published, command: str) -> str:
    """The comparison as a page of Markdown.

    title    the study's
    command  the command that makes the page
    """
    titles = [title for title, _, _ in _COMPARED.values()]
    lines = [
        f"# Counted with 64 lanes, printed by omniperf: {title.partition(':')[0].lower()}",
        "",
        f"Made by `{command}`. Counted on the emulator with warps of 64 lanes, in the study's blocks. Printed in the "
        f"source `{published.source}`: {published.device}.",
        "[What is counted, and why it is not nearer](../counting.md#warps-of-64-lanes).",
        "",
        "Each value is what was counted / what was printed.",
        "",
        f"| step | {' | '.join(titles)} |",
        f"|---|{'---:|' * len(titles)}",
    ]
    for step in steps:
        cells = [_cell(*step.values[metric], decimals) for metric, (_, _, decimals) in _COMPARED.items()]
        lines.append(f"| `{step.kernel}` | {' | '.join(cells)} |")
    lines += ["", *_summary(steps)]
    return "\n".join(lines) + "\n"


def _cell(counted: float, printed: float | None, decimals: int) -> str:
    return f"{counted:.{decimals}f} / {'–' if printed is None else f'{printed:.{decimals}f}'}"


def _summary(steps: Sequence[ComparedStep]) -> list[str]:
    """How far off each metric is, and how many of the changes from step to step go the printed way."""
    lines = ["| metric | values | off by | changes from step to step that go the printed way |", "|---|---:|---:|---:|"]
    for metric, (title, _, _) in _COMPARED.items():
        pairs = [(counted, printed) for counted, printed in (step.values[metric] for step in steps) if printed]
        if not pairs:
            continue
        off = [counted / printed - 1 for counted, printed in pairs]
        both = [values for step in steps if (values := step.values[metric])[1] is not None]
        changes = [
            (_sign(after[0] - before[0]), _sign((after[1] or 0) - (before[1] or 0))) for before, after in pairwise(both)
        ]
        same = sum(ours == theirs for ours, theirs in changes)
        lines.append(f"| {title} | {len(both)} | {min(off):+.0%} to {max(off):+.0%} | {same} of {len(changes)} |")
    return lines


def _sign(difference: float) -> int:
    # Sources print hundredths of a lane.
    return 0 if abs(difference) < 0.01 else 1 if difference > 0 else -1
