"""The best configurations as best.json, which other programs read, and as the page best.md."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kernelsweep.analysis.places import size_axes
from kernelsweep.analysis.reference import has_times
from kernelsweep.analysis.words import axis_title, axis_value, device_text, list_texts, point_text, reference_text
from kernelsweep.judge.best.find import Best, Configuration, Fastest
from kernelsweep.problems.registry import problem_of

# The version of best.json. It rises when a key changes its meaning or is removed; programs should check it first.
SCHEMA_VERSION = 1

# The keys that a configuration and a point have in best.json by themselves. Where a study's axes are others, those
# stand in `parameters` and `problem`.
_CONFIGURATION_KEYS = ("block_size", "unroll", "grid_size")
_POINT_KEYS = ("array_size", "dtype", "operation")

_EMPTY = "–"

# Further ties are counted but not named: at small sizes nearly every configuration takes the time of a launch.
MOST_TIES = 8


def best_json(found: Sequence[Best], studies: Sequence[str], device: Mapping[str, Any]) -> str:
    """The best configurations for programs, in the format of workflow/schemas/best.schema.json.

    studies  the names of the searched studies
    """
    entries = [
        {
            "study": best.study,
            "kernel": best.kernel,
            **_keyed(best.point, _POINT_KEYS, "problem"),
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
    if entry["gflops"] is None:
        del entry["gflops"]
    return {**_keyed(entry.pop("parameters"), _CONFIGURATION_KEYS, "parameters"), **entry}


def _keyed(values: Mapping[str, Any], keys: Sequence[str], key: str) -> dict[str, Any]:
    """The values of axes as best.json has them: each by itself if the axes are `keys`, else together in `key`."""
    named = {axis: value for axis, value in values.items() if axis != "cache"}
    if set(named) == set(keys):
        return dict(values)
    return {key: named, **{axis: value for axis, value in values.items() if axis not in named}}


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
    lines.append(" ".join(_explanation(found)))
    for name, study in studies.items():
        shown = [best for best in found if best.study == name and _is_shown(best, study)]
        lines += ["", f"## {study['title']}", ""]
        axes = problem_of(study["problem"]).axes
        free = [*size_axes(study), *(axis for axis, of_axis in axes.items() if of_axis.of_kernel)]
        if not shown:
            lines.append(f"No kernel of this study was timed with {reference_text(study, free=free)}.")
            continue
        lines += [f"{reference_text(study, free=free).capitalize()}.", "", *_table(shown, size_axes(study))]
    return "\n".join(lines) + "\n"


def _explanation(found: Sequence[Best]) -> list[str]:
    """The sentences above the tables: on studies of block sizes and unroll factors, and on studies of other axes."""
    kinds = {_is_block_and_unroll(best.fastest.parameters) for best in found}
    texts = {
        True: "The fastest block size × unroll factor of each kernel at each array size; where that is the sweep's"
        " choice, also its number of blocks.",
        False: "The fastest of each kernel's configurations at each problem size, by the axes that say how it is built"
        " or launched.",
    }
    others = {
        True: "All element types, operations and cache states are in best.json.",
        False: "Of a configuration that is as fast, the values that differ from the fastest are shown; best.json has"
        " all.",
    }
    return [
        *(text for kind, text in texts.items() if kind in kinds),
        "As fast: others, whose time's ratio to it has a 95% interval with 1 in it. Bold: the shortest time at that"
        " size.",
        *(text for kind, text in others.items() if kind in kinds),
    ]


def _is_shown(best: Best, study: Mapping[str, Any]) -> bool:
    sizes = size_axes(study)
    return all(value == study["reference"][axis] for axis, value in best.point.items() if axis not in sizes)


def _table(shown: Sequence[Best], sizes: Sequence[str]) -> list[str]:
    rates = {"GB/s": "bandwidth_gbs", "GFLOP/s": "gflops"}
    rates = {unit: of for unit, of in rates.items() if any(getattr(best.fastest, of) is not None for best in shown)}
    header = ["kernel", *(axis_title(axis) for axis in sizes), "fastest", "as fast", "µs", *rates]
    lines = [
        f"| {' | '.join(header)} |",
        f"|---|{'---:|' * len(sizes)}---|---|---:|{'---:|' * len(rates)}",
    ]
    fastest: dict[tuple[Any, ...], float] = {}
    for best in shown:
        if not best.undefined:
            size = tuple(best.point[axis] for axis in sizes)
            fastest[size] = min(best.fastest.time_us, fastest.get(size, math.inf))
    for best in shown:
        chosen, size = best.fastest, tuple(best.point[axis] for axis in sizes)
        mark = " (undefined behaviour)" if best.undefined else ""
        time = f"{chosen.time_us:.2f}"
        if not best.undefined and chosen.time_us == fastest[size]:
            time = f"**{time}**"
        values = [_EMPTY if (rate := getattr(chosen, of)) is None else f"{rate:,.0f}" for of in rates.values()]
        texts = [axis_value(axis, best.point[axis]) for axis in sizes]
        names = [f"`{best.kernel}`{mark}", *texts, _names([chosen]), ties_text(best)]
        lines.append(f"| {' | '.join([*names, time, *values])} |")
    return lines


def ties_text(best: Best, most: int = MOST_TIES) -> str:
    """The closest ties of a kernel's best configuration by name, and the number of the others."""
    if not best.ties:
        return _EMPTY
    more = len(best.ties) - most
    return _names(best.ties[:most], best.fastest) + (f"; {more} more" if more > 0 else "")


