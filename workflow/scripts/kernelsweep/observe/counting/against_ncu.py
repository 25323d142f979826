"""Compare the emulator's counts with Nsight Compute's counters at the same points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from kernelsweep.analysis.step_metrics import title
from kernelsweep.analysis.words import device_text, step_name
from kernelsweep.results import ALL_POINT_COLUMNS

# The allowed difference: in percentage points for efficiencies, else as a fraction of the measured value.
PERCENTAGE_POINTS = 0.1
FRACTION = 0.01

EFFICIENCIES = ("global_load_efficiency", "global_store_efficiency")
GLOBAL = ("global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors")
SHARED = ("shared_load_requests", "shared_load_wavefronts", "shared_store_requests", "shared_store_wavefronts")
CONFLICTS = "bank_conflict"
COMPARED = (*EFFICIENCIES, *GLOBAL, *SHARED, CONFLICTS)

_NAMES = ("study", "kernel", *ALL_POINT_COLUMNS)
_PERCENT_DECIMALS = 2

# A point's metrics by name, by the columns that name the point.
_Points = Mapping[tuple[str, ...], Mapping[str, float]]


@dataclass(frozen=True)
class ComparedCount:
    """A metric of one point; `counted` is None if the point was not counted."""

    study: str
    step: str
    point: tuple[str, ...]
    metric: str
    measured: float
    counted: float | None

    @property
    def off(self) -> float:
        """Counted minus measured: in percentage points, else as a fraction of the measured value, possibly infinite."""
        if self.counted is None:
            return inf
        difference = self.counted - self.measured
        if self.metric in EFFICIENCIES or not difference:
            return difference
        return difference / self.measured if self.measured else inf

    @property
    def is_within(self) -> bool:
        """Whether the difference is within the allowed one."""
        return abs(self.off) <= (PERCENTAGE_POINTS if self.metric in EFFICIENCIES else FRACTION)

    @property
    def is_same(self) -> bool:
        """Whether both have the same digits in the page."""
        return self.text(self.counted) == self.text(self.measured)

    def text(self, value: float | None) -> str:
        """A value for readers."""
        if value is None:
            return "not counted"
        return f"{value:.{_PERCENT_DECIMALS}f}%" if self.metric in EFFICIENCIES else f"{value:,.0f}"


def compare_counts(counted: Iterable[Mapping[str, str]], measured: Iterable[Mapping[str, str]]) -> list[ComparedCount]:
    """Each measured value with the count of the same point, in the order of `measured`.

    counted, measured  rows of metrics.csv; points that were only counted are left out

    Nsight Compute's own counter of bank conflicts includes conflicts with other traffic. So the measured value is the
    number of wavefronts beyond one a request, which is equal if lanes access at most four bytes.
    """
    counts = _by_point(counted)
    found = []
    for point, values in _by_point(measured).items():
        study, kernel = point[:2]
        step = step_name(kernel, int(point[_NAMES.index("unroll")]))
        if all(name in values for name in SHARED):
            load_requests, load_wavefronts, store_requests, store_wavefronts = (values[name] for name in SHARED)
            beyond = load_wavefronts + store_wavefronts - load_requests - store_requests
            values = {**values, CONFLICTS: beyond}
        found += [
            ComparedCount(study, step, point, metric, values[metric], counts.get(point, {}).get(metric))
            for metric in COMPARED
            if metric in values
        ]
    return found


def _by_point(rows: Iterable[Mapping[str, str]]) -> _Points:
    points: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        if row["value"] != "" and row["metric"] in COMPARED:
            # Recordings of earlier versions have no column `parameters`.
            points.setdefault(tuple(row.get(name) or "" for name in _NAMES), {})[row["metric"]] = float(row["value"])
    return points


def counts_page(compared: Sequence[ComparedCount], device: Mapping[str, Any], command: str) -> str:
    """The comparison as a page of Markdown: each metric over all points, then point by point.

    device   the recording's device
    command  the command that makes the page
    """
    lines = [
        "# Counted on the emulator, measured by Nsight Compute",
        "",
        f"Made by `{command}`. {device_text(device)}.",
        "How the counts come about, and why they may differ: docs/counting.md of kernelsweep.",
        "",
        *_summary(compared),
        "",
        "Below, one number says that both are the same; else it is what was counted / what was measured.",
    ]
    for study in dict.fromkeys(one.study for one in compared):
        of_study = [one for one in compared if one.study == study]
        lines += ["", f"## {study}", "", *_table(of_study, (*EFFICIENCIES, *GLOBAL))]
        if any(one.counted or one.measured for one in of_study if one.metric in SHARED):
            lines += ["", *_table(of_study, (*SHARED, CONFLICTS))]
    return "\n".join(lines) + "\n"


def _summary(compared: Sequence[ComparedCount]) -> list[str]:
    lines = ["| metric | goal | points | the same | within the goal | farthest off |", "|---|---|---:|---:|---:|---|"]
    for metric in COMPARED:
        values = [one for one in compared if one.metric == metric]
        if not values:
            continue
        goal = f"{PERCENTAGE_POINTS} percentage points" if metric in EFFICIENCIES else f"{FRACTION:.0%}"
        same, within = (sum(flags) for flags in zip(*((one.is_same, one.is_within) for one in values), strict=True))
        worst = max(values, key=lambda one: abs(one.off))
        farthest = "–" if worst.is_same else f"{_off(worst)}: {worst.step} of {worst.study}"
        lines.append(f"| {title(metric)} | {goal} | {len(values)} | {same} | {within} | {farthest} |")
    return lines


def _off(one: ComparedCount) -> str:
    if one.off == inf:
        return f"{one.text(one.counted)} instead of {one.text(one.measured)}"
    return f"{one.off:+.3f} percentage points" if one.metric in EFFICIENCIES else f"{one.off:+.1%}"


def _table(compared: Sequence[ComparedCount], metrics: Sequence[str]) -> list[str]:
    """A row a point and a column a metric; values outside the goal are bold."""
    lines = [f"| kernel | {' | '.join(map(title, metrics))} |", f"|---|{'---:|' * len(metrics)}"]
    for point in dict.fromkeys(one.point for one in compared):
        values = {one.metric: one for one in compared if one.point == point}
        step = next(iter(values.values())).step
        cells = [_cell(values[metric]) if metric in values else "–" for metric in metrics]
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return lines


def _cell(one: ComparedCount) -> str:
    if one.is_same:
        return one.text(one.counted)
    text = f"{one.text(one.counted)} / {one.text(one.measured)}"
    return text if one.is_within else f"**{text}**"
