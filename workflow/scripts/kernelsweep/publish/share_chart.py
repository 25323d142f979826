"""The chart of a study's answer: the share of the peak at each size, of our kernels and of what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from kernelsweep.judge.best.find import Best, at_reference_kind, do_tie, fastest_by_size
from kernelsweep.judge.data.study_data import place_words, size_axes
from kernelsweep.judge.data.words import axis_value, limit_kernel, limit_text, list_texts, size_words
from kernelsweep.publish.axis_places import places_of
from kernelsweep.publish.swept_axes import title_of
from kernelsweep.study.settings import StudySettings

# Names at the last size are at least this far apart, and the highest stands here, as parts of the chart's height.
_APART, _HIGHEST = 0.12, 1.0
# The letters that have room there, of the fastest's name, which is larger, and of others.
_LETTERS = {"best": 25, "": 35}

Shares = list[float | None]


def share_chart(
    study: StudySettings, entries: Sequence[Best], beside: Sequence[Best], used: Sequence[str]
) -> dict[str, Any]:
    """What pages draw of a study's answer. Shares are by size, None without a time.

    sizes           in words
    curve, kernels  the shares of our fastest at each size, and of each of our kernels
    beside          of the fastest library, and of the first limit: their `kind`, `words` and `shares`
    ends            names at the last size, of our kernels as many as have room, each with the `kind` of its line, its
                    `share`, and the `place` of the text, from 0 to 1
    peaks           the sizes at which our fastest is held against each kind of peak, as labels where these are enough
    and where these stand, as _places() gives it

    entries  the best configurations of our kernels; beside: those of libraries and limits
    used     the kernels of the answer, which are named first where they tie with the fastest
    """
    known = [best for best in fastest_by_size(entries, study) if best.fastest.peak_fraction]
    sizes = [place_words(best.point, study) for best in known]

    def by_kernel(found: Sequence[Best]) -> dict[str, list[Best | None]]:
        """The entries of each kernel by size."""
        kernels: dict[str, list[Best | None]] = {}
        for best in found:
            if at_reference_kind(best.point, study) and (size := place_words(best.point, study)) in sizes:
                kernels.setdefault(best.kernel, [None] * len(sizes))[sizes.index(size)] = best
        return kernels

    # Arithmetic that rounds more has another peak.
    kinds_of_arithmetic = {best.fastest.arithmetic for best in known}
    alike = [best for best in entries if best.fastest.arithmetic in kinds_of_arithmetic]
    own, others = by_kernel(alike), by_kernel(beside)
    libraries = []
    for number, ours in enumerate(known):
        there = [found for name in study.rival_names if name in others and (found := others[name][number])]
        same = [best for best in there if best.fastest.arithmetic == ours.fastest.arithmetic]
        libraries.append(min(same, key=lambda best: best.fastest.time_us, default=None))
    names = dict.fromkeys(best.kernel for best in libraries if best)
    lines = [{"kind": "rival", "words": list_texts([*names]), "shares": _shares(libraries)}] if names else []
    if of_limit := others.get(limit_kernel(study.limits[0])) if study.limits else None:
        lines.append({"kind": "limit", "words": limit_text(study.limits[0]), "shares": _shares(of_limit)})
    of_kernels = {name: _shares(found) for name, found in own.items()}
    kinds = [best.fastest.peak_of for best in known]
    where = _places(study, [best.point for best in known], kinds)
    labels = [label["words"] for label in where["labels"]]
    is_by_label = len({*zip(labels, kinds, strict=True)}) == len({*labels})
    words = labels if is_by_label else sizes
    return {
        **where,
        "sizes": sizes,
        "curve": _shares(known),
        "kernels": of_kernels,
        "beside": lines,
        "ends": _ends(_fastest(known[-1], own.values(), study, used), of_kernels, lines) if known else [],
        "peaks": {
            kind: list(dict.fromkeys(word for word, of in zip(words, kinds, strict=True) if of == kind))
            for kind in dict.fromkeys(kinds)
        },
    }


def _shares(found: Sequence[Best | None]) -> Shares:
    return [best.fastest.peak_fraction if best else None for best in found]


def _fastest(first: Best, own: Iterable[Sequence[Best | None]], study: StudySettings, used: Sequence[str]) -> list[str]:
    """The fastest kernel at the last size, and those that tie with it, those in use first; limits are none of these."""
    allowed = (one for found in own if (one := found[-1]) and not one.undefined and one.kernel not in study.limits)
    tied = (one.kernel for one in allowed if do_tie(one.fastest.time, first.fastest.time))
    return sorted(dict.fromkeys([first.kernel, *tied]), key=lambda name: name not in used)


def _ends(names: Sequence[str], own: Mapping[str, Shares], lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The names at the last size: of the fastest, which come first, of the lines beside it, and others where they fit.

    names  the fastest of our kernels there, and those that tie with it
    """
    tied = [list_texts(names, 2), f"{names[0]} and {len(names) - 1} more"]
    ends = [("best", tied[len(tied[0]) > _LETTERS["best"] and len(names) > 1], own[names[0]][-1])]
    ends += [(line["kind"], line["words"], line["shares"][-1]) for line in lines]
    ends += [("", kernel, shares[-1]) for kernel, shares in own.items() if kernel not in names]
    shown: list[dict[str, Any]] = []
    for kind, words, share in ends:
        if share is not None and (kind or all(abs(share - other["share"]) >= _APART for other in shown)):
            most = _LETTERS.get(kind, _LETTERS[""])
            shown.append({"kind": kind, "name": words if len(words) <= most else f"{words[:most]}…", "share": share})
    shown.sort(key=lambda end: float(end["share"]))
    below = -_APART
    for end in shown:
        below = end["place"] = max(min(end["share"], 1.0), below + _APART)
    above = _HIGHEST + _APART
    for end in reversed(shown):
        above = end["place"] = min(end["place"], above - _APART)
    return shown


