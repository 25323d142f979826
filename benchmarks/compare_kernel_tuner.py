"""How fast a sweep goes here and in Kernel Tuner: the same kernel, points and number of samples, PyCUDA on both sides.

    uv run --extra gpu --extra compare python benchmarks/compare_kernel_tuner.py

A point is a block size and an unroll factor at an array size. Each side runs once, in a process of its own, and takes
exactly `--samples` samples of each point; neither flushes the cache. Printed are:

points a second inside the sweep
    From the first finished point to the last, so without the start of processes, imports, input and context. Here that
    is the check of every result, the samples and the journal, flushed to the disk after each point; the variants were
    compiled before, all in one unit. Kernel Tuner compiles each point when it comes to it, which is part of its sweep;
    it checks no results (`answer` isn't given) and keeps no cache file. The goal is held to these rates. Two more lines
    show them with compiling counted on both sides, and on neither.
seconds for the whole process
    From the start of Python to its end, each with all it does: imports, compiling, input, context, every point, and a
    file of results.

Ends with the exit status 1 where a goal is missed: 20 times as many points a second inside the sweep, a fifth of the
time for the whole process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from support.own_sweep import ROOT, build_variants, gpu, kernel_of, leased, point, require, sweep

from kernelsweep.build import nvcc
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.reduction import make_reduction
from kernelsweep.sweep.kernels.launch_plans import PLANS
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import Point

KERNEL = "warp_shuffle/shuffle"
BLOCK_SIZES = (64, 128, 256, 512, 1024)
UNROLLS = (1, 2, 4, 8, 16)
VARIANTS = len(BLOCK_SIZES) * len(UNROLLS)
LARGEST_ARRAY_SIZE = 2**24
ARRAY_SIZE_STEP = 2**18  # a whole number of the largest block's elements
DTYPE, OPERATION = "int32", "sum"
SEED = 1

RATE_GOAL = 20.0  # times as many points a second inside the sweep
PROCESS_GOAL = 5.0  # times as fast as a whole process

# Kernel Tuner imports these where they are installed, though none of them is needed here: with them, its process would
# start seconds later on one machine than on another.
NOT_NEEDED = ("torch", "cupy", "hip")

ENTRY = "point_kernel"


def array_sizes(points: int) -> list[int]:
    """The array sizes at which all variants together have `points` points. Raises ValueError if there are none."""
    count, rest = divmod(points, VARIANTS)
    most = LARGEST_ARRAY_SIZE // ARRAY_SIZE_STEP
    if rest or not 1 <= count <= most:
        raise ValueError(f"--points {points}: it has to be a multiple of {VARIANTS}, at most {VARIANTS * most}")
    return [LARGEST_ARRAY_SIZE - i * ARRAY_SIZE_STEP for i in range(count)]


def sweep_points(count: int) -> list[Point]:
    """The points of the comparison."""
    return [
        point(size, block_size, unroll=unroll, dtype=DTYPE, operation=OPERATION, cache="hot")
        for size in array_sizes(count)
        for block_size in BLOCK_SIZES
        for unroll in UNROLLS
    ]


def tuner_source(kernel: KernelSource) -> str:
    """The kernel for Kernel Tuner, which needs an entry without template parameters for its PyCUDA backend.

    The kernel becomes a function on the device, called by the entry with the tunable parameters; Kernel Tuner does the
    same to templates itself, but not for this backend.
    """
    element = CXX_TYPES[DTYPE]
    values = {"Element": element, "Operation": "Sum", "block_size": "block_size_x", "unroll": "UNROLL"}
    arguments = ", ".join(values[name] for name in kernel.template_parameters)
    const = "const " if kernel.input_is_const else ""
    return (
        kernel.path.read_text().replace("__global__", "__device__ __forceinline__")
        + f'\nextern "C" __global__ void {ENTRY}({const}{element} *data, {element} *partials, size_t array_size)\n'
        + f"{{\n    {kernel.name}<{arguments}>(data, partials, array_size);\n}}\n"
    )


# ---- the two sides, each in a process of its own ---------------------------------------------------------------------


def run_here(name: str, count: int, samples: int, output: Path) -> None:
    """Build, check and measure the points through the library."""
    kernel, points, device = kernel_of(name), sweep_points(count), gpu()
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        report = build_variants(kernel, points, Path(scratch), device.arch)
        built = time.perf_counter()
        described = {"name": device.name, "driver": device.driver}
        done = sweep(kernel, points, report, Path(scratch), samples, SEED, described)
    numbers = {len(outcome.samples) for outcome in done.outcomes.values()}
    rows = [
        [p["array_size"], p["block_size"], p["unroll"], float(np.median(outcome.samples))]
        for p, outcome in done.outcomes.items()
    ]
    times = {"sweep_s": done.finished[-1] - done.finished[0], "compile_s": built - started}
    output.write_text(
        json.dumps({"points": len(rows), "samples": sorted(numbers), **times, "rows": rows}), encoding="utf-8"
    )


class Without:
    """A finder of modules to which some are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse the modules of NOT_NEEDED; leave the others to the finders behind."""
        if name.split(".")[0] in NOT_NEEDED:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def run_kernel_tuner(name: str, count: int, samples: int, output: Path) -> None:
    """Measure the points in Kernel Tuner, its default strategy: all of them in order."""
    sys.meta_path.insert(0, Without())
    from kernel_tuner import tune_kernel
    from kernel_tuner.accuracy import Tunable

    kernel, sizes = kernel_of(name), array_sizes(count)
    data = np.resize(make_reduction(DTYPE, OPERATION, max(sizes), SEED).tile, max(sizes))
    partials = np.zeros(
        max(PLANS[kernel.plan](point).arrays["partials"].size for point in sweep_points(count)), data.dtype
    )
    results, _ = tune_kernel(
        ENTRY,
        tuner_source(kernel),
        "ARRAY_SIZE",
        [data, partials, Tunable("ARRAY_SIZE", {size: np.uint64(size) for size in sizes})],
        {"ARRAY_SIZE": sizes, "block_size_x": list(BLOCK_SIZES), "UNROLL": list(UNROLLS)},
        grid_div_x=["block_size_x * UNROLL"],
        lang="PYCUDA",
        compiler_options=["-std=c++17", "--expt-relaxed-constexpr", f"-I{ROOT / 'kernels/include'}"],
        iterations=samples,
        quiet=True,
    )
    failed = [result for result in results if "__error__" in result]
    if failed:
        sys.exit(f"Kernel Tuner could not measure {len(failed)} points, first: {failed[0]}")
    rows = [
        [r["ARRAY_SIZE"], r["block_size_x"], r["UNROLL"], float(np.median(r["times"])) * 1e3] for r in results
    ]  # milliseconds
    finished = [datetime.fromisoformat(result["timestamp"]).timestamp() for result in results]
    # The first point ends before the sweep is counted.
    parts = {
        part: sum(r[part] for r in results[1:]) / 1e3 for part in ("compile_time", "benchmark_time", "framework_time")
    }
    times = {"sweep_s": max(finished) - min(finished), "compile_s": parts["compile_time"], "parts_s": parts}
    numbers = {len(result["times"]) for result in results}
    output.write_text(
        json.dumps({"points": len(rows), "samples": sorted(numbers), **times, "rows": rows}), encoding="utf-8"
    )


SIDES = {"here": run_here, "kernel_tuner": run_kernel_tuner}


# ---- the comparison --------------------------------------------------------------------------------------------------


def run_side(side: str, name: str, count: int, samples: int, timeout_seconds: float) -> dict[str, Any]:
    """A side's results and `process_s`, the seconds that its process took. Ends the script where it fails."""
    # Where PyCUDA looks for the library that Kernel Tuner links each kernel against.
    environment = {"CUDA_ROOT": str(Path(nvcc.find()).resolve().parent.parent), **os.environ}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "results.json"
        command = [sys.executable, __file__, "--side", side, "--kernel", name, "--output", str(output)]
        command += ["--points", str(count), "--samples", str(samples)]
        started = time.perf_counter()
        try:
            code = subprocess.run(command, env=environment, timeout=timeout_seconds).returncode
        except subprocess.TimeoutExpired:
            sys.exit(f"{side}: not done after {timeout_seconds:g} s; take fewer --points, or a longer --timeout")
        seconds = time.perf_counter() - started
        if code != 0 or not output.is_file():
            sys.exit(f"{side}: its process ended with {code}; what it said is above")
        results: dict[str, Any] = json.loads(output.read_text())
    if results["points"] != count or results["samples"] != [samples]:
        sys.exit(f"{side}: {results['points']} points of {results['samples']} samples, not {count} of {samples}")
    return {**results, "process_s": seconds}


