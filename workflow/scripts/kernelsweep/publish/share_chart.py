"""The chart of a study's answer: the share of the peak at each size, of our kernels and of what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby, pairwise
from math import floor
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.judge.best.best_words import gain_interval
from kernelsweep.judge.best.find import Best, at_reference_kind, do_tie, fastest_by_size
from kernelsweep.judge.data.study_data import place_words, size_axes
from kernelsweep.judge.data.words import (
    axis_value,
    kernel_text,
    limit_kernel,
    list_texts,
    nearest_limits,
    share_text,
    size_names,
    times_text,
)
from kernelsweep.publish.axis_places import apart, places_of
from kernelsweep.publish.swept_axes import title_of
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.statistics import Interval, ratio
from kernelsweep.study.settings import StudySettings

# Names at the last size are at least this far apart, as a part of the chart's height.
_APART = 0.12
# The letters that have room there, of the fastest's name, which is larger, and of others.
_LETTERS = {"best": 28, "": 35}

# Shares with a wider 95% interval are told with it.
_WIDE = 0.02
# Where no share is further from the baseline's, lines are ratios to that: as shares, they would be one.
_CLOSE = 0.15
# The distances of an axis' ticks, of which at most so many are there.
_STEPS, _MOST_TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20), 6

_OF_DRIVER = tuple(map(limit_kernel, DRIVER_LIMITS))

# More sizes are counted, and not named.
_FEW_SIZES = 3
# Rows without a larger share have an axis that ends here: on one up to 1, their marks would lie on each other.
_SMALL = 0.1
# More rows would not be read.
MOST_ROWS = 12

Shares = list[float | None]


def share_chart(
    study: StudySettings,
    entries: Sequence[Best],
    beside: Sequence[Best],
    uses: Sequence[Mapping[str, Any]],
    is_further: bool = False,
) -> dict[str, Any]:
    """What pages draw of a study's answer. Shares are by size, None without a time.

    sizes      in words; titles: the study's, of axes that these or the answer's rows name, as in `spread=16`
    curve      the shares of our fastest at each size; ranges: their 95% intervals
    end        the last sizes, which share the largest value on the first axis of sizes, in words
    reached    the shares at these, by peak, of each kernel of the answer's rows, with its `kernel`, whether the row
               `is_everywhere` or `is_refined` (best_words.use_rows()), and the shares of the libraries that are
               `ahead` of it, by name
    gains      by size, how many times as fast our fastest is as the fastest library; where there is one. gain_marks: of
               these, `*` where either was throttled, and the 95% interval that is wide: `* (0.55–0.65)`
    library    its name; "" where several are the fastest, by size
    throttled  by size, the lowest clock in MHz where our fastest was throttled, 0 if unknown; None elsewhere.
               is_throttled: whether any of what is drawn was; has_whiskers: whether an interval can be seen
    peaks      of which these are shares: "memory", or kinds of arithmetic
    ends_of    our fastest's shares at the largest sizes, by peak; ends_at: these sizes, where they differ
    further    of each further kind of arithmetic, `ends_of` to `library` as above
    beside     of the fastest library at each size, and of the fastest of nearest_limits(): their `kind`, `words`,
               `shares` with their `ranges`, where they were `throttled`, whether it `is_drivers`, which moves the
               same bytes, and where our fastest `passes` a limit; of lines, also of the table's kernel for all sizes,
               and words are those at the last size, with those of other sizes `elsewhere`

    Sizes on one axis of numbers, with shares of one peak and one kind of arithmetic, are lines:

    kernels  the shares of each of our kernels
    zoom     _zoom(); {} where shares are drawn
    ends     names at the last size, of our kernels as many as have room, each with the `kind` of its line, its
             name cut to its room in `short`, its `share`, that or the ratio in `words`, and the places from 0 to 1 `at`
             which it is and of the text
    alike    the sizes that no line has, as they nearly equal others, each with our fastest's ratio or share, in words
    winners  the kernels to use, each with the places from 0 to 1 at which its sizes `start` and `end`, and of its name
    and where the sizes stand, as _places() gives it

    Others are rows:

    panels     for each peak, each further kind of arithmetic, and each `end` of an axis, the `rows` of its sizes, as
               _row() gives them, and the words of what is `beside` these, by kind
    left_out   the number of sizes beyond the MOST_ROWS that are drawn

    entries  the best configurations of our kernels; beside: those of libraries and limits
    uses     the answer's rows (best_words.use_rows()), whose kernels are named first where they tie with the fastest

    is_further  whether the entries' arithmetic is none of the first kernel's: then libraries' names have it behind them
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
    of_arithmetic = {best.fastest.arithmetic for best in known}
    own = by_kernel([best for best in entries if best.fastest.arithmetic in of_arithmetic])
    others = by_kernel([best for best in beside if best.fastest.arithmetic in {*of_arithmetic, None}])
    further = [best for best in entries if best.fastest.arithmetic not in of_arithmetic and not best.undefined]
    charts = {}
    for kind in dict.fromkeys(best.fastest.arithmetic for best in further if known):
        of_kind = [best for best in further if best.fastest.arithmetic == kind]
        charts[kind] = share_chart(study, of_kind, beside, [row for row in uses if row["arithmetic"] == kind], True)

    def fastest_of(names: Iterable[str]) -> list[Best | None]:
        """The fastest of libraries or limits at each size; a copy has no arithmetic, others that of our fastest."""
        fastest = []
        for at, ours in enumerate(known):
            there = [best for name in names if name in others and (best := others[name][at])]
            same = [best for best in there if best.fastest.arithmetic in (None, ours.fastest.arithmetic)]
            fastest.append(min(same, key=lambda best: best.fastest.time_us, default=None))
        return fastest

    words_of_limits = {name: kernel_text(name) for name in map(limit_kernel, nearest_limits(study.limits))}
    libraries = [name for name in others if name not in map(limit_kernel, study.limits)]
    kinds = [best.fastest.peak_of for best in known]
    where = _places(study, [best.point for best in known]) if len({*kinds}) == 1 else {}
    are_lines = (bool(where) or len(known) < 2) and not charts and not is_further
    beside_ours, drawn = [], [*known]
    for kind, names in (("rival", libraries), ("limit", [*words_of_limits])):
        line = fastest_of(names)
        drawn += filter(None, line)
        if words := [words_of_limits.get(best.kernel, best.kernel) for best in line if best]:
            named = words[-1:] if are_lines else [*dict.fromkeys(words)]
            elsewhere = [name for name in dict.fromkeys(words) if name not in named]
            if is_further and kind == "rival":
                named = [f"{name} {known[0].fastest.arithmetic}" for name in named]
            beside_ours.append(
                {
                    "kind": kind,
                    "words": list_texts(named),
                    "elsewhere": elsewhere,
                    "shares": _shares(line, kinds),
                    "ranges": [
                        _range(best) if best and best.fastest.peak_of == of else None
                        for best, of in zip(line, kinds, strict=True)
                    ],
                    "throttled": _throttled(line),
                    "is_drivers": any(best.kernel in _OF_DRIVER for best in line if best),
                    "passes": _passes(known, line, sizes) if kind == "limit" else "",
                }
            )
    of_sizes = [*zip(sizes, known, fastest_of(libraries), strict=True)]
    pairs = [(size, best, rival) for size, best, rival in of_sizes if rival]
    gains = {size: ratio(over=rival.fastest.time, under=best.fastest.time) for size, best, rival in pairs}
    marks = {
        size: "*" * (best.fastest.throttled or rival.fastest.throttled) + in_brackets(gain_interval(gains[size]))
        for size, best, rival in pairs
    }
    fastest_libraries = {rival.kernel for *_, rival in pairs}
    at_end = of_sizes[-_largest(study, [best.point for best in known]) :]
    last = known[-1].point if known else {}
    differing = [axis for axis in size_axes(study) if len({best.point[axis] for _, best, _ in at_end}) > 1]
    points = ({axis: best.point[axis] for axis in size_axes(study) if axis in best.point} for best in known)
    told = {*chain.from_iterable([*map(size_names, points), *(row.get("axes", ()) for row in uses)])}
    chart: dict[str, Any] = {
        "sizes": sizes,
        "titles": {axis: title for axis, title in study.titles.items() if axis in told},
        "curve": _shares(known, kinds),
        "ranges": [*map(_range, known)],
        "end": place_words({axis: last[axis] for axis in last if axis not in differing}, study),
        "reached": _reached([row for row in uses if is_further or not row.get("arithmetic")], at_end),
        "gains": {size: gain.value for size, gain in gains.items()},
        "gain_marks": marks,
        "library": fastest_libraries.pop() if len(fastest_libraries) == 1 else "",
        "throttled": _throttled(known),
        "is_throttled": any(best.fastest.throttled for best in drawn)
        or any(one["is_throttled"] for one in charts.values()),
        "peaks": [*dict.fromkeys(kinds)],
        "ends_of": _by_peak((best, best.fastest.peak_fraction) for _, best, _ in at_end),
        "ends_at": _by_peak(
            (best, place_words({axis: best.point[axis] for axis in differing}, study)) for _, best, _ in at_end
        ),
        "further": {
            kind: {name: one[name] for name in ("ends_of", "ends_at", "reached", "gains", "gain_marks", "library")}
            for kind, one in charts.items()
        },
        "beside": beside_ours,
        **{"panels": [], "left_out": 0, "across": "", "runs": [], "alike": [], "zoom": {}},
    }
    of_kernels = {name: _shares(found, kinds) for name, found in own.items()}
    used = [row["kernel"] for row in uses]
    fastest = [_fastest(number, best, own.values(), study, used) for number, best in enumerate(known)]
    if are_lines:
        for row in (row for row in uses if row["has_better"] and row.get("losses")):
            by_size = _shares_of(row, dict(zip(sizes, chart["curve"], strict=True)))
            shares = [by_size.get(size) for size in sizes]
            choice = f"{row['kernel']}, for all sizes"
            chart["beside"].insert(0, {"kind": "choice", "words": choice, "shares": shares, "throttled": []})
        chart |= {**where, "kernels": of_kernels}
        chart["zoom"] = _zoom(chart, [*gains.values()]) if where else {}
        chart["has_whiskers"] = _are_wide(chart["zoom"].get("whiskers", chart["ranges"]))
        run = where["runs"][0] if where else [*range(len(known))]
        chart["alike"] = [
            f"{size} ({f'{times_text(gains[size].value)}×' if chart['zoom'] else share_text(share)})"
            for at, (size, share) in enumerate(zip(sizes, chart["curve"], strict=True))
            if at not in run
        ]
        used_at = {size: row["kernel"] for row in uses if not row["has_better"] for size in row.get("losses", ())}
        names = [used_at.get(sizes[at], "") for at in run]
        chart["winners"] = _winners(names, [where["places"][at] for at in run]) if where else []
        return {**chart, "ends": _ends(fastest[run[-1]], chart, run[-1]) if run else []}
    # The smallest and the largest size are among those that are drawn.
    most = min(len(known), MOST_ROWS)
    in_rows = {at * (len(known) - 1) // max(most - 1, 1) for at in range(most)}
    rows = [(kind, _row(at, fastest[at], of_kernels, chart)) for at, kind in enumerate(kinds) if at in in_rows]
    heads = {line["kind"]: line["words"] for line in chart["beside"]}
    panels = [
        {"peak": peak, "end": end, "rows": [row for _, row in of], "beside": heads}
        for (peak, end), of in grouped(rows, lambda one: (one[0], one[1]["end"])).items()
    ]
    panels += [panel for one in charts.values() for panel in one["panels"]]
    chart["has_whiskers"] = any(_are_wide(row["ranges"].values()) for panel in panels for row in panel["rows"])
    return {**chart, "panels": panels, "left_out": len(known) - most}


def _row(at: int, fastest: Sequence[str], kernels: Mapping[str, Shares], chart: Mapping[str, Any]) -> dict[str, Any]:
    """A size's row: words, our fastest's `share` and `name`, our `others` by name, `beside` these by kind, axis' `end`.

    Also by kind, of which "best" is ours: the shares' `ranges`, and the clocks of what is `throttled`.
    """
    lines = [{"kind": "best", **chart}, *chart["beside"]]
    ends = [line["ranges"][at][1] for line in lines if line["ranges"][at]] + [of[at] or 0 for of in kernels.values()]
    return {
        "end": _SMALL if max(ends) <= _SMALL else 1,
        "words": chart["sizes"][at],
        "share": chart["curve"][at],
        "name": _names(fastest),
        "others": {name: of[at] for name, of in kernels.items() if name != fastest[0] and of[at] is not None},
        "beside": {line["kind"]: line["shares"][at] for line in chart["beside"]},
        **{name: {line["kind"]: line[name][at] for line in lines} for name in ("ranges", "throttled")},
    }


def _throttled(found: Sequence[Best | None]) -> list[float | None]:
    """The lowest clocks, in MHz, where too few samples were taken at the full clock; 0 for one that isn't known."""
    return [(best.fastest.clock_mhz or 0.0) if best and best.fastest.throttled else None for best in found]


def _range(best: Best) -> list[float]:
    """The ends of the 95% interval of a share."""
    share, time = best.fastest.peak_fraction or 0.0, best.fastest.time
    return [share * time.value / time.high, share * time.value / time.low]


def _are_wide(ranges: Iterable[Sequence[float] | None]) -> bool:
    """Whether any interval is wide enough to be seen."""
    return any(ends[1] - ends[0] > _WIDE for ends in ranges if ends)


def in_brackets(interval: str) -> str:
    """An interval behind its number."""
    return f" ({interval})" if interval else ""


def _shares_of(row: Mapping[str, Any], fastest: Mapping[str, float | None]) -> dict[str, float]:
    """The shares of a row of the answer by size, from those of our fastest."""
    losses = row.get("losses", {}).items()
    return {size: share / (1 + loss) for size, loss in losses if (share := fastest.get(size))}


def _by_peak(found: Iterable[tuple[Best, Any]]) -> dict[str, list[Any]]:
    """What there is of each configuration, by the peak that its share is of."""
    of = grouped(found, lambda one: str(one[0].fastest.peak_of))
    return {peak: [value for _, value in pairs] for peak, pairs in of.items()}


def _reached(
    uses: Sequence[Mapping[str, Any]], at_end: Sequence[tuple[str, Best, Best | None]]
) -> list[dict[str, Any]]:
    """The shares that the answer's rows reach at some sizes, by kernel; those that refine another are apart.

    Of libraries that are `ahead`, `marks` are as in gain_marks, at the last of the sizes.

    at_end  these sizes, each with the fastest of our kernels and of libraries
    """
    fastest = {size: (best.fastest, rival) for size, best, rival in at_end}
    reached: dict[tuple[str, bool, bool], dict[str, Any]] = {}
    for row in uses:
        for size, share in _shares_of(row, {size: one.peak_fraction for size, (one, _) in fastest.items()}).items():
            names = ("kernel", "is_everywhere", "is_refined")
            of = (row["kernel"], row["everywhere"], row["is_refined"])
            one = reached.setdefault(of, {**dict(zip(names, of, strict=True)), "shares": {}, "ahead": {}, "marks": {}})
            ours, rival = fastest[size]
            one["shares"].setdefault(ours.peak_of, []).append(share)
            if rival and rival.fastest.time_us < ours.time_us * (1 + row["losses"][size]):
                one["ahead"].setdefault(rival.kernel, []).append(rival.fastest.peak_fraction or share)
                low, high = _range(rival)
                wide = f"{100 * low:.0f}–{high:.0%}" if high - low > _WIDE else ""
                one["marks"][rival.kernel] = "*" * rival.fastest.throttled + in_brackets(wide)
    return [*reached.values()]


def _passes(own: Sequence[Best], limits: Sequence[Best | None], sizes: Sequence[str]) -> str:
    """Where our fastest ties with a limit, or is faster: `up to 0.9% faster, at 2³⁰`; "" for nowhere."""
    faster, tied = dict[str, float](), list[str]()
    for size, best, limit in zip(sizes, own, limits, strict=True):
        gain = ratio(over=limit.fastest.time, under=best.fastest.time) if limit else Interval(0, 0, 0)
        if gain.low > 1:
            faster[size] = gain.value - 1
        elif gain.high >= 1:
            tied.append(size)
    texts = [f"up to {max(faster.values()):.1%} faster, at {list_texts([*faster])}"] if faster else []
    where = list_texts(tied) if len(tied) <= _FEW_SIZES else f"{len(tied)} of {len(sizes)} sizes"
    texts += [f"as fast, within the error, at {where}"] if tied else []
    return "; ".join(texts)


def _largest(study: StudySettings, points: Sequence[Mapping[str, Any]]) -> int:
    """The number of the points, in their order, that share the last one's value on the first axis of sizes."""
    varied = [axis for axis in size_axes(study) if len({point[axis] for point in points}) > 1]
    return sum(point[varied[0]] == points[-1][varied[0]] for point in points) if varied else len(points)


def _shares(found: Sequence[Best | None], peaks: Sequence[str | None]) -> Shares:
    """The shares of these peaks, by size: a copy has none of arithmetic's."""
    of_peaks = zip(found, peaks, strict=True)
    return [best.fastest.peak_fraction if best and best.fastest.peak_of == peak else None for best, peak in of_peaks]


def _fastest(
    at: int, first: Best, own: Iterable[Sequence[Best | None]], study: StudySettings, used: Sequence[str]
) -> list[str]:
    """The fastest kernel at a size, and those that tie with it, those in use first; limits are none of these."""
    allowed = (one for found in own if (one := found[at]) and not one.undefined and one.kernel not in study.limits)
    tied = (one.kernel for one in allowed if do_tie(one.fastest.time, first.fastest.time))
    return sorted(dict.fromkeys([first.kernel, *tied]), key=lambda name: name not in used)


def _names(fastest: Sequence[str]) -> str:
    """The fastest kernels in the room that there is."""
    texts = [list_texts(fastest, 2), f"{fastest[0]} and {len(fastest) - 1} more"]
    return texts[len(texts[0]) > _LETTERS["best"] and len(fastest) > 1]


def _zoom(chart: Mapping[str, Any], gains: Sequence[Interval]) -> dict[str, Any]:
    """Ratios to the fastest library, as places from 0 to 1 on an axis with `ticks`; {} unless they are_close().

    best, kernels, beside  of our fastest and of our kernels, and of what is beside it by kind, at each size
    whiskers               the 95% intervals of our fastest

    gains  its ratios
    """
    beside = {line["kind"]: line["shares"] for line in chart["beside"]}
    library, lines = beside.get("rival", [None]), [chart["curve"], *chart["kernels"].values(), *beside.values()]
    if not are_close(lines, library):
        return {}
    pairs = [(share, of) for shares in lines for share, of in zip(shares, library, strict=True) if share is not None]
    values = [*(end for gain in gains for end in (gain.low, gain.high)), *(share / of for share, of in pairs)]
    step = next((step for step in _STEPS if max(values) - min(values) <= _MOST_TICKS * step), _STEPS[-1])
    ticks = [step * number for number in range(floor(min(values) / step), floor(max(values) / step) + 1)]

    def places(shares: Iterable[float | None], of: Iterable[float]) -> Shares:
        ratios = [share if share is None else share / one for share, one in zip(shares, of, strict=False)]
        return [one if one is None else (one - ticks[0]) / (max(values) - ticks[0]) for one in ratios]

    return {
        "best": places(chart["curve"], library),
        "kernels": {name: places(shares, library) for name, shares in chart["kernels"].items()},
        "beside": {kind: places(shares, library) for kind, shares in beside.items()},
        "whiskers": [places((gain.low, gain.high), (1, 1)) for gain in gains],
        "ticks": [
            {"words": f"{tick:.10g}×", "place": place}
            for tick, place in zip(ticks, places(ticks, [1] * len(ticks)), strict=True)
        ],
        "library": library,
    }


def are_close(lines: Iterable[Shares], baseline: Shares) -> bool:
    """Whether lines of shares are drawn as ratios to a baseline: all are near it, and it has a share at each size."""
    pairs = [pair for shares in lines for pair in zip(shares, baseline, strict=False)]
    are_near = all(share is None or abs(share - of) <= _CLOSE for share, of in pairs if of)
    return bool(pairs) and None not in baseline and are_near


def _winners(names: Sequence[str], places: Sequence[float]) -> list[dict[str, Any]]:
    """The kernels to use from size to size, and where; of sizes without one, nothing.

    names  of the kernels at each size; places: of the sizes
    """
    middles = [0.0, *((one + other) / 2 for one, other in pairwise(places)), 1.0]
    runs = [(name, [*run]) for name, run in groupby(range(len(names)), lambda at: names[at])]
    ends = [(name, middles[run[0]], middles[run[-1] + 1]) for name, run in runs if name]
    return [{"words": name, "start": start, "end": end, "place": (start + end) / 2} for name, start, end in ends]


def _ends(names: Sequence[str], chart: Mapping[str, Any], last: int) -> list[dict[str, Any]]:
    """The names at the last size: of the fastest, which come first, of the lines beside it, and others where they fit.

    names  the fastest of our kernels there, and those that tie with it
    last   its number
    """
    zoom, own = chart["zoom"], chart["kernels"]
    drawn = zoom or {"best": chart["curve"], "kernels": own, "beside": {}}
    lines = [("best", _names(names), chart["curve"], drawn["best"])]
    lines += [
        (of["kind"], of["words"], of["shares"], drawn["beside"].get(of["kind"], of["shares"])) for of in chart["beside"]
    ]
    lines += [("", name, shares, drawn["kernels"][name]) for name, shares in own.items() if name not in names]
    shown: list[dict[str, Any]] = []
    for kind, name, share, at in ((kind, name, shares[last], places[last]) for kind, name, shares, places in lines):
        if share is not None and (kind or all(abs(at - other["at"]) >= _APART for other in shown)):
            most, short = _LETTERS.get(kind, _LETTERS[""]), name
            if len(name) > most:
                first, _, more = name.partition(" and ")
                short = f"{first} +{more.removesuffix(' more')}" if more and len(first) <= most else f"{name[:most]}…"
            gain = "1" if kind == "rival" else times_text(share / zoom["library"][last]) if zoom else ""
            words = f"{gain}×" if zoom else share_text(share)
            shown.append({"kind": kind, "name": name, "short": short, "share": share, "words": words, "at": at})
    shown.sort(key=lambda end: float(end["at"]))
    places = apart([min(end["at"], 1.0) for end in shown], [_APART] * len(shown), 0, 1)
    return [{**end, "place": place} for end, place in zip(shown, places, strict=True)]


def _places(study: StudySettings, points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Where sizes stand, as in figures; {} where they are on several axes, or have no order that a line could follow.

    places  from 0 to 1
    labels  of each that is drawn: its `words` and its `place`
    across  the axis' title
    runs    the numbers of sizes that a line joins; others are not drawn
    """
    axes = [axis for axis in size_axes(study) if len({point[axis] for point in points}) > 1]
    if len(axes) != 1:
        return {}
    values = [point[axes[0]] for point in points]
    places, on_line = places_of(values, any(axes[0] in group for group in study.tied))
    if not any(on_line):
        return {}
    places = [(place - places[0]) / (places[-1] - places[0]) for place in places]
    run = [number for number, is_drawn in enumerate(on_line) if is_drawn]
    return {
        "places": places,
        "labels": [{"words": axis_value(axes[0], values[number]), "place": places[number]} for number in run],
        "across": title_of(axes[0], study.titles),
        "runs": [run],
    }
