"""The cells of a heat map that hold the best configuration, and its ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.judge.best.find import is_tie


def best_cells(rows: pandas.DataFrame, tie_break: Sequence[str]) -> list[Any]:
    """The index of the row with the largest bandwidth, and of those that can't be told apart from it; [] without any.

    Kernels with undefined behaviour don't count.
    """
    allowed = rows[rows["bandwidth_gbs"].notna() & ~rows["kernel"].isin(undefined_kernels(rows))]
    ranked = allowed.sort_values(["bandwidth_gbs", *tie_break], ascending=False)
    records = ranked.to_dict("records")
    return [index for index, row in zip(ranked.index, records, strict=True) if is_tie(row, records[0])]
