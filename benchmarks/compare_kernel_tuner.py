"""Seconds from the command to the times, here and in Kernel Tuner: five kernels whose reference takes a while.

    uv run --extra gpu --extra search --extra compare python benchmarks/compare_kernel_tuner.py
    uv run python benchmarks/compare_kernel_tuner.py --platform emulator       # this side alone

The kernels are in own_kernels/. Both sides compile the same files with the same macros and options, without relocatable
device code, run the same configurations with a hot cache, and begin without compiled units and references. Of `heat`,
60 of its configurations are measured: here by a search, by Kernel Tuner with its genetic algorithm.

    here                      `snakemake <study>`: each result is checked, each kernel proven, and a page is written
    Kernel Tuner, answer      the reference, which it computes first, is its `answer`; the bound is its `atol`
    Kernel Tuner, unchecked   without an answer

Seconds are counted from the command here; there, from the import of Kernel Tuner. `first` is when the first
configuration was timed and, where it is checked, found right; `last` the same of the last one, and `end` the end of the
process. `best` is the time of the fastest, as each side measures it. A line before says what one reference with its
bounds takes alone, in one process.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from small_studies import run
from support.own_sweep import ROOT, leased, require

from kernelsweep.compile import nvcc
from kernelsweep.project.project import load_config, load_study
from kernelsweep.study.kernel_sweep import KernelSweep
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import kernel_axes
from kernelsweep.study.settings import read_yaml
from kernelsweep.study.study import Study

OWN = ROOT / "benchmarks/own_kernels"
STUDIES = ("black_scholes", "matmul", "layer_norm", "softmax", "heat")
TUNERS = {"Kernel Tuner, answer": True, "Kernel Tuner, unchecked": False}
HOT = {"cache": ["hot"]}

# Kernel Tuner imports these where they are installed, though none of them is needed here: with them, its process would
# start seconds later on one machine than on another.
NOT_NEEDED = ("torch", "cupy", "hip")


def here(study: str, platform: str, cores: int) -> dict[str, Any]:
    """What the command takes here, in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(
            shutil.copytree(OWN, Path(scratch, "own"), ignore=shutil.ignore_patterns("results", ".snakemake"))
        )
        first, last, end, status, output = run(folder, platform, cores, study, f"axes={json.dumps(HOT)}")
        rows = [row for file in folder.glob("results/*/points/*/*.csv") for row in csv.DictReader(file.open())]
        right = [row for row in rows if row["status"] == "ok"]
        if status or not right:
            sys.exit(f"{study}: exit status {status}\n{output[-4000:]}")
    times = [float(row["time_us"]) for row in right if row["time_us"]]
    found = {"first": first, "last": last, "end": end, "best": min(times, default=float("nan"))}
    return {**found, "right": f"{len(right)} of {len(rows)}"}


class Without:
    """A finder of modules to which some are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse the modules of NOT_NEEDED; leave the others to the finders behind."""
        if name.split(".")[0] in NOT_NEEDED:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def swept(name: str, platform: str) -> tuple[Study, KernelSource, list[Point]]:
    """A study, its kernel, and the points of it."""
    config = load_config({**read_yaml(ROOT / "config/config.yaml", "config/config.yaml"), "axes": HOT}, ROOT)
    study = load_study(name, OWN)
    kernel = study.kernels[name]
    sweep = KernelSweep(kernel, kernel_axes(config, study, name, platform), 0, study.settings.restrictions, None)
    return study, kernel, [planned.point for planned in sweep.planned()]


def reference_seconds(name: str, platform: str) -> float:
    """What a study's reference takes with its bounds, after its inputs."""
    study, _, points = swept(name, platform)
    with tempfile.TemporaryDirectory() as scratch:  # No reference of an earlier run is read.
        instance = replace(study.problem, references=Path(scratch)).instance(name, points[0], seed=1)
        _ = instance.inputs.by_name
        started = time.time()
        instance.expect()
        return time.time() - started


