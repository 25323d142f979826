"""How near a platform's kernels come to the peak: the first sentences of its pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from kernelsweep.judge.data.words import list_texts, peak_text, share_text, times_text

# By peak, or by study.
Shares = Mapping[str, Sequence[float]]


def reach(charts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sentences on the share of the peak of our fastest kernels, at each study's largest sizes; none without times.

    Of one study, it is what to use and its share, and how it compares with libraries.

    charts  by study, as of share_chart(); empty for a study without times
    """
    charts = {study: chart for study, chart in charts.items() if chart.get("ends_of")}
    if not charts:
        return []
    if len(charts) == 1:
        (chart,) = charts.values()
        return [_use(chart), *_further(chart), *_beside_libraries(chart)]
    parts = {study: [chart, *chart["further"].values()] for study, chart in charts.items()}
    of, at = ({study: _joined(of, name) for study, of in parts.items()} for name in ("ends_of", "ends_at"))
    peaks = dict.fromkeys(chain(*of.values()))
    ranges = {peak: _named({study: one[peak] for study, one in of.items() if peak in one}, at, peak) for peak in peaks}
    first = {peak: ranges.pop(peak) for peak in [*ranges][:1]}
    further = [f"Where another peak is the limit, they reach {_list_peaks(ranges)}"] if ranges else []
    return [f"Our fastest kernels reach {_list_peaks(first)} at the largest sizes", *further]


def _named(of: Shares, at: Mapping[str, Mapping[str, Sequence[str]]], peak: str) -> str:
    """The range of all studies' shares of a peak, each end with its studies: `34% (blur at radius=4) to 96% (staged)`.

    at  by study and peak, where each share is, in words; an older version's results have none
    """
    ends = {}
    for pick in (min, max):
        end, texts = share_text(pick(chain(*of.values()))), []
        for study, shares in of.items():
            places = zip_longest(shares, at[study].get(peak, ()), fillvalue="")
            if there := [str(place) for share, place in places if share_text(float(share)) == end]:
                texts.append(study + f" at {list_texts(there)}" * any(there))
        ends[end] = f" ({', '.join(texts)})"
    names = [*dict.fromkeys(ends.values())]
    return " to ".join(end + name for end, name in ends.items()) if names[1:] else " to ".join(ends) + names[0]


def _use(chart: Mapping[str, Any]) -> str:
    """What to use, with its share of the peak at the largest sizes; where a library is faster, that comes first."""
    size = chart.get("end") or "the largest size"
    first, better = ([one for one in chart["reached"] if one["is_refined"] == kind] for kind in (False, True))
    if not first:
        return f"Our fastest reaches {_of_peaks(chart['ends_of'])} at {size}"
    shares = _of_peaks(_joined(first, "shares"))
    better = better if better and _of_peaks(_joined(better, "shares")) != shares else []
    if not _ahead(first) and first[0]["is_everywhere"]:
        text = f"Use {_names(first)}: {shares} at {size}"
        text += f"; chosen by size{_reaching(better, [*_joined(first, 'shares')], _names(first))}" if better else ""
    else:
        text = f"At {size}, {_beside(better or first)}"
        text += f"; for all sizes{_reaching(first, [*_joined(better, 'shares')])}" if better else ""
    return text


def _further(chart: Mapping[str, Any]) -> list[str]:
    """A sentence on each further kind of arithmetic, with its share of the peak at the largest sizes."""
    texts = []
    for kind, one in chart["further"].items():
        rows = [row for row in one["reached"] if row["is_refined"]] or one["reached"]
        way = "" if [*one["ends_of"]] == [kind] else f"in {kind}, "
        text = _beside(rows) if rows else f"our fastest reaches {_of_peaks(one['ends_of'])}"
        texts.append(f"At {chart.get('end') or 'the largest size'}, {way}{text}")
    return texts


