"""How near a platform's kernels come to the peak: the first sentence of its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from kernelsweep.judge.data.words import list_texts


def reach(charts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences on the share of the peak of our fastest kernels, at each study's largest sizes; none without times.

    A choice that loses little at each size is named; without one, what to use depends on the size.

    charts  by study, as of share_chart(), with what to use; empty for a study without times
    """
    ends = {study: chart["curve"][-chart.get("largest", 1) :] for study, chart in charts.items() if chart.get("curve")}
    if not ends:
        return []
    kinds = {kind for study in ends for kind in charts[study].get("peaks", ())}
    peak = "the memory's peak" if kinds == {"memory"} else "the nearest peak"
    if len(ends) > 1:
        further = {study: charts[study].get("further", {}).values() for study in ends}
        ends = {study: [*chain(ends[study], *(one["curve"] for one in further[study]))] for study in ends}
        texts = [f"Our fastest kernels reach {_range([*chain(*ends.values())])} of {peak} at the largest sizes"]
        lows = {study: f"{min(shares):.0%}" for study, shares in ends.items()}
        furthest = [study for study, low in lows.items() if low == f"{min(map(min, ends.values())):.0%}"]
        return [*texts, f"Furthest from it: {', '.join(furthest)}"] if len({*lows.values()}) > 1 else texts
    ((study, shares),) = ends.items()
    uses, further = charts[study]["uses"], charts[study].get("further", {})
    if len(uses) == 1 and not uses[0].get("has_better"):
        share = uses[0]["of_peak"] if len(shares) == 1 else _range(shares)
        where = "size" if len(shares) == 1 else "sizes"
        return ["Use {kernel} {configuration}: ".format(**uses[0]) + f"{share} of {peak} at the largest {where}"]
    if further and len(kinds) == 1 and kinds != {"memory"}:
        peak = f"{kinds.pop()}'s peak"
    ways = {kind: f"of {kind}'s" if one["peaks"] == [kind] else f"in {kind}" for kind, one in further.items()}
    of_further = [f"{_range(one['curve'])} {ways[kind]}" for kind, one in further.items()]
    reached = list_texts([f"{_range(shares)} of {peak}", *of_further])
    return [f"What to use depends on the size: {reached} at the largest"]


def _range(shares: Sequence[float]) -> str:
    """The least of the shares, and the largest if that is another: `19% to 39%`."""
    return " to ".join(dict.fromkeys(f"{pick(shares):.0%}" for pick in (min, max)))
