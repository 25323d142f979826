"""How near a GPU's times are to a recording's, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kernelsweep.results import ALL_POINT_COLUMNS

Row = Mapping[str, str]

# The share of the points that "within" stands for.
_MOST = 0.9


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    name    as in a sentence
    device  the GPU's model
    times   microseconds by study, kernel, point and hash of the kernel's source
    """

    name: str
    device: str
    times: Mapping[tuple[str, ...], float]


def times_of(rows: Iterable[Row]) -> dict[tuple[str, ...], float]:
    """The times in rows of measurements.csv, for a Side."""
    names = ("study", "kernel", *ALL_POINT_COLUMNS, "source_sha256")
    return {
        tuple(row.get(name, "") for name in names): float(row["time_us"])
        for row in rows
        if row["status"] == "ok" and row["time_us"]
    }


def beside_recording(own: Side, recorded: Side) -> str:
    """How the times of a GPU compare with a recording's, at the points that both have of the same source.

    With r the ratio of a point's times, own over recorded: the median of r, and for a GPU of the same model the 90th
    percentile of |r - 1|, for another the range of r without its highest and lowest twentieth.
    """
    shared = [key for key in own.times if key in recorded.times]
    if not shared:
        return f"Your {own.device} has no point of the same source as {recorded.name}."
    ratios = np.array([own.times[key] / recorded.times[key] for key in shared])
    median, points = float(np.median(ratios)), f"{len(shared):,} points of the same source"
    if own.device == recorded.device:
        within = float(np.quantile(abs(ratios - 1), _MOST))
        longer = "longer" if median >= 1 else "shorter"
        return (
            f"Your {own.device} is within {within:.1%} of {recorded.name} at {_MOST:.0%} of {points}; "
            f"half of its times are at least {abs(median - 1):.1%} {longer}."
        )
    low, high = np.quantile(ratios, ((1 - _MOST) / 2, (1 + _MOST) / 2))
    return (
        f"Your {own.device} takes {median:.2f} times as long as {recorded.name}: the median of {points}, "
        f"{_MOST:.0%} of which lie between {low:.2f} and {high:.2f}."
    )