def _places(study: StudySettings, points: Sequence[Mapping[str, Any]], kinds: Sequence[str | None]) -> dict[str, Any]:
    """Where sizes stand, as in figures: sizes that differ on the last axis alone are neighbours.

    places       from 0 to 1
    labels       the value on the last axis that varies, whose title is `across`: its `words`, its `place`, and
                 whether it `is_near` to one that a line joins
    groups       the same for the other axes, of neighbours that are equal on these; none if there is one group
    runs, apart  the numbers of sizes that each line joins, and of those that none does

    kinds  of the peak at each size: no line joins shares of two
    """
    axes = [axis for axis in size_axes(study) if len({point[axis] for point in points}) > 1]
    inner = next((group for group in study.tied if axes and axes[-1] in group), axes[-1:])
    outer = [axis for axis in axes if axis not in inner]
    groups = [[*group] for _, group in groupby(range(len(points)), lambda at: [points[at][axis] for axis in outer])]
    places: list[float] = []
    runs, apart, near, named = [], [], set[int](), []
    for group in groups:
        at, joins = places_of([points[number][inner[-1]] for number in group] if inner else [""], len(inner) > 1)
        start, length = (places[-1] + 1 if places else 0.0), at[-1] - at[0] or 1.0
        places += [start + (place - at[0]) / length * (len(at) - 1) for place in at]
        run = [number for number, joined in zip(group, joins, strict=True) if joined]
        near |= {number for number in group if len(run) > 1 and number not in run}
        of_peaks = [[*same] for _, same in groupby(run, kinds.__getitem__)]
        runs += [same for same in of_peaks if len(same) > 1]
        apart += sorted({*group}.difference(*(same for same in of_peaks if len(same) > 1)))
        named.append((size_words({axis: points[group[0]][axis] for axis in outer}), (start + places[-1]) / 2))
    wide = places[-1] if places and places[-1] else 1.0
    return {
        "places": [place / wide for place in places],
        "labels": [
            {"words": _on_axes(inner, point), "place": place / wide, "is_near": number in near}
            for number, (point, place) in enumerate(zip(points, places, strict=True))
        ],
        "across": title_of(inner[0], study.titles) if inner else "",
        "groups": [{"words": words, "place": place / wide} for words, place in named] if len(named) > 1 else [],
        "runs": runs,
        "apart": apart,
    }


def _on_axes(axes: Sequence[str], point: Mapping[str, Any]) -> str:
    """A point's value on an axis, or on several that vary together."""
    return axis_value(axes[0], point[axes[0]]) if len(axes) == 1 else size_words({axis: point[axis] for axis in axes})
