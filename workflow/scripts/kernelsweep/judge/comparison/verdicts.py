"""Verdicts on two sweeps, point by point and over a kernel's points: faster, slower, same or undecided.

A ratio is the time after over the time before. With a margin of x, the smallest difference that matters,

    slower     the whole interval lies above 1 + x
    faster     the whole interval lies below 1 / (1 + x)
    same       the whole interval lies between the two
    undecided  anything else: more samples or visits might decide

so that an unknown difference is never called the same: Wellek, "Testing Statistical Hypotheses of Equivalence and
Noninferiority", 2nd edition (2010), chapter 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.device.pairs import FASTER, SAME, SLOWER, UNDECIDED, Mean, Ratio, mean_ratio, scatter_of, verdict
from kernelsweep.judge.comparison.sides import NAME_COLUMNS, Name, name_of
from kernelsweep.judge.data.row_counts import is_failure
from kernelsweep.judge.data.words import fault, size_words
from kernelsweep.results import Row, number_or_text, with_parameters
from kernelsweep.scatter import Scatter, estimate, widened
from kernelsweep.statistics import Interval, ratio

ARRAY_SIZE = "array_size"


@dataclass(frozen=True)
class Size:
    """A size: a value on each axis of size, by the axis' name. Sizes are ordered by axes, then by values."""

    values: tuple[tuple[str, int | float | str], ...]

    @property
    def text(self) -> str:
        """The size in words, as size_words()."""
        return size_words(dict(self.values)) or "its only size"

    @property
    def key(self) -> str:
        """The size in comparison.json: `16777216` for an array, `n=4096 dtype=float32` for other axes."""
        of_axis = dict(self.values)
        if [*of_axis] == [ARRAY_SIZE]:
            return str(of_axis[ARRAY_SIZE])
        return " ".join(f"{axis}={value}" for axis, value in of_axis.items())

    def __lt__(self, other: Size) -> bool:
        return self._order() < other._order()

    def _order(self) -> list[tuple[str, bool, Any]]:
        return [(axis, isinstance(value, str), value) for axis, value in self.values]


def size_of(row: Mapping[str, Any], axes: Sequence[str]) -> Size:
    """The size of a row of measurements.csv, whose study has these axes of size."""
    values = with_parameters(row)
    return Size(tuple((axis, number_or_text(str(values.get(axis) or ""))) for axis in axes))


NOT_COMPARED = "not_compared"
VERDICTS = (SLOWER, FASTER, UNDECIDED, SAME)  # the worst first

# Reasons why a point wasn't compared.
ONLY_BEFORE, ONLY_AFTER = "only in the sweep before", "only in the sweep after"
SKIPPED, NO_TIMES = "skipped", "no times"

# The note on a compared point that an edit left as it was, and on one whose versions ran alternately.
SAME_MACHINE_CODE = "the same machine code"
PAIRED = "both versions ran alternately"


@dataclass(frozen=True)
class ComparedPoint:
    """A point of either sweep with its rows, which are None in a sweep without the point, and the verdict.

    ratio      after over before; None if the point wasn't compared, for the reason in `note`
    axes       its study's axes of size
    pairs      the ratio from pairs, where there are any
    processes  those that made its pairs; empty without pairs
    """

    before: Row | None
    after: Row | None
    ratio: Interval | None
    verdict: str
    note: str
    axes: Sequence[str] = (ARRAY_SIZE,)
    pairs: Ratio | None = None
    processes: Sequence[int] = ()

    @property
    def row(self) -> Row:
        """The row that identifies the point: the one after, else the one before."""
        row = self.after or self.before
        assert row is not None, "a point has a row in at least one sweep"
        return row

    @property
    def kernel(self) -> str:
        """The kernel, as `study/kernel`."""
        return f"{self.row['study']}/{self.row['kernel']}"

    @property
    def size(self) -> Size:
        """The size of the problem."""
        return size_of(self.row, self.axes)

    @property
    def fails(self) -> bool:
        """Whether the point should be right after, and isn't."""
        return self.after is not None and is_failure(self.after)

    @property
    def has_failed_since(self) -> bool:
        """Whether it fails, and was right before."""
        return self.fails and self.before is not None and self.before["status"] == "ok"


@dataclass(frozen=True)
class Overall:
    """Several points together: the geometric mean of their ratios, the verdict on it, and the count of each verdict.

    Points of one process may all deviate in one direction. So the interval of two sweeps is the geometric mean of the
    points' intervals, and does not narrow with their number. In pairs, each point's samples are its own; and what is
    left of a process is where it has placed the code, which points with the same machine code have in common.
    """

    ratio: Interval
    verdict: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Group:
    """Compared points of a kernel, or of a study: all together, and those of each size, by increasing size."""

    points: Sequence[ComparedPoint]
    whole: Overall
    sizes: Mapping[Size, Overall]


