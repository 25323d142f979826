"""Configurations and the fastest of all in words, and the page best.md. No other module says what is the fastest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.base.templates import markdown, markdown_table
from kernelsweep.judge.best.best_file import reason_for_none
from kernelsweep.judge.best.find import LITTLE, MOST, Best, Configuration, Tie, Use, at_reference_kind, of_reference
from kernelsweep.judge.data.study_data import kernel_axes, place_words, size_axes
from kernelsweep.judge.data.words import (
    ALIKE,
    axis_title,
    axis_value,
    configuration_values,
    configuration_words,
    device_text,
    peak_text,
    place_text,
    point_text,
    power_of_two_in,
    reference_text,
    size_words,
    times_text,
)
from kernelsweep.statistics import Interval
from kernelsweep.study.axes import LARGEST_GRID
from kernelsweep.study.settings import StudySettings

NONE = "–"

# Further ties are counted but not named: at small sizes nearly every configuration takes the time of a launch.
MOST_TIES = 8
# Beside other words there is less room.
_FEW_TIES, MOST_SIZES, MOST_ROWS = 2, 4, 4

# A ratio with an interval within this factor is told without it.
_WELL_KNOWN = 1.01


def ties_text(best: Best, most: int = MOST_TIES) -> str:
    """The closest ties of a kernel's best configuration by name, and the number of the others."""
    return some_of([configuration_text(tie, best.fastest) for tie in best.ties], most) or NONE


def some_of(texts: Sequence[str], most: int) -> str:
    """The first texts, and the number of the others: `a; b; 3 more`."""
    return "; ".join([*texts[:most], *([f"{len(texts) - most} more"] if len(texts) > most else [])])


def configuration_text(configuration: Configuration, beside: Configuration | None = None, spelled: bool = False) -> str:
    """A configuration in short: `256 × 8 in 1,056 blocks`, on a study's own axes `tile=64×32 rows=8`; "" without axes.

    Of own axes, those are named whose values differ from the configuration `beside` it.
    `spelled`: `block size 256, unroll factor 8, 1,056 blocks`, without a word on as many blocks as needed.
    """
    values, others = configuration.parameters, beside.parameters if beside else {}
    if is_short(values):
        grid = values.get("grid_size")
        most = "up to " * configuration.has_fewer_blocks
        blocks = "as many blocks as needed" if grid == LARGEST_GRID else f"{most}{grid or 0:,} blocks"
        named = {axis: values[axis] for axis in ("block_size", "unroll")}
        text = place_text(named) if spelled else " × ".join(map(str, named.values()))
        is_told = grid is not None and not (spelled and grid == LARGEST_GRID)
        return f"{text}{',' if spelled else ' in'} {blocks}" if is_told else text
    return configuration_words({axis: value for axis, value in values.items() if others.get(axis) != value})


def is_short(parameters: Collection[str]) -> bool:
    """Whether configuration_text() gives axes by their order: `256 × 8`."""
    return {"block_size", "unroll"} <= set(parameters) <= {"block_size", "unroll", "grid_size"}


def chosen_text(use: Use | Tie, study: StudySettings, spelled: bool = False) -> str:
    """The configuration to use in short, without axes on which the kernel has one value, so that no choice is made."""
    is_named = not is_short(use.configuration.parameters)
    return point_text(_chosen(use, study)) if is_named else configuration_text(use.configuration, spelled=spelled)


def _chosen(use: Use | Tie, study: StudySettings) -> dict[str, str]:
    """The values that chosen_text() names, by axis."""
    own = next((one.axes for one in study.kernels if one.name == use.kernel), {})
    swept, values = {**study.axes, **own}, use.configuration.parameters
    words = {} if is_short(values) else configuration_values(values)
    # Both sides of one thing are named where one of them is a choice.
    chosen = [axis for axis in values if len(swept.get(axis, ())) != 1]
    names = {axis if axis in words else axis.rpartition("_")[0] for axis in chosen}
    return {name: text for name, text in words.items() if name in names}


def of_peak(configuration: Configuration) -> str:
    """The share of the nearest peak: `85%`; or where none is known the throughput, `4,108 GB/s`; "" without either."""
    if configuration.peak_fraction:
        return f"{configuration.peak_fraction:.1%}"
    rate = configuration.gflops or configuration.bandwidth_gbs
    return f"{rate:,.0f} {'GFLOP/s' if configuration.gflops else 'GB/s'}" if rate else ""


