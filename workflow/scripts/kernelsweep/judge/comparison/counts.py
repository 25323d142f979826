"""What an edit changes in what the emulator counts: the verdict where no clock says how long a kernel takes.

Counts are exact, and those of two versions differ by the edit alone. They say how much work is left, and not how long
it takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.judge.comparison.verdicts import ComparedPoint, by_kernel

# In words, and the metrics that each is the sum of.
_QUANTITIES: Mapping[str, Sequence[str]] = {
    "sectors": ("global_load_sectors", "global_store_sectors"),
    "global accesses": ("global_load_requests", "global_store_requests"),
    "shared accesses": ("shared_load_requests", "shared_store_requests"),
    "bank conflicts": ("bank_conflict",),
    "atomics": ("global_atomics", "shared_atomics"),
    "barriers": ("barriers", "warp_synchronisations"),
    "exchanges": ("warp_exchanges",),
    "warps": ("warps",),
}
_RESOURCES = ("registers", "spilled bytes")
_UNCHANGED = "memory accesses, barriers and exchanges unchanged"
_UNCOUNTED = "arithmetic isn't counted; "
LESS, MORE, MIXED, SAME_COUNTS = "less", "more", "mixed", "same counts"


@dataclass(frozen=True)
class CountChange:
    """A quantity's sum over a kernel's points, before an edit and after it."""

    name: str
    before: float
    after: float

    @property
    def amount(self) -> str:
        """The change in words: `−25%`, `×7.7`, or `0 -> 1,024`."""
        if not self.before:
            return f"0 -> {self.after:,.0f}"
        if self.after >= 2 * self.before:
            return f"×{self.after / self.before:.1f}"
        percent = 100 * (self.after / self.before - 1)
        return f"{percent:+.{0 if abs(percent) >= 1 else 1}f}%".replace("-", "−")


def counted_points(points: Sequence[ComparedPoint]) -> dict[str, list[ComparedPoint]]:
    """The points by kernel of which both versions were counted, and neither was timed."""
    return by_kernel(point for point in points if not point.ratio and all(_counts(point)))


def _counts(point: ComparedPoint) -> tuple[Mapping[str, float], Mapping[str, float]]:
    counts: tuple[Mapping[str, float], Mapping[str, float]] = (point.before or {}).get("counts") or ({}, {})
    return counts


def count_changes(points: Sequence[ComparedPoint]) -> list[CountChange]:
    """The sums of what the points of a kernel count, without what neither version has."""
    sums = {
        name: [sum(_counts(point)[side].get(metric, 0) for point in points for metric in metrics) for side in (0, 1)]
        for name, metrics in _QUANTITIES.items()
    }
    return [CountChange(name, *sides) for name, sides in sums.items() if any(sides)]


def counted_verdict(changes: Sequence[CountChange]) -> str:
    """Whether an edit left less to do, or more, by all counts that it changed."""
    less, more = (any(sign * change.after < sign * change.before for change in changes) for sign in (1, -1))
    return MIXED if less and more else LESS if less else MORE if more else SAME_COUNTS


def registers_in_words(points: Sequence[ComparedPoint], store: UnitStore) -> str:
    """What ptxas changed in a kernel's variants: `; registers 20 to 32 -> 26 to 32`; "" for nothing that is known."""
    row, before = points[0].row, points[0].before or {}
    of, hashes = (row["study"], row["kernel"]), [str(side["source_sha256"]) for side in (before, row)]
    sides = [json.loads(store.text(text_name(*of, source, "registers")) or "{}") for source in hashes]
    if not all(sides):
        return ""
    each = [[(min(amounts), max(amounts)) for amounts in zip(*side.values(), strict=True)] for side in sides]
    ranges = [[" to ".join(dict.fromkeys(map(str, ends))) for ends in side] for side in each]
    words = [f"{name} {old} -> {new}" for name, old, new in zip(_RESOURCES, *ranges, strict=True) if old != new]
    return f"; {', '.join(words)}" if words else ""


def counted_in_words(points: Sequence[ComparedPoint], where: str = "") -> str:
    """What a kernel counts since an edit: `sectors −25%, barriers −10% at 20 of 84 points; no time without a GPU`.

    where  says at how many of its points, where not at all
    """
    changes = [change for change in count_changes(points) if change.before != change.after]
    changed = ", ".join(f"{change.name} {change.amount}" for change in changes)
    return f"{changed or _UNCHANGED}{where}; {'' if changed else _UNCOUNTED}no time without a GPU"


def counted_rank(points: Sequence[ComparedPoint]) -> int:
    """The place of a kernel's verdict among those of others, the worst first."""
    return (MORE, MIXED, LESS, SAME_COUNTS).index(counted_verdict(count_changes(points)))


COUNT_HEADS = {"kernel": False, "count": False, "change": True, "before": True, "after": True}


def count_rows(points: Sequence[ComparedPoint]) -> list[list[str]]:
    """What changed in each kernel, in the columns COUNT_HEADS."""
    return [
        [f"`{kernel}`", change.name, change.amount, f"{change.before:,.0f}", f"{change.after:,.0f}"]
        for kernel, of_kernel in counted_points(points).items()
        for change in count_changes(of_kernel)
        if change.before != change.after
    ]


def counted_summary(points: Sequence[ComparedPoint]) -> dict[str, dict[str, object]]:
    """By kernel, what comparison.json says of counts: the verdict, points, and sums before and after by quantity."""
    return {
        kernel: {
            "verdict": counted_verdict(changes := count_changes(of_kernel)),
            "points": len(of_kernel),
            "counts": {change.name: {"before": change.before, "after": change.after} for change in changes},
        }
        for kernel, of_kernel in counted_points(points).items()
    }
