"""The verdicts of a comparison for one column of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.publish.tables.formats import Column, TableText


def comparison_table(summary: Mapping[str, Any], device: str) -> TableText | str:
    """A row for each kernel that the comparison is about; or why there is none.

    summary  comparison.json's content
    device   the name of the one on which the later side ran
    """
    kernels = {kernel: one for kernel, one in summary["kernels"].items() if one["is_shown"]}
    if not kernels:
        return "No kernel has times on both sides."
    return TableText(
        title="Before and after",
        provenance=f"{device}.",
        kernels=[*kernels],
        columns=[
            Column("points", [str(one["points"]) for one in kernels.values()]),
            Column("after/before", [f"{one['ratio']:.3f}" for one in kernels.values()]),
            Column("95% interval", [f"{one['low']:.3f}–{one['high']:.3f}" for one in kernels.values()], right=False),
            Column("verdict", [one["verdict"] for one in kernels.values()], right=False),
        ],
        explanation=f"After/before: the time after over that before, the geometric mean over all points. Ratios within"
        f" {summary['same_within']:.0%} of 1 do not matter.",
    )
