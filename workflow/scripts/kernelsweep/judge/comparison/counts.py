"""What an edit changes in what the emulator counts: the verdict where no clock says how long a kernel takes.

Counts are exact, and those of two versions differ by the edit alone. They say how much work is left, and not how long
it takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.compile.unit_store import UnitStore, resources_of
from kernelsweep.judge.comparison.verdicts import ComparedPoint, by_kernel
from kernelsweep.templates import markdown_table

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
_UNCHANGED = "memory accesses, barriers and exchanges unchanged; arithmetic isn't counted"
LESS, MORE, MIXED, SAME_COUNTS = "less", "more", "mixed", "same counts"


@dataclass(frozen=True)
class CountChange:
    """A quantity's sum over a kernel's points, before an edit and after it."""

    name: str
    before: float
    after: float

    @property
    def amount(self) -> str:
        """The change in words: `−25%`, or `0 -> 1,024`."""
        if not self.before:
            return f"0 -> {self.after:,.0f}"
        percent = 100 * (self.after / self.before - 1)
        return f"{percent:+.{0 if abs(percent) >= 1 else 1}f}%".replace("-", "−")


def counted_points(points: Sequence[ComparedPoint]) -> dict[str, list[ComparedPoint]]:
    """The points by kernel of which both versions were counted, and neither was timed."""
    return by_kernel(point for point in points if not point.ratio and all(_counts(point)))


def _counts(point: ComparedPoint) -> tuple[Mapping[str, float], Mapping[str, float]]:
    found: tuple[Mapping[str, float], Mapping[str, float]] = (point.before or {}).get("counts") or ({}, {})
    return found


def count_changes(points: Sequence[ComparedPoint]) -> list[CountChange]:
    """The sums of what the points of a kernel count, without what neither version has."""
    sums = {
        name: [sum(_counts(point)[side].get(one, 0) for point in points for one in metrics) for side in (0, 1)]
        for name, metrics in _QUANTITIES.items()
    }
    return [CountChange(name, *both) for name, both in sums.items() if any(both)]


def counted_verdict(changes: Sequence[CountChange]) -> str:
    """Whether an edit left less to do, or more, by all counts that it changed."""
    less, more = (any(sign * change.after < sign * change.before for change in changes) for sign in (1, -1))
    return MIXED if less and more else LESS if less else MORE if more else SAME_COUNTS


def registers_in_words(points: Sequence[ComparedPoint], store: UnitStore) -> str:
    """What ptxas changed in a kernel's variants: `; registers 20 to 32 -> 26 to 32`; "" for nothing that is known."""
    row, before = points[0].row, points[0].before or {}
    names = [resources_of(row["study"], row["kernel"], str(one["source_sha256"])) for one in (before, row)]
    both = [json.loads(store.text(name) or "{}") for name in names]
    if not all(both):
        return ""
    ranges = [
        [" to ".join(dict.fromkeys(map(str, (min(values), max(values))))) for values in zip(*one.values(), strict=True)]
        for one in both
    ]
    words = [f"{name} {old} -> {new}" for name, old, new in zip(_RESOURCES, *ranges, strict=True) if old != new]
    return f"; {', '.join(words)}" if words else ""


def counted_in_words(points: Sequence[ComparedPoint]) -> str:
    """The verdict on a kernel: `less: sectors −25%, barriers −10%; no time without a GPU`."""
    changes = count_changes(points)
    changed = ", ".join(f"{change.name} {change.amount}" for change in changes if change.before != change.after)
    found = f"{counted_verdict(changes)}: {changed}" if changed else _UNCHANGED
    return f"{found}; no time without a GPU"


def counted_rank(points: Sequence[ComparedPoint]) -> int:
    """The place of a kernel's verdict among those of others, the worst first."""
    return (MORE, MIXED, LESS, SAME_COUNTS).index(counted_verdict(count_changes(points)))


def counts_table(points: Sequence[ComparedPoint]) -> list[str]:
    """What changed in each kernel, as Markdown; empty where nothing was counted."""
    rows = [
        [kernel, change.name, f"{change.before:,.0f}", f"{change.after:,.0f}", change.amount]
        for kernel, those in counted_points(points).items()
        for change in count_changes(those)
        if change.before != change.after
    ]
    if not rows:
        return []
    heads = {"kernel": False, "count": False, "before": True, "after": True, "change": True}
    return ["Counted on the emulator, summed over the points of each kernel:", "", markdown_table(heads, rows), ""]


def counted_summary(points: Sequence[ComparedPoint]) -> dict[str, dict[str, object]]:
    """By kernel, what comparison.json says of counts: the verdict, points, and sums before and after by quantity."""
    return {
        kernel: {
            "verdict": counted_verdict(changes := count_changes(those)),
            "points": len(those),
            "counts": {change.name: {"before": change.before, "after": change.after} for change in changes},
        }
        for kernel, those in counted_points(points).items()
    }