def comparison(here: dict[str, Any], tuner: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of the table; `ratio` is how many times faster this project is, `goal` None where there is none."""
    intervals = here["points"] - 1  # between finished points

    def line(
        what: str, unit: str, ours: float, theirs: float, ratio: float, goal: float | None = None
    ) -> dict[str, Any]:
        return {"what": what, "unit": unit, "here": ours, "kernel_tuner": theirs, "ratio": ratio, "goal": goal}

    def rates(what: str, ours_s: float, theirs_s: float, goal: float | None = None) -> dict[str, Any]:
        return line(what, "points/s", intervals / ours_s, intervals / theirs_s, theirs_s / ours_s, goal)

    return [
        rates("inside the sweep", here["sweep_s"], tuner["sweep_s"], RATE_GOAL),
        rates("... compiling counted on both sides", here["sweep_s"] + here["compile_s"], tuner["sweep_s"]),
        rates("... compiling counted on neither", here["sweep_s"], tuner["sweep_s"] - tuner["compile_s"]),
        line(
            "whole process",
            "s",
            here["process_s"],
            tuner["process_s"],
            tuner["process_s"] / here["process_s"],
            PROCESS_GOAL,
        ),
    ]


def is_met(lines: Sequence[dict[str, Any]]) -> bool:
    """Whether every line with a goal reaches it."""
    return all(line["goal"] is None or line["ratio"] >= line["goal"] for line in lines)


def table(lines: Sequence[dict[str, Any]]) -> str:
    """The lines as text."""
    text = [f"{'':36} | {'here':>10} | {'Kernel Tuner':>12} |          | ratio | goal"]
    for one in lines:
        goal = f"{one['goal']:3.0f}" if one["goal"] else "  -"
        missed = "  MISSED" if one["goal"] and one["ratio"] < one["goal"] else ""
        text.append(
            f"{one['what']:36} | {one['here']:10.2f} | {one['kernel_tuner']:12.2f} | {one['unit']:8} | "
            f"{one['ratio']:5.1f} | {goal}{missed}"
        )
    return "\n".join(text)


def main() -> int:
    """Compare, print the table, write the results; 0 where both goals are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default=KERNEL, metavar="STUDY/KERNEL", help=f"default {KERNEL}")
    parser.add_argument("--points", type=int, default=500, help=f"a multiple of {VARIANTS} (default 500)")
    parser.add_argument("--samples", type=int, default=20, help="of each point (default 20)")
    parser.add_argument("--timeout", type=float, default=500.0, help="seconds that a side may take (default 500)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/compare_kernel_tuner.json"))
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        SIDES[arguments.side](arguments.kernel, arguments.points, arguments.samples, arguments.output)
        return 0

    require("pycuda", "kernel_tuner")
    try:
        points = sweep_points(arguments.points)
    except ValueError as error:
        sys.exit(str(error))
    kernel = kernel_of(arguments.kernel)
    if kernel.plan != "block_partials" or kernel.shared_elements != "0":
        sys.exit(f"{arguments.kernel}: only kernels of one launch, without dynamic shared memory, are compared here")
    if reasons := {reason for point in points if (reason := kernel.unsupported(point))}:
        sys.exit(f"{arguments.kernel}: {', '.join(sorted(reasons))}")

    sides = {}
    with leased() as device:
        for side in SIDES:
            print(f"{side}: {arguments.points} points of {arguments.samples} samples ...", flush=True)
            sides[side] = run_side(side, arguments.kernel, arguments.points, arguments.samples, arguments.timeout)
            seconds = {key: round(sides[side][key], 3) for key in ("process_s", "sweep_s", "compile_s")}
            print(f"{side}: {seconds}", flush=True)
    lines = comparison(sides["here"], sides["kernel_tuner"])
    met = is_met(lines)
    print(f"\n{device.name}, driver {device.driver}: {arguments.kernel}, {len(points)} points\n")
    print(table(lines))
    print(f"\n{'Met' if met else 'MISSED'}: {RATE_GOAL:g} times the rate, {PROCESS_GOAL:g} times the whole process.")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    results = {"device": {"name": device.name, "driver": device.driver}, "kernel": arguments.kernel, "met": met}
    arguments.output.write_text(json.dumps({**results, "lines": lines, **sides}, indent=1) + "\n")
    print(f"Written to {arguments.output}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