def use_rows(uses: Sequence[Use], study: StudySettings) -> list[dict[str, Any]]:
    """What to use and what it loses, in the words of the terminal and of all pages: a row by range of sizes.

    Of more than MOST_ROWS, neighbours of one kernel are one row, with the configuration at the largest size.

    everywhere     whether the row is for all sizes; has_better: and others refine it; is_refined: it is one of these
    arithmetic     what is not the first kernel's; "" for that
    sizes, use     as sizes_text(), and the `kernel` with its `configuration`, and the configurations that `tie`; those
                   of `smaller` sizes, if they are others. spelled: all of these with their axes' names, and which
                   `axes` it has as `rows=8`; is_short: whether it is `256 × 8` alone
    is_at_largest  whether one of the sizes has the largest value on the first axis of sizes
    loses          at most, and on `average`; slower: `up to 9.1% slower than our fastest, at 1024 × 1024`; "" to LITTLE
    losses         at each size in words
    other_share    of another peak, at the largest of the sizes that are nearer to it: `19.0% of float32's`; or ""
    at             the largest of several sizes, on the axes on which they differ, at which are the following
    time, interval, peak_fraction, of_peak, peak_of
    peak           which that is, if the study has another than the memory's: `float32's`, `the memory's`; or ""
    gain, beside   how many times as fast as what stands beside it: `9.6×`, `neighbored`; no gain without that; of
                   sizes that differ by more than the error the least and the most: `1.14× to 3.75×`
    gain_over      what that is as fast as: `beside`, or `the fastest library` if it is another at each of these sizes
    gain_at        of several sizes, the one of that, or both: `radius=1 and radius=4`
    gain_interval  of one, its 95% interval, `0.55–0.65`, if that reaches further than 1% from it; or ""
    ahead          how many times as fast that is, and where: `4.6× as fast as vectors at 8192³`; "" if slower
    is_beside_throttled, is_throttled  whether too few samples were taken at the full clock
    """
    peaks = {one.peak_of for use in uses for one in (use.configuration, use.of_other_peak) if one and one.peak_of}
    by_arithmetic = grouped(uses, lambda use: use.kind.get("arithmetic")).values()
    keys = {id(use): (use.everywhere, use.kernel) for of in by_arithmetic for use in of if len(of) > MOST_ROWS}
    sizes = [size for use in uses for size in use.sizes]
    varied = next((axis for axis in size_axes(study) if len({size[axis] for size in sizes}) > 1), "")
    largest = max((size[varied] for size in sizes), default=None) if varied else None
    refined = [use.kind for of in by_arithmetic for use in of if use.everywhere and len(of) > 1]
    groups = [[*group] for _, group in groupby(uses, lambda use: keys.get(id(use), id(use)))]
    return [
        {
            "everywhere": use.everywhere,
            "has_better": use.everywhere and use.kind in refined,
            "is_refined": not use.everywhere and use.kind in refined,
            "sizes": sizes_text(use, uses, len(by_arithmetic) > 1),
            "arithmetic": use.kind.get("arithmetic", ""),
            "kernel": use.kernel,
            "configuration": chosen_text(use, study)
            + (f"{_at_text(of[0], uses)}; {len(of) - 1} others at smaller sizes" if of[1:] else ""),
            "spelled": "; ".join(chosen_text(one, study, True) + _at_text(one, uses) * (len(of) > 1) for one in of),
            "axes": [*_chosen(of[0], study)],
            "is_short": is_short(use.configuration.parameters),
            "is_at_largest": not varied or use.sizes[-1][varied] == largest,
            "smaller": [chosen_text(one, study) + _at_text(one, uses) for one in of[1:]],
            "ties": tied_text(use, study, _FEW_TIES),
            # One kernel of one configuration loses nothing.
            "loses": f"{use.worst:.1%}" if use.configuration.parameters or study.kernels[1:] else "",
            "average": f"{use.mean:.1%}",
            "slower": _slower_text(use, study),
            "losses": {place_words(size, study): loss for size, loss in zip(use.sizes, use.losses, strict=False)},
            "other_share": f"{of_peak(also)} of {peak_text(str(also.peak_of))}" if (also := use.of_other_peak) else "",
            "at": size_words({axis: value for axis, value in use.sizes[-1].items() if value != use.sizes[0][axis]}),
            "time": f"{use.configuration.time_us:,.2f} µs",
            "interval": f"{use.configuration.time_low_us:,.2f}–{use.configuration.time_high_us:,.2f}",
            "peak_fraction": use.configuration.peak_fraction,
            "of_peak": of_peak(use.configuration),
            "peak_of": use.configuration.peak_of,
            "peak": peak_text(str(use.configuration.peak_of)) if peaks - {"memory"} else "",
            **_gain_words(use),
            "beside": use.beside if use.gain else "it is step 1" * (use.kernel == study.kernels[0].name),
            "ahead": _ahead_text(use, study, uses) if use.gain and use.gain.value < 1 else "",
            "is_throttled": use.configuration.throttled,
        }
        for use, of in ((_joined(group), group[::-1]) for group in groups)  # the largest sizes first
    ]


