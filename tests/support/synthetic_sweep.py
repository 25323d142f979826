"""Made-up but realistic sweeps for the tests of tables and figures: an H200's times, an emulator's none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from checkout import ROOT
from made_settings import MadeSettings, made
from reductions import REDUCTION

from kernelsweep.judge.data.published import PUBLISHED, read_published
from kernelsweep.judge.data.reference import at_reference
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.judge.data.steps import ladder_steps
from kernelsweep.judge.data.study_data import Metrics, StudyData
from kernelsweep.project.project import load_config
from kernelsweep.results import MEASUREMENT_COLUMNS, METRIC_COLUMNS
from kernelsweep.study.settings import read_yaml

H200: dict[str, Any] = {
    "name": "NVIDIA H200",
    "platform": "nvidia-h200",
    "kind": "gpu",
    "multiprocessors": 132,
    "peak_bandwidth_gbs": 4814.0,
    "driver": "580.159.04",
    "compute_capability": "9.0",
    "multiprocessor_clock_mhz": 1980.0,
    "memory_bytes": 150_109_880_320,
    "l2_bytes": 62_914_560,
    "provenance": "measured on NVIDIA H200, driver 580.159.04",
}
EMULATOR: dict[str, Any] = {
    "name": "CPU emulator",
    "platform": "emulator",
    "kind": "emulator",
    "multiprocessors": 4,
    "peak_bandwidth_gbs": None,
    "provenance": "emulated on the CPU: results are checked, times mean nothing",
}

# Microseconds at 2**24 elements, block size 512, cold, as seen on an H200, by unroll factor.
TIMES_US = {
    "neighbored": {1: 214.0},
    "neighbored_less": {1: 117.0},
    "interleaved": {1: 99.0},
    "unrolled": {2: 57.0, 4: 36.0, 8: 27.0, 16: 25.4},
    "unrolled_warps": {2: 45.0, 4: 29.5, 8: 24.83, 16: 24.5},
    "unrolled_warps_volatile": {2: 44.6, 4: 29.3, 8: 24.71, 16: 24.4},
    "completely_unrolled": {2: 46.0, 4: 29.9, 8: 25.02, 16: 24.6},
    "completely_unrolled_volatile": {8: 24.95},
    "completely_unrolled_template": {2: 44.0, 4: 28.9, 8: 24.51, 16: 24.2},
    "completely_unrolled_template_volatile": {8: 24.45},
    "global_memory": {1: 61.0, 4: 30.1},
    "shared_memory": {1: 48.0, 4: 26.9},
    "shuffle": {1: 37.0, 4: 25.3},
}
_SHUFFLES = ("global_memory", "shared_memory", "shuffle")
_UNROLLED = [name for name in TIMES_US if name not in _SHUFFLES]


def _of_times(title: str, kernels: Sequence[str], block_size: int, steps: Sequence[tuple[str, int]]) -> MadeSettings:
    """The settings of a study of kernels of TIMES_US."""
    at = {"array_size": 2**24, "block_size": block_size, "dtype": "int32", "operation": "sum", "cache": "cold"}
    return made(
        {
            "search": None,
            "problem": REDUCTION.named,
            "compares": "times",
            "title": title,
            "kernels": [{"name": name, "axes": {"unroll": [*TIMES_US[name]]}} for name in kernels],
            "reference": at,
            "steps": [{"kernel": kernel, "unroll": unroll, "grid_size": None} for kernel, unroll in steps],
            "rivals": [],
            "limits": [],
            "published": None,
        }
    )


UNROLLING = _of_times(
    "Unrolling: an integer sum in global memory, nine steps",
    _UNROLLED,
    512,
    [
        *((name, 1) for name in _UNROLLED[:3]),
        *(("unrolled", unroll) for unroll in (2, 4, 8, 16)),
        *((name, 8) for name in _UNROLLED[4:]),
        ("completely_unrolled_template", 16),
    ],
)
WARP_SHUFFLE = _of_times(
    "Warp shuffle: where partial sums live", _SHUFFLES, 256, [(name, unroll) for unroll in (1, 4) for name in _SHUFFLES]
)
LAUNCH_US = 1.9
# A hot array that fits in the L2 cache is read this much faster than from memory.
HOT_SPEEDUP = 2.1
L2_BYTES = 50 * 2**20

SIZES = tuple(2**power for power in range(16, 31, 2))
BLOCK_SIZES = (64, 128, 256, 512, 1024)


def sweep(
    study: MadeSettings,
    device: Mapping[str, Any],
    sizes: tuple[int, ...] = SIZES,
    block_sizes: tuple[int, ...] = BLOCK_SIZES,
) -> pandas.DataFrame:
    """All points of a study, right and, on a GPU, timed by a simple model: launch latency, then bandwidth."""
    rows = [
        _row(kernel["name"], size, block_size, unroll, cache, device)
        for kernel in study["kernels"]
        for size in sizes
        for block_size in block_sizes
        for unroll in kernel["axes"]["unroll"]
        for cache in ("cold", "hot")
    ]
    return pandas.DataFrame(rows, columns=list(MEASUREMENT_COLUMNS)).astype({"work": object}).fillna({"work": ""})


def _row(kernel: str, size: int, block_size: int, unroll: int, cache: str, device: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "study": "synthetic",
        "kernel": kernel,
        "platform": device["platform"],
        "device": device["name"],
        "array_size": size,
        "block_size": block_size,
        "unroll": unroll,
        "dtype": "int32",
        "operation": "sum",
        "cache": cache,
        "launches": 1,
        "grid_size": -(-size // (block_size * unroll)),
        "status": "ok",
        "message": "",
        "flags": "undefined_behaviour" if kernel.endswith("volatile") else "",
    }
    if device["kind"] != "gpu":
        return row
    streaming = (TIMES_US[kernel][unroll] - LAUNCH_US) * (size / 2**24) * (1 + 0.12 * abs(math.log2(block_size / 512)))
    time_us = LAUNCH_US + streaming / (HOT_SPEEDUP if cache == "hot" and size * 4 < L2_BYTES else 1)
    bandwidth_gbs = size * 4 / time_us / 1e3
    return row | {
        "samples": 50,
        "time_us": round(time_us, 3),
        "time_low_us": round(time_us * 0.996, 3),
        "time_high_us": round(time_us * 1.006, 3),
        "noise": 0.004,
        "bandwidth_gbs": bandwidth_gbs,
        "peak_fraction": bandwidth_gbs / device["peak_bandwidth_gbs"],
        "work": f"bytes={size * 4}",
        "clock_mhz": 1980,
    }


def fail(
    rows: pandas.DataFrame, status: str, message: str, keep_time: bool = False, **where: object
) -> pandas.DataFrame:
    """A copy of `rows` in which the points that match `where` have failed; `keep_time` leaves a stray time in them."""
    rows = rows.copy()
    chosen = pandas.Series(True, index=rows.index)
    for column, value in where.items():
        chosen &= rows[column] == value
    rows.loc[chosen, ["status", "message"]] = [status, message]
    if not keep_time:
        rows.loc[chosen, ["time_us", "time_low_us", "time_high_us", "noise", "bandwidth_gbs", "peak_fraction"]] = None
    return rows


def metrics(study: MadeSettings, name: str, measurements: pandas.DataFrame, device: Mapping[str, Any]) -> Metrics:
    """Made-up metrics of each step of a study's ladder at its reference point.

    Efficiencies and the like rise from step to step towards 100, counts fall by halves.
    """
    table = load_config(read_yaml(ROOT / "config/metrics.yaml", "config/metrics.yaml"), ROOT).metrics
    names = [*study["metrics"], "duration", "dram_bytes", "global_load_efficiency"]
    definitions = {metric: table[metric] for metric in dict.fromkeys(names)}
    rows = []
    for number, step in enumerate(ladder_steps(study, device)):
        for _, point in step.rows(at_reference(study, measurements)).iterrows():
            for metric, entry in definitions.items():
                value = 100 - 75 / 4**number if entry.unit == "%" else 400 / 2**number + 67
                row = {column: point[column] for column in METRIC_COLUMNS if column in point}
                made_up = {"metric": metric, "unit": entry.unit, "value": value, "source": "ncu", "message": ""}
                rows.append(row | {"study": name, "binary_sha256": ""} | made_up)
    frame = pandas.DataFrame(rows, columns=list(METRIC_COLUMNS))
    plain = {metric: entry.values() for metric, entry in definitions.items()}
    return Metrics(frame.astype({"grid_size": "Int64", "value": "float64"}), plain)


def study_data(study: MadeSettings, rows: pandas.DataFrame, device: Mapping[str, Any]) -> StudyData:
    """A study with made-up rows."""
    published = read_published(study.published, ROOT / PUBLISHED)
    return StudyData(study, rows, device, published, Metrics())


def row_counts(rows: Sequence[Mapping[str, str]]) -> RowCounts:
    """Count rows of measurements.csv."""
    counted = RowCounts()
    names = dict.fromkeys(name for row in rows for name in row)
    [*counted.count([{name: [row.get(name, "") for row in rows] for name in names}] if rows else [])]
    return counted
