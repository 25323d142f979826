"""What a comparison of two kernels says, for notebooks: frames of ratios, and the verdict of `snakemake compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import pandas

from kernelsweep.base.groups import grouped
from kernelsweep.device.pairs import pairs_of
from kernelsweep.judge.comparison.counts import count_changes, counted_points, counted_verdict
from kernelsweep.judge.comparison.sides import NAME_COLUMNS, previous
from kernelsweep.judge.comparison.text import verdict_lines
from kernelsweep.judge.comparison.verdicts import NOT_COMPARED, ComparedPoint, compare_points, overall
from kernelsweep.results import MEASUREMENT_COLUMNS, Row, read_rows, write_rows
from kernelsweep.study.point import Point
from kernelsweep.sweep.editions import failing
from kernelsweep.sweep.sweep_kernel import Swept

_RATIOS = ("ratio", "low", "high")


@dataclass(frozen=True)
class Compared:
    """A comparison of a kernel with another one, or with itself before its latest edit. Printed, it is the verdict.

    points   a frame with a row for each point: its axes, ratio, low, high, verdict, status, note
    sizes    the same for each size of the problem, over its points: ratio, low, high, verdict, points
    verdict  "faster", "slower", "same" or "undecided" over all points; of counts "less", "more", "mixed" or "same
             counts"; "not_compared"
    right    whether the kernel is right at all points, and no check found a mistake

    A ratio is this kernel's time over the other's, from low to high with 99% confidence: 1.02 is 2% slower. It is NA
    on the emulator, which compares what both do to memory.
    """

    points: pandas.DataFrame = field(repr=False)
    sizes: pandas.DataFrame = field(repr=False)
    verdict: str
    right: bool
    lines: Sequence[str]

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>{self.sizes.dropna(axis=1, how='all').to_html(index=False)}"


def compared(after: Swept, before: Swept | None, margin: float, title: str) -> Compared:
    """Compare a kernel's sweep with another kernel's, or with what the journal has of the version before its edit.

    title   says what is compared
    """
    rows = kept_rows(after)
    axes = {after.study: [*after.kernel.problem.size_axes]}
    unchanged: Sequence[str] = ()
    if before:
        points = compare_points(_before(after, before), rows, margin, axes=axes)
    else:
        earlier = previous(rows, after.folder)
        points, unchanged = compare_points(earlier.rows, rows, margin, earlier.reasons, axes), earlier.unchanged
    # Of wrong results, the verdict has its own line.
    found = [row for row in failing(after.proofs) if row["check"] != "result"]
    mistakes = dict.fromkeys(f"A check found in {row['kernel']}: {row['check']}, {row['message']}." for row in found)
    return Compared(
        _frame(
            {**planned.point, **_judged([point], margin), "status": point.row["status"], "note": _note(point)}
            for planned, point in zip(after.planned, points, strict=True)
        ),
        _frame(
            {**dict(size.values), **_judged(those, margin), "points": len(those)}
            for size, those in sorted(grouped(points, lambda point: point.size).items())
        ),
        _judged(points, margin)["verdict"],
        not mistakes and not any(point.fails for point in points),
        [title, *mistakes, *verdict_lines(points, margin, unchanged).all],
    )


def kept_rows(swept: Swept) -> list[dict[str, str]]:
    """The rows of a sweep, as its file of points has them, which is written here."""
    file = swept.folder / f"points/{swept.study}/{swept.kernel.name}.csv"
    write_rows(file, MEASUREMENT_COLUMNS, swept.rows)
    return read_rows(file)


def _before(after: Swept, before: Swept) -> list[Row]:
    """The other kernel's points as rows of this one's before: those that ran in pairs, else those of equal axes."""
    axes = [axis for axis in after.kernel.problem.axes if axis in before.kernel.problem.axes]
    rows = dict(zip(before.outcomes, kept_rows(before), strict=True))
    partners = {place: planned.point for place, (planned, _) in before.against(axes).best.items()}
    for point in rows:
        partners.setdefault(_place(point, axes), point)
    found = []
    for point, row in zip(after.outcomes, kept_rows(after), strict=True):
        partner = partners.get(_place(point, axes))
        if partner is None:
            continue
        own, other = after.outcomes[point], before.outcomes[partner]
        are_right = own.status == other.status == "ok"
        found.append(
            {
                **rows[partner],
                **{name: row[name] for name in NAME_COLUMNS},
                "pairs": pairs_of(own) if own.before_binary else None,
                "counts": (other.counts, own.counts) if are_right else ({}, {}),
            }
        )
    return found


def _place(point: Point, axes: Sequence[str]) -> tuple[Any, ...]:
    return tuple(point[axis] for axis in axes)


def _judged(points: Sequence[ComparedPoint], margin: float) -> dict[str, Any]:
    """The ratio and the verdict on points together."""
    if whole := overall(points, margin):
        ends = (whole.ratio.value, whole.ratio.low, whole.ratio.high)
        return {**dict(zip(_RATIOS, ends, strict=True)), "verdict": whole.verdict}
    counted = [point for those in counted_points(points).values() for point in those]
    verdict = counted_verdict(count_changes(counted)) if counted else NOT_COMPARED
    return {**dict.fromkeys(_RATIOS), "verdict": verdict}


def _note(point: ComparedPoint) -> str:
    """How it was compared, or which counts differ, or why not."""
    if not counted_points([point]):
        return point.note
    changed = [change for change in count_changes([point]) if change.before != change.after]
    return ", ".join(f"{change.name} {change.amount}" for change in changed)


def _frame(rows: Any) -> pandas.DataFrame:
    made = pandas.DataFrame([*rows]).convert_dtypes()
    return made.astype(dict.fromkeys(_RATIOS, "Float64"))