def _at_text(use: Use, uses: Sequence[Use]) -> str:
    """The sizes behind a configuration: ` at 2²⁴–2²⁸`, ` above 2²⁸`."""
    return f" at {sizes_text(use, uses)}".replace(" at above ", " above ")


def _slower_text(use: Use, study: StudySettings) -> str:
    """How much slower than the fastest of our kernels, and where that is most; "" where it doesn't matter."""
    if use.worst <= LITTLE or not use.losses:
        return ""
    size = use.sizes[use.losses.index(max(use.losses))]
    return f"up to {use.worst:.1%} slower than our fastest, at {place_words(size, study)}"


def _ahead_text(use: Use, study: StudySettings, uses: Sequence[Use]) -> str:
    """How many times as fast as a configuration that is what stands beside it, and where. uses  all of the study"""
    there = (one for one in uses if (one.kind, one.sizes[-1]) == (use.kind, use.sizes[-1]))
    where = [" (for all sizes)"] if use.everywhere and any(one.gain and one.gain.value >= 1 for one in there) else []
    where += [f" in {use.kind['arithmetic']}"] if "arithmetic" in use.kind else []
    where += [f" at {size}"] if (size := place_words(use.sizes[-1], study)) else []
    where += [" (throttled)" for gain in use.gains[-1:] if gain and gain[1]]
    return f"{times_text(1 / use.gain.value) if use.gain else ''}× as fast as {use.kernel}{''.join(where)}"


def _gain_words(use: Use) -> dict[str, Any]:
    """What use_rows() says of the gain: at the largest size, or of the least and the most if they differ."""
    known = [(*gain, size) for gain, size in zip(use.gains, use.sizes, strict=True) if gain] if use.gain else []
    least, most = (end(known, key=lambda one: one[0].value, default=None) for end in (min, max))
    ends = [least, most] if least and most and least[0].high < most[0].low else known[-1:]
    several = [axis for axis in use.sizes[0] if len({size[axis] for size in use.sizes}) > 1]
    return {
        "gain": " to ".join(f"{times_text(gain.value)}×" for gain, *_ in ends),
        "gain_at": " and ".join(size_words({axis: size[axis] for axis in several}) for *_, size in ends),
        "gain_interval": gain_interval(ends[0][0]) if len(ends) == 1 else "",
        "gain_over": "the fastest library" if len({name for *_, name, _ in ends}) > 1 else use.beside,
        "is_beside_throttled": any(is_throttled for _, is_throttled, *_ in ends),
    }


def gain_interval(gain: Interval) -> str:
    """The interval of a ratio, with its digits; "" where it is known to 1%."""
    is_known = max(gain.high / gain.value, gain.value / gain.low) <= _WELL_KNOWN
    return "" if is_known else f"{times_text(gain.low)}–{times_text(gain.high)}"


def libraries_text(rows: Sequence[Mapping[str, Any]], study: StudySettings) -> str:
    """Which libraries are faster than what to use: `cub_tuned is 1.03× as fast as streaming_sum at 2³²`; or ""."""
    own = {kernel.name for kernel in study.kernels}
    ahead = grouped((row for row in rows if row["ahead"] and row["beside"] not in own), lambda row: row["beside"])
    return "; ".join(
        f"{library} is {', '.join(dict.fromkeys(row['ahead'] for row in of))}" for library, of in ahead.items()
    )


def _joined(uses: Sequence[Use]) -> Use:
    """The last of neighbours, for the sizes of all."""
    one, sizes = uses[-1], tuple(size for use in uses for size in use.sizes)
    lost = sum(use.mean * len(use.sizes) for use in uses) / len(sizes)
    losses, worst = tuple(loss for use in uses for loss in use.losses), max(use.worst for use in uses)
    gains = tuple(gain for use in uses for gain in use.gains)
    ties = one.ties * (len(uses) == 1)
    return replace(one, sizes=sizes, worst=worst, mean=lost, losses=losses, gains=gains, ties=ties)


def tied_text(use: Use, study: StudySettings, most: int = MOST_TIES) -> str:
    """What takes as long at each of the sizes, and the number of the others; "" for nothing."""
    return some_of([f"{tie.kernel} " * (tie.kernel != use.kernel) + chosen_text(tie, study) for tie in use.ties], most)


