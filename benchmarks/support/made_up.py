"""A made-up project for the scripts and tests of growth: the workflow as it is, with studies and kernels of no meaning.

They import it; it has no command of its own.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow/scripts"))

from kernelsweep.project.project import load_study
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, write_rows
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.spaces import valid_points

ROOT = Path(__file__).resolve().parents[2]

# Each made-up kernel is this one of this study under another name.
STUDY, TEMPLATE = "warp_shuffle", "shuffle"

# 50 sizes, 10 block sizes, 5 unroll factors, 2 types and 2 states of the cache are 10,000 points; 100 variants.
AXES: dict[str, list[Any]] = {
    "array_size": [1000 * size for size in range(1, 51)],
    "block_size": [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    "unroll": [1, 2, 4, 8, 16],
    "dtype": ["int32", "float32"],
    "operation": ["sum"],
    "cache": ["cold", "hot"],
}
POINTS = math.prod(map(len, AXES.values()))


def points(sizes: int = len(AXES["array_size"])) -> list[Point]:
    """All points of a made-up kernel, with `sizes` array sizes."""
    return list(valid_points([{**AXES, "array_size": [1000 * size for size in range(1, sizes + 1)]}], [], []))


def kernel() -> KernelSource:
    """The kernel of which each made-up kernel is a copy."""
    return load_study(STUDY, ROOT).kernels[TEMPLATE]


def make_project(folder: Path, studies: int, kernels: int) -> Path:
    """Copy the project into `folder`, with `studies` made-up studies of `kernels` kernels each, and return its path."""
    project = folder / "project"
    shutil.copytree(ROOT / "workflow", project / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("docs", "envs", "resources", "kernels/include"):
        shutil.copytree(ROOT / name, project / name)
    shutil.copy(ROOT / "kernels/reduction_problem.py", project / "kernels")
    shutil.copy(ROOT / "Snakefile", project)
    (project / "config/studies").mkdir(parents=True)
    shutil.copy(ROOT / "config/metrics.yaml", project / "config")
    names = [f"made_up_{number}" for number in range(studies)]
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    # YAML, too; and JSON is read ten times as fast.
    (project / "config/config.yaml").write_text(json.dumps({**config, "studies": names}))
    for name in names:
        make_study(project, name, kernels)
    return project


def make_study(project: Path, name: str, kernels: int) -> None:
    """Write a study's file and its kernels' sources."""
    shipped = yaml.safe_load((ROOT / f"config/studies/{STUDY}.yaml").read_text(encoding="utf-8"))
    (entry,) = [entry for entry in shipped["kernels"] if entry["name"] == TEMPLATE]
    folder = project / "kernels" / name
    folder.mkdir()
    named = [f"kernel_{number:04}" for number in range(kernels)]
    for kernel in named:
        shutil.copy(ROOT / f"kernels/{STUDY}/{TEMPLATE}.cu", folder / f"{kernel}.cu")
    study = {
        "title": f"Made up: {name}",
        **{key: shipped[key] for key in ("problem", "cxx")},
        "kernels": [{**entry, "name": kernel} for kernel in named],
        "axes": AXES,
        "reference": {"array_size": 10_000, "block_size": 256, "dtype": "int32", "operation": "sum", "cache": "cold"},
        "steps": [{"kernel": kernel, "unroll": 1} for kernel in named[:10]],
        "figures": ["ladder", "lines"],
    }
    (project / f"config/studies/{name}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))


# The device of the made-up points.
DEVICE = {
    "platform": "made-up-gpu",
    "kind": "gpu",
    "name": "Made-up GPU",
    "multiprocessors": 132,
    "peak_bandwidth_gbs": 4814.0,
    "driver": "1.0",
    "compute_capability": "9.0",
    "multiprocessor_clock_mhz": 1980.0,
    "memory_bytes": 2**37,
    "l2_bytes": 2**26,
    "provenance": "made up for Made-up GPU, driver 1.0",
}
GBS = 2000.0
LAUNCH_US = 2.0


def make_rows(results: Path, studies: int, kernels: int) -> None:
    """Write results/points/ and results/builds/ of the made-up kernels, as measuring on a GPU would have."""
    every = points()
    variants = [point for point in points(1) if point["cache"] == "cold"]
    of_template = results / "template.csv"
    for folder, columns, rows in (
        ("points", MEASUREMENT_COLUMNS, [_measured(point, number) for number, point in enumerate(every)]),
        ("builds", BUILD_COLUMNS, [_built(point) for point in variants]),
    ):
        write_rows(of_template, columns, rows)
        text = of_template.read_text()
        for study in range(studies):
            (results / f"{folder}/made_up_{study}").mkdir(parents=True, exist_ok=True)
            for kernel in range(kernels):
                path = results / f"{folder}/made_up_{study}/kernel_{kernel:04}.csv"
                path.write_text(text.replace("STUDY,KERNEL", f"made_up_{study},kernel_{kernel:04}"))
    of_template.unlink()


def _measured(point: Point, number: int) -> dict[str, Any]:
    """A point's row: a latency and a bandwidth, and configurations that are a percent apart, so that few are ties."""
    time_us = (LAUNCH_US + point["array_size"] * 4 / GBS / 1e3) * (1 + number % 97 / 100)
    return {
        **point,
        "study": "STUDY",
        "kernel": "KERNEL",
        "platform": DEVICE["platform"],
        "device": DEVICE["name"],
        "launches": 1,
        "grid_size": -(-point["array_size"] // (point["block_size"] * point["unroll"])),
        "status": "ok",
        "samples": 60,
        "time_us": f"{time_us:.3f}",
        "time_low_us": f"{time_us * 0.998:.3f}",
        "time_high_us": f"{time_us * 1.003:.3f}",
        "noise": f"{number % 83 / 5000:.5f}",
        "bandwidth_gbs": f"{point['array_size'] * 4 / time_us / 1e3:.3f}",
        "peak_fraction": f"{point['array_size'] * 4 / time_us / 1e3 / DEVICE['peak_bandwidth_gbs']:.5f}",
        "clock_mhz": 1980,
        "flags": "noisy" if number % 50 == 0 else "",
        "source_sha256": "9bace405cf6b1669f5bfc0310d57e24d34b2ad5cbd5ff82fe9038527fec20ca8",
        "binary_sha256": f"{point['block_size'] * 100 + point['unroll']:064x}",
        "visit_spread": f"{number % 71 / 3000:.5f}",
        "temperature_c": 30 + number % 20,
        "power_w": f"{300 + number % 1000 / 10:.1f}",
        "device_uuid": "GPU-00000000-0000-0000-0000-000000000000",
        "seconds": f"{0.01 + number % 313 / 10000:.4f}",
        "busy_seconds": f"{0.005 + number % 313 / 20000:.4f}",
        "visits": 3,
    }


def _built(point: Point) -> dict[str, Any]:
    """A variant's row of builds.csv."""
    variant = {column: point[column] for column in ("block_size", "unroll", "dtype", "operation")}
    known = {"study": "STUDY", "kernel": "KERNEL", "platform": DEVICE["platform"], "target": "sm_90", "status": "ok"}
    return {**variant, **known, "registers": 32, "shared_bytes": 0, "occupancy": "1.0000"}
