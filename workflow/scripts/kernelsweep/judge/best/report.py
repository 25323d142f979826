"""The best configurations as best.json, which other programs read, and as the page best.md."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kernelsweep.analysis.reference import has_times
from kernelsweep.analysis.words import device_text, reference_text, size_text
from kernelsweep.judge.best.find import Best, Configuration

# The version of best.json. It rises when a key changes its meaning or is removed; programs should check it first.
SCHEMA_VERSION = 1

# Further ties are counted but not named: at small sizes nearly every configuration takes the time of a launch.
_NAMED_TIES = 8


def best_json(found: Sequence[Best], studies: Sequence[str], device: Mapping[str, Any]) -> str:
    """The best configurations for programs, in the format of workflow/schemas/best.schema.json.

    studies  the names of the searched studies
    """
    entries = [
        {
            "study": best.study,
            "kernel": best.kernel,
            **best.point,
            "compared": best.compared,
            "undefined_behaviour": best.undefined,
            **_entry(best.fastest),
            "ties": [_entry(tie) for tie in best.ties],
        }
        for best in found
    ]
    document = {
        "schema_version": SCHEMA_VERSION,
        "device": {key: device.get(key) for key in ("name", "compute_capability", "multiprocessors", "provenance")},
        "studies": list(studies),
        "reason_for_none": "" if entries else _reason(studies, device),
        "entries": entries,
    }
    return json.dumps(document, indent=1) + "\n"


def _entry(configuration: Configuration) -> dict[str, Any]:
    entry = asdict(configuration)
    return {**entry.pop("parameters"), **entry}


def _reason(studies: Collection[str], device: Mapping[str, Any]) -> str:
    """The reason why there are no best configurations."""
    if not studies:
        return "The kernels do different work, so none is the best."
    if not has_times(device):
        return "There are no times on this platform, so no configuration is the best."
    return "No point of these studies has a time."


def best_text(found: Sequence[Best], studies: Mapping[str, Mapping[str, Any]], device: Mapping[str, Any]) -> str:
    """The page: a table a study, at the reference point's element type, operation and cache state.

    studies  their settings by name
    """
    lines = ["# Best configurations", "", f"{device_text(device)}.", ""]
    if not found:
        return "\n".join([*lines, _reason(studies, device)]) + "\n"
    lines += [
        "The fastest block size × unroll factor of each kernel at each array size; where that is the sweep's choice,"
        " also its number of blocks. As fast: others, whose time's ratio to it has a 95% interval with 1 in it. Bold:"
        " the shortest time at that size. All element types, operations and cache states are in best.json.",
    ]
    for name, study in studies.items():
        shown = [best for best in found if best.study == name and _is_shown(best, study)]
        lines += ["", f"## {study['title']}", ""]
        if not shown:
            free = ("array_size", "block_size")
            lines.append(f"No kernel of this study was timed with {reference_text(study, free=free)}.")
            continue
        lines += [f"{reference_text(study, free=('array_size', 'block_size')).capitalize()}.", "", *_table(shown)]
    return "\n".join(lines) + "\n"


def _is_shown(best: Best, study: Mapping[str, Any]) -> bool:
    return all(value == study["reference"][axis] for axis, value in best.point.items() if axis != "array_size")


def _table(shown: Sequence[Best]) -> list[str]:
    lines = ["| kernel | array size | fastest | as fast | µs | GB/s |", "|---|---:|---|---|---:|---:|"]
    fastest = {
        size: min(best.fastest.time_us for best in shown if best.point["array_size"] == size and not best.undefined)
        for size in {best.point["array_size"] for best in shown if not best.undefined}
    }
    for best in shown:
        chosen, size = best.fastest, best.point["array_size"]
        mark = " (undefined behaviour)" if best.undefined else ""
        time = f"{chosen.time_us:.2f}"
        if not best.undefined and chosen.time_us == fastest[size]:
            time = f"**{time}**"
        names = f"`{best.kernel}`{mark} | {size_text(size)} | {_names([chosen])} | {_ties(best.ties)}"
        lines.append(f"| {names} | {time} | {chosen.bandwidth_gbs:,.0f} |")
    return lines


def _ties(ties: Sequence[Configuration]) -> str:
    """The closest ties by name, and the number of the others."""
    if not ties:
        return "–"
    more = len(ties) - _NAMED_TIES
    return _names(ties[:_NAMED_TIES]) + (f"; {more} more" if more > 0 else "")


def _names(configurations: Sequence[Configuration]) -> str:
    """Configurations in short, grouped by unroll factor and grid: `128, 256 × 8; 512 × 4`."""
    groups: dict[tuple[int | None, int], list[int]] = {}
    for one in (configuration.parameters for configuration in configurations):
        groups.setdefault((one["grid_size"], one["unroll"]), []).append(one["block_size"])
    names = []
    for (grid, unroll), blocks in groups.items():
        name = f"{', '.join(str(block) for block in sorted(blocks))} × {unroll}"
        names.append(name if grid is None else f"{name} in {grid:,} blocks")
    return "; ".join(names)
