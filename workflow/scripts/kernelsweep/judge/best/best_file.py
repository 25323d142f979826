"""The best configurations as best.json, which other programs and the page read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kernelsweep.analysis.reference import has_times
from kernelsweep.judge.best.find import Best, Configuration, Use

# The version of best.json. It rises when a key changes its meaning or is removed; programs should check it first.
SCHEMA_VERSION = 1

# The keys that a configuration and a point have in best.json by themselves. Where a study's axes are others, those
# stand in `parameters` and `problem`.
_CONFIGURATION_KEYS = ("block_size", "unroll", "grid_size")
_POINT_KEYS = ("array_size", "dtype", "operation")


def best_json(found: Sequence[Best], uses: Sequence[Use], studies: Sequence[str], device: Mapping[str, Any]) -> str:
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
        "reason_for_none": "" if entries else reason_for_none(studies, device),
        "use": [
            {
                "study": use.study,
                "kernel": use.kernel,
                "kind": use.kind,
                "sizes": use.sizes,
                "all_sizes": use.everywhere,
                "worst_loss": use.worst,
                "mean_loss": use.mean,
                **_entry(use.configuration),
                "beside": use.beside,
                "times_as_fast": use.gain,
            }
            for use in uses
        ],
        "entries": entries,
    }
    return json.dumps(document, indent=1) + "\n"


def _entry(configuration: Configuration) -> dict[str, Any]:
    entry = asdict(configuration)
    for key in ("gflops", "peak_fraction", "arithmetic"):
        if entry[key] is None:
            del entry[key]
    return {**_keyed(entry.pop("parameters"), _CONFIGURATION_KEYS, "parameters"), **entry}


def _keyed(values: Mapping[str, Any], keys: Sequence[str], key: str) -> dict[str, Any]:
    """The values of axes as best.json has them: each by itself if the axes are `keys`, else together in `key`."""
    named = {axis: value for axis, value in values.items() if axis != "cache"}
    if set(keys) - {"grid_size"} <= set(named) <= set(keys):
        return {**dict.fromkeys(keys), **values}
    return {key: named, **{axis: value for axis, value in values.items() if axis not in named}}


def reason_for_none(studies: Collection[str], device: Mapping[str, Any]) -> str:
    """The reason why there are no best configurations."""
    if not studies:
        return "The kernels do different work, so none is the best."
    if not has_times(device):
        return "There are no times on this platform, so no configuration is the best."
    return "No point of these studies has a time."


def best_uses(document: Mapping[str, Any]) -> list[Use]:
    """What to use, by the document that best_json() wrote."""
    return [
        Use(
            study=use["study"],
            kernel=use["kernel"],
            kind=use["kind"],
            sizes=tuple(use["sizes"]),
            everywhere=use["all_sizes"],
            worst=use["worst_loss"],
            mean=use["mean_loss"],
            configuration=_configuration(use),
            beside=use["beside"],
            gain=use["times_as_fast"],
        )
        for use in document["use"]
    ]


def best_entries(document: Mapping[str, Any]) -> list[Best]:
    """The entries of the document that best_json() wrote."""
    return [
        Best(
            study=entry["study"],
            kernel=entry["kernel"],
            undefined=entry["undefined_behaviour"],
            point=_values(entry, (*_POINT_KEYS, "cache"), "problem"),
            compared=entry["compared"],
            fastest=_configuration(entry),
            ties=tuple(_configuration(tie) for tie in entry["ties"]),
        )
        for entry in document["entries"]
    ]


def _configuration(entry: Mapping[str, Any]) -> Configuration:
    return Configuration(
        parameters=_values(entry, _CONFIGURATION_KEYS, "parameters"),
        **{key: entry[key] for key in ("time_us", "time_low_us", "time_high_us", "bandwidth_gbs")},
        gflops=entry.get("gflops"),
        peak_fraction=entry.get("peak_fraction"),
        arithmetic=entry.get("arithmetic"),
    )


def _values(entry: Mapping[str, Any], keys: Sequence[str], key: str) -> dict[str, Any]:
    """The values of axes, as _keyed() wrote them."""
    return {**entry.get(key, {}), **{axis: entry[axis] for axis in keys if axis in entry}}
