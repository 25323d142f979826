"""A forest plot of a comparison: each edited kernel's ratio at each size, as bars over one scale."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, exp, floor, log
from typing import Any

from kernelsweep.statistics import Interval, ratio_text

# The room beyond the drawn ends, as a fraction of the scale.
_HEADROOM = 0.04

# The numbers of the scale are at most so many, and so far apart.
_MOST_TICKS = 6
_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1e9)

# With more bars, those of single sizes unfold.
_MOST_BARS = 30

# So many letters of a size's name have room beside its bar on a phone.
_SHORT = 5


def forest(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The forest of what comparison.json has, as comparison.html takes it: places are from 0 to 100.

    kernels  by kernel that the comparison is about, the bars of all sizes and of each, if several: size, numbers,
             verdict, points with each if several, and the places low to high
    is_short whether readers see all bars at once; has_short_sizes, whether a phone has room beside a size's name
    within   the places of the range within which nothing matters, and `one`, of 1
    ticks    the scale's numbers, each with its place
    """
    rows = {
        kernel: [found, *(found["sizes"].values() if len(found["sizes"]) > 1 else ())]
        for kernel, found in summary["kernels"].items()
        if found["is_shown"]
    }
    margin = 1 + summary["same_within"]
    bars = [row for of_kernel in rows.values() for row in of_kernel]
    start = log(min([1 / margin, *(row["low"] for row in bars)]))
    end = log(max([margin, *(row["high"] for row in bars)]))
    room = _HEADROOM * (end - start)

    def place(ratio: float) -> float:
        return round(100 * (log(ratio) - start + room) / (end - start + 2 * room), 2)

    def bar(row: Mapping[str, Any]) -> dict[str, Any]:
        counts = [f"{count} {word}" for word, count in row["counts"].items() if count]
        return {
            "size": row.get("text", ""),
            "numbers": ratio_text(Interval(row["ratio"], row["low"], row["high"])),
            "verdict": row["verdict"],
            "points": f"{', '.join(counts)} of {row['points']} points" if counts[1:] else "",
            **{name: place(row[name]) for name in ("low", "ratio", "high")},
        }

    return {
        "kernels": {kernel: [bar(row) for row in of_kernel] for kernel, of_kernel in rows.items()},
        "is_short": len(bars) <= _MOST_BARS,
        "has_short_sizes": all(len(row.get("text", "")) <= _SHORT for row in bars),
        "within": (place(1 / margin), place(margin)),
        "one": place(1),
        "ticks": {f"{tick:g}": place(tick) for tick in _ticks(exp(start - room), exp(end + room))},
    }


def _ticks(least: float, most: float) -> list[float]:
    """Round ratios between two, at most _MOST_TICKS."""
    step = next(step for step in _STEPS if (most - least) / step <= _MOST_TICKS)
    return [round(number * step, 3) for number in range(ceil(least / step), floor(most / step) + 1)]
