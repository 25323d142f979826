"""The verdicts of a comparison for one column of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.publish.tables.formats import Column, TableText, as_latex
from kernelsweep.scatter import RATIO_CONFIDENCE


def comparison_latex(summary: Mapping[str, Any], devices: Sequence[str]) -> str:
    """A table for each study, with a row for each kernel that the comparison is about; or why there is none.

    summary  comparison.json's content
    devices  the names of those before and after, or of the only one
    """
    shown = {kernel: one for kernel, one in summary["kernels"].items() if one["is_shown"]}
    if not shown:
        return as_latex("No kernel has times on both sides.")
    studies, within = grouped(shown.items(), lambda item: item[0].partition("/")[0]), summary["same_within"]
    return "\n".join(as_latex(_table(study, dict(of), devices, within)) for study, of in studies.items())


def _table(study: str, shown: Mapping[str, Mapping[str, Any]], devices: Sequence[str], within: float) -> TableText:
    sides = f"on {devices[1]} over that on {devices[0]}" if devices[1:] else "after over that before"
    kernels = shown.values()
    intervals = [f"{one['low']:.3f}–{one['high']:.3f}" for one in kernels]
    return TableText(
        title=f"{'Two devices' if devices[1:] else 'Before and after'}, {study}",
        provenance=f"{' beside '.join(devices[::-1])}.",
        kernels=[kernel.partition("/")[2] for kernel in shown],
        columns=[
            Column("points", [str(one["points"]) for one in kernels]),
            Column("ratio", [f"{one['ratio']:.3f}" for one in kernels]),
            Column(f"{RATIO_CONFIDENCE:.0%} interval", intervals, right=False),
            Column("verdict", [one["verdict"] for one in kernels], right=False),
        ],
        explanation=f"Ratio: the time {sides}, the geometric mean over all points. Same: the whole interval is"
        f" within {100 * within:.3g}% of 1; undecided: a part of it is.",
    )
