"""How near a GPU's times are to a recording's, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kernelsweep.results import ALL_POINT_COLUMNS

# By study, kernel, point and hash of the kernel's source, in microseconds.
Times = Mapping[tuple[str, ...], float]


def times_of(rows: Iterable[Mapping[str, str]]) -> Times:
    """The times in rows of measurements.csv."""
    names = ("study", "kernel", *ALL_POINT_COLUMNS, "source_sha256")
    return {
        tuple(row.get(name, "") for name in names): float(row["time_us"])
        for row in rows
        if row["status"] == "ok" and row["time_us"]
    }


def beside_recording(device: str, own: Times, recording: str, recorded: Times) -> str:
    """How a GPU's times compare with a recording's, at the points that both have of the same source."""
    ratios = [own[key] / recorded[key] for key in own if key in recorded]
    if not ratios:
        return f"Your {device} has no point of the same source as the recording {recording}."
    low, median, high = np.quantile(ratios, (0.05, 0.5, 0.95))
    return (
        f"Your {device} takes {median:.3f} times as long as the recording {recording}: the median of {len(ratios):,}"
        f" points of the same source, 90% of which lie between {low:.3f} and {high:.3f}."
    )
