"""How near a platform's kernels come to the peak: the first sentence of its pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def reach(charts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences on the share of the peak of our fastest kernels, each study's at its last size; none without times.

    charts  by study, as of share_chart(), with what to use; empty for a study without times
    """
    ends = {study: f"{chart['curve'][-1]:.0%}" for study, chart in charts.items() if chart.get("curve")}
    if not ends:
        return []
    least, most = (pick(ends.values(), key=lambda text: int(text[:-1])) for pick in (min, max))
    kinds = {kind for study in ends for kind in charts[study].get("peaks", ())}
    peak = "the memory's peak" if kinds == {"memory"} else "the nearest peak"
    share = least if least == most else f"{least} to {most}"
    if len(ends) == 1:
        uses = next(chart["uses"] for study, chart in charts.items() if study in ends)
        if len(uses) == 1:
            return ["Use {kernel} {configuration}: {of_peak} of ".format(**uses[0]) + f"{peak} at the largest size"]
        return [f"Our fastest kernel reaches {share} of {peak} at the largest size"]
    texts = [f"Our fastest kernels reach {share} of {peak} at the largest sizes"]
    furthest = [study for study, end in ends.items() if end == least]
    return [*texts, f"Furthest from it: {', '.join(furthest)}"] if least != most else texts
