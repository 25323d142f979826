"""A forest plot of a comparison: each edited kernel's ratio at each size, as bars over one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

from kernelsweep.intervals import Interval, ratio_text

# The room beyond the drawn ends, as a fraction of the scale.
_HEADROOM = 0.04


@dataclass(frozen=True)
class Bar:
    """A row: the size, the numbers, the verdict and the points that have another; and places from 0 to 100."""

    size: str
    numbers: str
    verdict: str
    others: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Forest:
    """The bars by kernel, and the places of the range within which nothing matters, and of 1."""

    kernels: Mapping[str, list[Bar]]
    within: tuple[float, float]
    one: float


def forest(summary: Mapping[str, Any]) -> Forest:
    """The forest of what comparison.json has; without bars where no kernel was edited."""
    edited = {kernel: found for kernel, found in summary["kernels"].items() if found["is_edited"]}
    rows = {
        kernel: ([("all sizes", found)] if len(found["sizes"]) > 1 else [])
        + [(size["text"], size) for size in found["sizes"].values()]
        for kernel, found in edited.items()
    }
    margin = 1 + summary["same_within"]
    every = [row for of_kernel in rows.values() for _, row in of_kernel]
    start = log(min([1 / margin, *(row["low"] for row in every)]))
    end = log(max([margin, *(row["high"] for row in every)]))
    room = _HEADROOM * (end - start)

    def place(ratio: float) -> float:
        return round(100 * (log(ratio) - start + room) / (end - start + 2 * room), 2)

    def bar(name: str, row: Mapping[str, Any]) -> Bar:
        others = [f"{count} {word}" for word, count in row["counts"].items() if count and word != row["verdict"]]
        numbers = ratio_text(Interval(row["ratio"], row["low"], row["high"]))
        ends = (place(row[end]) for end in ("low", "ratio", "high"))
        points = ", ".join(others) and f"{', '.join(others)} of {row['points']} points"
        return Bar(name, numbers, row["verdict"], points, *ends)

    bars = {kernel: [bar(name, row) for name, row in of_kernel] for kernel, of_kernel in rows.items()}
    return Forest(bars, (place(1 / margin), place(margin)), place(1))
