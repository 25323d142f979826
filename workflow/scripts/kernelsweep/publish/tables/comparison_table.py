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
    where = f"{devices[0]}." if not devices[1:] else f"Before: {devices[0]}; after: {devices[1]}."
    studies = grouped(shown.items(), lambda item: item[0].partition("/")[0])
    return "\n".join(as_latex(_table(study, dict(of), where, summary["same_within"])) for study, of in studies.items())


def _table(study: str, shown: Mapping[str, Mapping[str, Any]], where: str, within: float) -> TableText:
    kernels = shown.values()
    intervals = [f"{one['low']:.3f}–{one['high']:.3f}" for one in kernels]
    return TableText(
        title=f"Before and after, {study}",
        provenance=where,
        kernels=[kernel.partition("/")[2] for kernel in shown],
        columns=[
            Column("points", [str(one["points"]) for one in kernels]),
            Column("after/before", [f"{one['ratio']:.3f}" for one in kernels]),
            Column(f"{RATIO_CONFIDENCE:.0%} interval", intervals, right=False),
            Column("verdict", [one["verdict"] for one in kernels], right=False),
        ],
        explanation="After/before: the time after over that before, the geometric mean over all points. Same: the whole"
        f" interval is within {100 * within:.3g}% of 1; undecided: a part of it is.",
    )
