"""A kernel's measurements in the T4 format of the autotuning community, which tuners and their benchmarks read.

The format: F. Willemsen et al., "A methodology for comparing optimization algorithms for auto-tuning", FGCS 159 (2024),
and https://github.com/odgaard/TuningSchema, branch T4. workflow/schemas/t4.schema.json describes what is written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kernelsweep.results import Row, number_or_text, with_parameters

SCHEMA_VERSION = "1.0.0"

# The format's word for each status.
_INVALIDITY = {
    "ok": "correct",
    "wrong_result": "correctness",
    "implausible": "correctness",
    "build_failed": "compile",
    "launch_failed": "runtime",
    "out_of_memory": "runtime",
    "timed_out": "timeout",
    "skipped": "constraints",
}

# The columns that are measurements, with their units. The first is the objective.
_MEASUREMENTS = {
    "time_us": "us",
    "time_low_us": "us",
    "time_high_us": "us",
    "bandwidth_gbs": "GB/s",
    "gflops": "GFLOP/s",
    "energy_mj": "mJ",
}


def t4_files(rows: Iterable[Mapping[str, str]], kinds: Mapping[str, str], device: Mapping[str, Any]) -> dict[str, str]:
    """The files of a study's kernels by name: one space of configurations a kernel, problem size and cache state.

    rows    the rows of measurements.csv of its kernels
    kinds   what each of its axes says (StudySettings.kinds)
    device  a device.json
    """
    files: dict[str, dict[str, Any]] = {}
    for row in rows:
        values = _values(row, kinds)
        place = {axis: value for axis, value in values.items() if kinds[axis] != "kernel"}
        configuration = {axis: value for axis, value in values.items() if kinds[axis] == "kernel"}
        metadata = {
            "timeunit": "milliseconds",
            "kernel_name": row["kernel"],
            "problem": place,
            "device": {key: device.get(key) for key in ("name", "compute_capability", "driver")},
        }
        name = "-".join([row["kernel"], *(f"{axis}_{value}" for axis, value in place.items())])
        document = files.setdefault(name, {"schema_version": SCHEMA_VERSION, "metadata": metadata, "results": []})
        document["results"].append(_result(row, configuration))
    return {f"{name}.json": json.dumps(document, indent=1) + "\n" for name, document in files.items()}


def _result(row: Mapping[str, str], configuration: Mapping[str, Any]) -> dict[str, Any]:
    """One configuration. A configuration that failed has a reason and no measurements."""
    measurements = [
        {"name": column, "value": float(row[column]), "unit": unit}
        for column, unit in _MEASUREMENTS.items()
        if row["status"] == "ok" and row.get(column)
    ]
    return {
        "configuration": dict(configuration),
        "times": {"framework": 1e3 * float(row["seconds"])} if row.get("seconds") else {},
        "invalidity": _INVALIDITY[row["status"]],
        "correctness": int(row["status"] == "ok"),
        "measurements": measurements,
        "objectives": [next(iter(_MEASUREMENTS))],
        **({"message": row["message"]} if row["message"] else {}),
    }


def _values(row: Mapping[str, str], axes: Iterable[str]) -> Row:
    """A row's value on each of these axes that it has."""
    texts = with_parameters(row)
    return {axis: number_or_text(texts[axis]) for axis in axes if texts.get(axis)}