def compare_points(
    before: Sequence[Row],
    after: Sequence[Row],
    margin: float,
    reasons: Mapping[Name, str] | None = None,
    axes: Mapping[str, Sequence[str]] | None = None,
) -> list[ComparedPoint]:
    """The points of both sweeps, starting with the points of `after`.

    before, after  rows of measurements.csv, as texts
    reasons        by a point's name, the reason why a point of `after` is not in `before`, if known
    axes           by study, its axes of size; without them, each has an array's size
    """
    timed = [[row for row in rows if row["status"] == "ok" and row.get("time_us")] for rows in (before, after)]
    scatter = estimate(*timed)
    partners = _partners(before, after)
    of_pairs = scatter_of([row["pairs"] for row in before if row.get("pairs")])
    compared = []
    for row in after:
        partner = partners.get(name_of(row))
        if partner is None:
            compared.append(ComparedPoint(None, row, None, NOT_COMPARED, (reasons or {}).get(name_of(row), ONLY_AFTER)))
        else:
            compared.append(_compared(partner, row, scatter, of_pairs, margin))
    taken = {id(partner) for partner in partners.values()}
    compared += [ComparedPoint(row, None, None, NOT_COMPARED, ONLY_BEFORE) for row in before if id(row) not in taken]
    of_study = axes or {}
    return [replace(point, axes=of_study.get(point.row["study"], point.axes)) for point in compared]


def _partners(before: Sequence[Row], after: Sequence[Row]) -> dict[Name, Row]:
    """The row before, by the name of the row after.

    A grid size may depend on the multiprocessors, or be the launch plan's. So two rows that have certain values in all
    other name columns alone in their sweeps are the same point with any grid sizes.
    """
    counts = [Counter(map(_without_grid, rows)) for rows in (before, after)]

    def key(row: Row) -> Name:
        short = _without_grid(row)
        return short if max(count[short] for count in counts) == 1 else name_of(row)

    of_before = {key(row): row for row in before}
    return {name_of(row): of_before[key(row)] for row in after if key(row) in of_before}


def _without_grid(row: Row) -> Name:
    return name_of({**row, "grid_size": None})


def _compared(
    before: Row, after: Row, scatter: Scatter | None, of_pairs: Scatter | None, margin: float
) -> ComparedPoint:
    def uncompared(why: str) -> ComparedPoint:
        return ComparedPoint(before, after, None, NOT_COMPARED, why)

    if "skipped" in (before["status"], after["status"]):
        return uncompared(SKIPPED)
    for row, when in ((before, "before"), (after, "now")):
        if row["status"] != "ok":
            return uncompared(f"{fault(row)[0]} {when}")
    if not before.get("time_us") or not after.get("time_us"):
        return uncompared(NO_TIMES)
    if before.get("pairs") and (paired := before["pairs"].ratio(of_pairs)):
        interval = paired.interval
        of_pairs_alone = {"pairs": paired, "processes": before["pairs"].processes}
        return ComparedPoint(before, after, interval, verdict(interval, margin), PAIRED, **of_pairs_alone)
    if scatter is None:
        return uncompared("visited once: nothing says how far processes lie apart (measuring.visits)")
    interval = ratio(widened(after, scatter), widened(before, scatter))
    same_code = before["binary_sha256"] and before["binary_sha256"] == after["binary_sha256"]
    same_code = same_code and not before.get("changed")
    return ComparedPoint(before, after, interval, verdict(interval, margin), SAME_MACHINE_CODE if same_code else "")


def overall(points: Iterable[ComparedPoint], margin: float) -> Overall | None:
    """The compared points together; None if no point was compared."""
    compared = [point for point in points if point.ratio]
    return _together(compared, margin) if compared else None


def _together(compared: Sequence[ComparedPoint], margin: float) -> Overall:
    mean = mean_ratio(
        [
            (point.pairs or _of_sweeps(point.ratio), str((point.after or {}).get("binary_sha256")), point.processes)
            for point in compared
            if point.ratio
        ]
    )
    return Overall(mean, verdict(mean, margin), Counter(point.verdict for point in compared))


def group_of(compared: Sequence[ComparedPoint], margin: float) -> Group:
    """Compared points, at least one, as a group."""
    sizes = sorted(grouped(compared, lambda point: point.size).items())
    return Group(compared, _together(compared, margin), {size: _together(those, margin) for size, those in sizes})


def _of_sweeps(interval: Interval) -> Ratio:
    """A ratio of two sweeps' medians: all of its interval is how processes scatter."""
    reach = max(log(interval.value / interval.low), log(interval.high / interval.value))
    return Ratio(Mean(log(interval.value), 0.0, 1), reach)