def _beside(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows' kernels and shares, behind those of the libraries that are faster."""
    shares, ahead = _joined(rows, "shares"), _ahead(rows, "reaches ")
    if not ahead or len(shares) > 1:
        ours = f"{'our fastest is' if ahead else 'use'} {_names(rows)}"
        return f"{ours}: {_of_peaks(shares)}{f' ({ahead})' if ahead else ''}"
    ((peak, own),) = shares.items()
    return f"{ahead} of {peak_text(peak)} peak, our {_names(rows)} {_range(own)}"


def _reaching(rows: Sequence[Mapping[str, Any]], peaks: Sequence[str], said: str = "") -> str:
    """The rows' kernels, unless `said`, with their shares, without the peak's name if `peaks` has no other."""
    shares, ahead, names = _joined(rows, "shares"), _ahead(rows), _names(rows)
    of_peaks = _range([*chain(*shares.values())]) if [*shares] == peaks and not peaks[1:] else _of_peaks(shares, "")
    return f"{f' {names}' * (names != said)}: {of_peaks}{f' ({ahead})' * bool(ahead)}"


def _ahead(rows: Sequence[Mapping[str, Any]], verb: str = "") -> str:
    """The shares of libraries that are faster than these rows of the answer: `cub_tuned 94%`; "" for none."""
    own = _range([*chain(*_joined(rows, "shares").values())] or [0.0])
    marks = {library: mark for row in rows for library, mark in row.get("marks", {}).items()}
    ahead = {library: of for library, shares in _joined(rows, "ahead").items() if (of := _range(shares)) != own}
    texts = [f"{library} {verb}{of}{marks.get(library, '')}" for library, of in ahead.items()]
    return list_texts(texts) if texts else ""


def _beside_libraries(chart: Mapping[str, Any]) -> list[str]:
    """How many times as fast as the fastest library our fastest is, by kind of arithmetic; none without a library."""
    own = next((peak for peak in chart.get("peaks", ()) if chart["further"] and peak != "memory"), "")
    texts: list[str] = []
    for kind, one in {own: chart, **chart["further"]}.items():
        if not (gains := one["gains"]):
            continue
        least, most = (pick(gains, key=gains.__getitem__) for pick in (min, max))
        ends = (times_text(gains[size]) + one.get("gain_marks", {}).get(size, "") for size in (least, most))
        library = one["library"] or "the fastest library"
        text = f"{f'In {kind}, our' if kind else 'Our'} fastest is {' to '.join(dict.fromkeys(ends))} times as fast"
        text += f" as {library} at {f'{len(gains)} sizes' if len(gains) > 1 else least}"
        if gains[least] < 1 < gains[most]:
            text += f", faster at {sum(gain > 1 for gain in gains.values())}"
        text += f": least at {least}, most at {most}" * (least != most)
        texts.append(text)
    return texts


def _names(rows: Iterable[Mapping[str, Any]]) -> str:
    return list_texts([*dict.fromkeys(row["kernel"] for row in rows)])


def _joined(rows: Iterable[Mapping[str, Any]], name: str) -> dict[str, list[Any]]:
    """The shares of all, or what else is by peak."""
    joined: dict[str, list[Any]] = {}
    for row in rows:
        for peak, shares in row.get(name, {}).items():
            joined.setdefault(peak, []).extend(shares)
    return joined


def _of_peaks(shares: Shares, word: str = " peak") -> str:
    """The range of the shares of each peak: `34% to 39% of the memory's peak and 23% of float32's`."""
    return _list_peaks({peak: _range(of) for peak, of in shares.items()}, word)


def _list_peaks(ranges: Mapping[str, str], word: str = " peak") -> str:
    texts = [f"{text} of {peak_text(peak)}" for peak, text in ranges.items()]
    return list_texts([f"{texts[0]}{word}", *texts[1:]], len(texts))


def _range(shares: Sequence[float]) -> str:
    """The least of the shares, and the largest if that is another: `19% to 39%`."""
    return " to ".join(dict.fromkeys(share_text(pick(shares)) for pick in (min, max)))
