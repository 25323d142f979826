"""The page best.md: by study, what to use, what is fastest at each size, and each kernel's best at the largest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.analysis.places import kernel_axes, size_axes
from kernelsweep.analysis.words import axis_title, axis_value, device_text, markdown_table, point_text, reference_text
from kernelsweep.judge.best.best_file import reason_for_none
from kernelsweep.judge.best.best_words import NONE, also_text, configuration_text, ties_text, use_lines
from kernelsweep.judge.best.find import Best, Configuration, at_reference_kind, fastest_by_size
from kernelsweep.judge.best.use import LITTLE, Use, of_reference
from kernelsweep.sweep.settings import StudySettings

# More sizes than these are left to best.json: of many, every second or third one is shown, and always the largest.
MOST_SIZES = 8

_EXPLANATION = (
    "Use: the configuration that loses least at any size, and where that is more than {:.0%}, the fewest that don't, or"
    " that tie there. A configuration is a block size × an unroll factor, or its values on a study's own axes; the"
    " number of blocks is named where the sweep chooses it. As fast: others that tie (95%). best.json has every size,"
    " element type, operation and cache state."
)
_SEARCHED = " A search measured up to {:,} configurations of each kernel at each size."
_PEAK = " Of peak: of the memory's {:,.0f} GB/s, or of the work's arithmetic where that is nearer."


def best_text(
    found: Sequence[Best], uses: Sequence[Use], studies: Mapping[str, StudySettings], device: Mapping[str, Any]
) -> str:
    """The page: what to use and two tables a study, at the reference point's element type, operation and cache state.

    studies  their settings by name
    """
    lines = ["# Best configurations", "", f"{device_text(device)}.", ""]
    if not found:
        return "\n".join([*lines, reason_for_none(studies, device)]) + "\n"
    peak = device.get("peak_bandwidth_gbs")
    lines.append(_EXPLANATION.format(LITTLE) + (_PEAK.format(peak) if peak else ""))
    for name, study in studies.items():
        shown = at_reference_kind((best for best in found if best.study == name), study)
        lines += ["", f"## {study.title}", ""]
        where = reference_text(study, free=[*size_axes(study), *kernel_axes(study)])
        if not shown:
            lines.append(f"No kernel of this study was timed with {where}.")
            continue
        lines += [
            f"{where[:1].upper()}{where[1:]}." + (_SEARCHED.format(study.search.budget) if study.search else ""),
            "",
            *use_lines(of_reference(uses, name, study), study),
            "",
            *_by_size(shown, study),
            "",
            *_by_kernel(shown, study),
        ]
    return "\n".join(lines) + "\n"


def _by_size(shown: Sequence[Best], study: StudySettings) -> list[str]:
    """A row a size: the shortest time, its kernel if that beats all others, or those that tie."""
    sizes, every = size_axes(study), fastest_by_size(shown, study)
    if not every:
        return ["Only kernels with undefined behaviour have a time."]
    rows = [
        [
            *(axis_value(axis, fastest.point[axis]) for axis in sizes),
            f"`{fastest.kernel}`" if fastest.beats_all else NONE,
            *_facts(fastest.configuration, is_named=fastest.beats_all),
            also_text(fastest),
        ]
        for fastest in every[::-1][:: math.ceil(len(every) / MOST_SIZES)][::-1]
    ]
    return _table({**dict.fromkeys(map(axis_title, sizes), True), "faster than all others": False}, "as fast", rows)


def _by_kernel(shown: Sequence[Best], study: StudySettings) -> list[str]:
    """A row a kernel, at the largest size."""
    sizes = size_axes(study)
    largest = max(tuple(best.point[axis] for axis in sizes) for best in shown)
    rows = [
        [
            f"`{best.kernel}`" + (" (undefined behaviour)" if best.undefined else ""),
            *_facts(best.fastest),
            ties_text(best),
        ]
        for best in shown
        if tuple(best.point[axis] for axis in sizes) == largest
    ]
    where = point_text(dict(zip(map(axis_title, sizes), largest, strict=True)))
    return _table({f"kernel{f' at {where}' if where else ''}": False}, "as fast, of this kernel", rows)


_FACTS = ("configuration", "µs", "95% interval", "GB/s", "GFLOP/s", "of peak")


def _facts(one: Configuration, is_named: bool = True) -> list[str]:
    """The columns _FACTS of a configuration."""
    return [
        configuration_text(one) if is_named else NONE,
        f"{one.time_us:,.2f}",
        f"{one.time_low_us:,.2f}–{one.time_high_us:,.2f}",
        f"{one.bandwidth_gbs:,.0f}" if one.bandwidth_gbs else NONE,
        f"{one.gflops:,.0f}" if one.gflops else NONE,
        f"{one.peak_fraction:.1%}" if one.peak_fraction else NONE,
    ]


def _table(first: Mapping[str, bool], last: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with some columns, _FACTS, and a last column; without those that have no value at all."""
    heads = {**first, **dict.fromkeys(_FACTS, True), "configuration": False, last: False}
    kept = [number for number in range(len(heads)) if number < 2 or {row[number] for row in rows} != {NONE}]
    shown = dict(list(heads.items())[number] for number in kept)
    return markdown_table(shown, [[row[number] for number in kept] for row in rows])