def tune(name: str, platform: str, is_checked: bool) -> dict[str, Any]:
    """What Kernel Tuner takes for a study's kernel, in this process."""
    study, kernel, points = swept(name, platform)
    settings = study.settings
    tuned = [axis for axis in points[0] if len({point[axis] for point in points}) > 1]
    plans = {tuple(point[axis] for axis in tuned): kernel.plan(point).launches[0] for point in points}

    def launch(values: Any) -> Any:
        return plans.get(tuple(values[axis] for axis in tuned))

    started = time.time()
    sys.meta_path.insert(0, Without())
    from kernel_tuner import tune_kernel
    from kernel_tuner.backends import pycuda as backend

    backend.DynamicSourceModule = backend.SourceModule  # It would compile relocatable device code.
    with tempfile.TemporaryDirectory() as scratch:  # No reference of an earlier run is read.
        instance = replace(study.problem, references=Path(scratch)).instance(name, points[0], seed=1)
        right = instance.right_values() if is_checked else {}
    arrays = instance.arrays()
    data = {
        array: np.zeros(of.size, of.dtype) if of.contents is None else np.array(of.contents)
        for array, of in arrays.items()
    }
    words = next(iter(plans.values())).arguments
    expected = {array: values.values for array, values in right.items()}
    answer = [expected.get(str(word)) for word in words] if is_checked else None
    search: dict[str, Any] = {}
    if settings.search:
        search = {"strategy": "genetic_algorithm", "strategy_options": {"max_fevals": settings.search.budget}}
    results, _ = tune_kernel(
        name,
        kernel.path.read_text(encoding="utf-8"),
        lambda values: launch(values).grid[:2],
        [data[word] if isinstance(word, str) else np.int32(word) for word in words],
        {axis: sorted({point[axis] for point in points}) for axis in tuned},
        grid_div_x=[],
        grid_div_y=[],
        # A function with a name, since Kernel Tuner would rewrite a lambda as an expression.
        restrictions=_admitting(launch) if len(tuned) > 1 else None,
        lang="PYCUDA",
        compiler_options=["-std=c++17"],
        answer=answer,
        atol=max((float(of.bound.max()) for of in right.values() if of.bound is not None), default=0.0),
        quiet=True,
        **search,
    )
    timed = [one for one in results if "__error__" not in one]
    if not timed:
        sys.exit(f"Kernel Tuner measured no configuration; the first says {results[0]}")
    ends = sorted(datetime.fromisoformat(one["timestamp"]).timestamp() - started for one in timed)
    found = {"first": ends[0], "last": ends[-1], "end": time.time() - started}
    return {**found, "best": 1e3 * min(one["time"] for one in timed), "right": f"{len(timed)} of {len(results)}"}


def _admitting(launch: Any) -> Any:
    def is_valid(values: Any) -> bool:
        return launch(values) is not None

    return is_valid


def tuned_elsewhere(study: str, side: str) -> dict[str, Any]:
    """What Kernel Tuner takes, in a process of its own; ends the script where that fails."""
    environment = {"CUDA_ROOT": str(Path(nvcc.find()).resolve().parent.parent), **os.environ}
    with leased() as device, tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "found.json")
        command = [sys.executable, __file__, "--study", study, "--side", side, "--platform", device.platform]
        subprocess.run([*command, "--output", str(output)], env=environment, check=True, stdout=sys.stderr)
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found


def sides(study: str, platform: str, cores: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each side's name, and what it takes."""
    yield "here", here(study, platform, cores)
    if platform != "emulator":
        for side in TUNERS:
            yield side, tuned_elsewhere(study, side)


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--study", choices=STUDIES, action="append", help="one of the studies; all by default")
    parser.add_argument("--platform", default="gpu")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, help="write what was measured as JSON")
    parser.add_argument("--side", choices=TUNERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        found = tune(options.study[0], options.platform, TUNERS[options.side])
        options.output.write_text(json.dumps(found), encoding="utf-8")
        return
    if options.platform != "emulator":
        require("pycuda", "kernel_tuner", "optuna", extras=["gpu", "search", "compare"])
    print("| study | side | first (s) | last (s) | end (s) | best (µs) | right |\n|---|---|---:|---:|---:|---:|---:|")
    every: dict[str, dict[str, Any]] = {}
    for study in options.study or STUDIES:
        print(f"{study}: one reference takes {reference_seconds(study, options.platform):.1f} s", file=sys.stderr)
        for side, found in sides(study, options.platform, options.cores):
            every.setdefault(study, {})[side] = found
            numbers = [f"{found[name]:.1f}" for name in ("first", "last", "end", "best")]
            print("|", " | ".join([study, side, *numbers, found["right"]]), "|", flush=True)
    if options.output:
        options.output.write_text(json.dumps(every), encoding="utf-8")


if __name__ == "__main__":
    main()
