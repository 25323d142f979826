"""How near a platform's kernels come to the peak: the first sentence of its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from kernelsweep.judge.data.words import list_texts


def reach(charts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences on the share of the peak of our fastest kernels, at each study's largest sizes; none without times.

    Of one study, it is what to use and its share.

    charts  by study, as of share_chart(); empty for a study without times
    """
    ends = {study: chart["curve"][-chart.get("largest", 1) :] for study, chart in charts.items() if chart.get("curve")}
    if not ends:
        return []
    kinds = {kind for study in ends for kind in charts[study].get("peaks", ())}
    peak = f"{_of(kinds.pop())} peak" if len(kinds) == 1 else "the nearest peak"
    if len(ends) == 1:
        (study,) = ends
        return [_use(charts[study], peak)]
    further = {study: charts[study].get("further", {}).values() for study in ends}
    ends = {study: [*chain(shares, *(one["curve"] for one in further[study]))] for study, shares in ends.items()}
    texts = [f"Our fastest kernels reach {_range([*chain(*ends.values())])} of {peak} at the largest sizes"]
    least, most = (
        ", ".join(study for study in ends if _share(pick(ends[study])) == _share(pick(chain(*ends.values()))))
        for pick in (min, max)
    )
    return [*texts, f"Lowest: {least}; highest: {most}"] if " to " in texts[0] else texts


def _use(chart: Mapping[str, Any], peak: str) -> str:
    """What to use, with its share of the peak at the largest sizes, and with that of what is better there."""
    size = chart.get("end") or "the largest size"
    first, better = ([one for one in chart.get("reached", ()) if one["is_refined"] == kind] for kind in (False, True))
    if not first:
        return f"Our fastest reaches {_range(chart['curve'][-chart.get('largest', 1) :])} of {peak} at {size}"
    share = _range([*chain(*(one["shares"] for one in first))])
    kernels = list_texts([one["kernel"] for one in first])
    text = (
        f"Use {kernels}: {share} of {peak} at {size}"
        if first[0]["is_everywhere"]
        else f"At {size}, use {kernels}: {share} of {peak}"
    )
    if better and (best := _range([*chain(*(one["shares"] for one in better))])) != share:
        others = list_texts([one["kernel"] for one in better])
        text += f"; or by size{f' {others}' * (others != kernels)}: {best}"
    for kind, one in chart.get("further", {}).items():
        names = list_texts([*dict.fromkeys(of["kernel"] for of in one.get("reached", ()))])
        of_kind, way = (f" of {_of(kind)}", "") if one["peaks"] == [kind] else ("", f"in {kind}, ")
        text += f"; {way}{names or kind}: {_range(one['curve'])}{of_kind}"
    return text


def _of(peak: str) -> str:
    return "the memory's" if peak == "memory" else f"{peak}'s"


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "less than 1%"


def _range(shares: Sequence[float]) -> str:
    """The least of the shares, and the largest if that is another: `19% to 39%`."""
    return " to ".join(dict.fromkeys(_share(pick(shares)) for pick in (min, max)))