def by_kernel(points: Iterable[ComparedPoint]) -> dict[str, list[ComparedPoint]]:
    """The points by kernel, in their order."""
    return grouped(points, lambda point: point.kernel)


def shown_kernels(points: Sequence[ComparedPoint], margin: float) -> dict[str, Group]:
    """The compared points of the kernels that the comparison is about, as in_order_of_verdict().

    Of an edit, these are the kernels with other machine code; of two devices, or where no code differs, all.
    """
    compared = by_kernel(point for point in points if point.ratio)
    edited = {kernel: those for kernel, those in compared.items() if any(map(is_edited, those))}
    return in_order_of_verdict(compared if len(devices(points)) > 1 else edited or compared, margin)


def in_order_of_verdict(groups: Mapping[str, Sequence[ComparedPoint]], margin: float) -> dict[str, Group]:
    """Groups of compared points: slower ones first, then those that are slower at a size, faster, undecided, the same.

    Of two with one verdict, the one whose ratio is farther from 1 comes first.
    """
    made = {name: group_of(compared, margin) for name, compared in groups.items()}
    return dict(sorted(made.items(), key=lambda item: _rank(item[1])))


def is_edited(point: ComparedPoint) -> bool:
    """Whether a point was compared, with other machine code before."""
    return point.ratio is not None and point.note != SAME_MACHINE_CODE


def _rank(group: Group) -> tuple[int, float]:
    whole, at_sizes = group.whole, {size.verdict for size in group.sizes.values()}
    order = [whole.verdict == SLOWER, SLOWER in at_sizes, whole.verdict == FASTER, {whole.verdict, *at_sizes} != {SAME}]
    return (*order, True).index(True), -abs(log(whole.ratio.value))


def devices(points: Iterable[ComparedPoint]) -> list[str]:
    """The devices before and after in words, where they differ; else one, or none."""
    both = [(point.before, point.after) for point in points if point.ratio and point.before and point.after]
    sides = [" and ".join(sorted({str(row["device"]) for row in rows})) for rows in zip(*both, strict=True)]
    return list(dict.fromkeys(sides))


def comparison_summary(points: Sequence[ComparedPoint], margin: float) -> dict[str, Any]:
    """The content of comparison.json, for other programs.

    same_within  the margin
    failed       by kernel, the number of points that were right before and are not now
    kernels      by kernel, those that the comparison is about first: points compared, ratio with low and high, verdict,
                 whether its machine code was edited, whether it is one that the comparison is about, and sizes with the
                 same by size, and its text
    """
    named, compared = shown_kernels(points, margin), by_kernel(point for point in points if point.ratio)
    others = {kernel: group_of(those, margin) for kernel, those in compared.items() if kernel not in named}
    kernels = {
        kernel: {
            **_as_json(group.whole),
            "is_edited": any(map(is_edited, group.points)),
            "is_shown": kernel in named,
            "sizes": {size.key: {"text": size.text, **_as_json(found)} for size, found in group.sizes.items()},
        }
        for kernel, group in (named | others).items()
    }
    failed = Counter(point.kernel for point in points if point.has_failed_since)
    return {"same_within": margin, "failed": dict(failed), "kernels": kernels}


def _as_json(whole: Overall) -> dict[str, Any]:
    counts = {verdict: whole.counts[verdict] for verdict in VERDICTS}
    return {"points": sum(counts.values()), **_ends(whole.ratio), "verdict": whole.verdict, "counts": counts}


def _ends(ratio: Interval) -> dict[str, float]:
    return {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}


def kernels_with_verdict(summary: Mapping[str, Any], word: str) -> list[str]:
    """The kernels of comparison.json with a verdict, over all their points or at some size."""
    return [
        kernel
        for kernel, found in summary["kernels"].items()
        if word in (found["verdict"], *(size["verdict"] for size in found["sizes"].values()))
    ]


def comparison_rows(points: Iterable[ComparedPoint]) -> list[Row]:
    """The rows of comparison.csv."""
    rows = []
    for point in points:
        before, after = point.before or {}, point.after or {}
        row: Row = {name: point.row.get(name) for name in NAME_COLUMNS}
        for side, when in ((before, "before"), (after, "after")):
            row[f"time_{when}_us"] = side.get("time_us") if side.get("status") == "ok" else None
            row |= {f"{name}_{when}": side.get(name) for name in ("status", "flags")}
            row |= {f"{name}_{when}": side.get(f"{name}_sha256") for name in ("source", "binary")}
        if point.ratio:
            row |= {name: f"{end:.5f}" for name, end in _ends(point.ratio).items()}
        rows.append(row | {"verdict": point.verdict, "note": point.note, "measured_before": before.get("measured")})
    return rows