def _is_block_and_unroll(parameters: Mapping[str, Any]) -> bool:
    return set(parameters) == set(_CONFIGURATION_KEYS)


def _names(configurations: Sequence[Configuration], beside: Configuration | None = None) -> str:
    """Configurations in short.

    Block sizes and unroll factors are grouped by unroll factor and grid: `128, 256 × 8; 512 × 4`. Configurations on
    other axes are named by the values that differ from the configuration `beside` them: `tile=2; tile=4 rows=8`.
    """
    groups: dict[tuple[int | None, int], list[int]] = {}
    for one in (configuration.parameters for configuration in configurations):
        if not _is_block_and_unroll(one):
            return "; ".join(configuration_text(other, beside) for other in configurations)
        groups.setdefault((one["grid_size"], one["unroll"]), []).append(one["block_size"])
    names = []
    for (grid, unroll), blocks in groups.items():
        name = f"{', '.join(str(block) for block in sorted(blocks))} × {unroll}"
        names.append(name if grid is None else f"{name} in {grid:,} blocks")
    return "; ".join(names)


def configuration_text(one: Configuration, beside: Configuration | None = None) -> str:
    """A configuration by its parameters that differ from the one `beside` it: `tile=2 rows=8`."""
    known = {} if beside is None else beside.parameters
    return point_text({axis: value for axis, value in one.parameters.items() if known.get(axis) != value}) or _EMPTY


def fastest_text(fastest: Fastest) -> str:
    """A sentence on the fastest of all kernels at a point, and those that can't be told apart from it."""
    chosen = fastest.configuration
    sizes = point_text({axis: value for axis, value in fastest.point.items() if axis != "cache"})
    text = (
        f"{f'At {sizes}, fastest' if sizes else 'Fastest'} of {fastest.compared:,} configurations with a time:"
        f" {fastest.kernel} {configuration_text(chosen)}, {chosen.time_us:.4g} µs"
    )
    if not fastest.ties:
        return f"{text}."
    ties = [
        configuration_text(one, chosen) if kernel == fastest.kernel else f"{kernel} {configuration_text(one)}"
        for kernel, one in fastest.ties
    ]
    return f"{text}; as fast: {list_texts(ties)}."