def sizes_text(use: Use, uses: Sequence[Use], has_arithmetic: bool = False) -> str:
    """The sizes for which a configuration is to be used: `all`, `tf32: all`, `2¹⁶–2²²`, `2²⁸, spread=1–256`.

    A range that begins at 2²⁸+3 is `above 2²⁸`, if that is a size, and lines have only one of both.

    uses            all of the study, with all its sizes
    has_arithmetic  whether the first kernel's arithmetic is named, too, as where others are beside it
    """
    of = use.kind.get("arithmetic") or (use.configuration.arithmetic if has_arithmetic else None)
    of = f"{of}: " if of else ""
    if use.everywhere:
        return f"{of}all"
    # Sizes of several axes have no order that a reader knows, but for the last of those that vary.
    varied = [axis for axis in use.sizes[0] if len({size[axis] for size in use.sizes}) > 1]
    groups = [[*group] for _, group in groupby(use.sizes, lambda size: [size[axis] for axis in varied[:-1]])]
    ends = [{axis: _range_text(axis, of[0][axis], of[-1][axis], uses) for axis in of[0]} for of in groups]
    return of + some_of([*map(size_words, ends)], MOST_SIZES)


def _range_text(axis: str, first: Any, last: Any, uses: Sequence[Use]) -> str:
    """The values from the first to the last of a range of sizes."""
    is_number = first != last and not isinstance(first, str)
    known = {int(size[axis]) for use in uses for size in use.sizes} if is_number else ()
    rounder = [one for one in known if power_of_two_in(one) > power_of_two_in(first)]
    if below := [one for one in rounder if one < first <= (1 + ALIKE) * one]:
        end = "" if last == max(known) else f", up to {axis_value(axis, last)}"
        return f"above {axis_value(axis, max(below))}{end}"
    return "–".join(dict.fromkeys(axis_value(axis, value) for value in (first, last)))


def best_text(
    entries: Sequence[Best], uses: Sequence[Use], studies: Mapping[str, StudySettings], device: Mapping[str, Any]
) -> str:
    """The page: what to use, and each kernel's best, at the reference's element type, operation and cache state."""
    chapters = []
    for name, study in studies.items():
        kernels = [best for best in entries if best.study == name and at_reference_kind(best.point, study)]
        chapters.append(
            {
                "title": study.title,
                "place": reference_text(study, free=[*size_axes(study), *kernel_axes(study)]),
                "budget": study.search.budget if study.search else None,
                "uses": _to_use(of_reference(uses, name, study), study),
                "kernels": _by_kernel(kernels, study) if kernels else "",
            }
        )
    return markdown(
        __file__,
        device=device_text(device),
        reason="" if entries else reason_for_none(studies, device),
        little=LITTLE,
        most=MOST,
        peak=device.get("peak_bandwidth_gbs"),
        chapters=chapters,
    )


def _to_use(uses: Sequence[Use], study: StudySettings) -> str:
    rows = [
        [
            sizes_text(use, uses, any("arithmetic" in one.kind for one in uses)),
            f"`{use.kernel}`",
            *_facts(use.configuration),
            f"{use.worst:.1%}, {use.mean:.1%}",
            tied_text(use, study) or NONE,
        ]
        for use in uses
    ]
    return _table({"sizes": False, "kernel to use": False}, {"loses at most, on average": True, "as fast": False}, rows)


def _by_kernel(entries: Sequence[Best], study: StudySettings) -> str:
    """A row a kernel, at the largest size."""
    sizes = size_axes(study)
    largest = max(tuple(best.point[axis] for axis in sizes) for best in entries)
    rows = [
        [
            f"`{best.kernel}`" + (" (undefined behaviour)" if best.undefined else ""),
            *_facts(best.fastest),
            ties_text(best),
        ]
        for best in entries
        if tuple(best.point[axis] for axis in sizes) == largest
    ]
    where = point_text(dict(zip(map(axis_title, sizes), largest, strict=True)))
    return _table({f"kernel{f' at {where}' if where else ''}": False}, {"as fast, of this kernel": False}, rows)


_FACTS = ("configuration", "µs", "95% interval", "GB/s", "GFLOP/s", "of peak")


def _facts(configuration: Configuration) -> list[str]:
    return [
        configuration_text(configuration) or NONE,
        f"{configuration.time_us:,.2f}",
        f"{configuration.time_low_us:,.2f}–{configuration.time_high_us:,.2f}",
        f"{configuration.bandwidth_gbs:,.0f}" if configuration.bandwidth_gbs else NONE,
        f"{configuration.gflops:,.0f}" if configuration.gflops else NONE,
        f"{configuration.peak_fraction:.1%}" if configuration.peak_fraction else NONE,
    ]


def _table(first: Mapping[str, bool], last: Mapping[str, bool], rows: Sequence[Sequence[str]]) -> str:
    """A table with some columns, _FACTS, and last columns; without those that have no value at all."""
    heads = {**first, **dict.fromkeys(_FACTS, True), "configuration": False, **last}
    kept = [number for number in range(len(heads)) if number < 2 or {row[number] for row in rows} != {NONE}]
    shown = dict(list(heads.items())[number] for number in kept)
    return markdown_table(shown, [[row[number] for number in kept] for row in rows])
