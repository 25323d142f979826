"""Agreement with NVBench: the same cubins, launches and input, with a cold L2, timed here and by NVBench.

    uv run --extra gpu --extra compare python benchmarks/compare_nvbench.py --rounds 4

Each kernel is built once. In every round its points are timed by NVBench, then by the library. NVBench (its Python
package cuda-bench) runs in a process of its own, which launches the kernels through the CUDA driver from the same file,
checks them by the same reference, and takes each sample at the next of several places of the memory, as the library
does. Kernels that update their input have it restored before NVBench's timer starts. A point's time is the median of
all rounds' samples on each side.

Ends with the exit status 1 where a point misses the goal: a difference within 1% for times of 20 us and more, within 3%
from 5 us. Shorter times are shown, and not judged.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from support.own_sweep import binary_of, build_variants, kernel_of, leased, point, require, sweep

from kernelsweep.device.gpus import Gpu
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem import Array

# One launch, in place and not, and a plan of two launches.
KERNELS: tuple[tuple[str, dict[str, int]], ...] = (
    ("unrolling/interleaved", {}),
    ("unrolling/unrolled_warps", {"unroll": 8}),
    ("warp_shuffle/shuffle", {"unroll": 4}),
    ("stepwise/cascaded", {"grid_size": 264}),
)
ARRAY_SIZES = [2**n for n in (16, 18, 20, 22, 24, 26)]
BLOCK_SIZE = 256

# The goals, longest times first: a least time in microseconds, and the largest relative difference from NVBench there.
GOALS = ((20.0, 0.01), (5.0, 0.03))

# As in kernelsweep.device.point.memory: the time of a short kernel depends on the place of its buffers, so samples use
# several places in turn, if all of them fit into this many bytes.
MOST_PLACES = 8
PLACED_BYTES = 2**29
PAGE = 2**21
# What arrays without contents hold before the checked run: the smallest int32.
POISON = 0x80000000

WARMUP_RUNS = 5  # NVBench's own default is one; the clock needs a few to leave its idle state.
NVBENCH_TIMEOUT_SECONDS = 60  # for one point
JOB_TIMEOUT_SECONDS = 400  # for one round of all points

MOST_SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
BENCHMARK = "points"
AXIS = "point"


def label(name: str, point: Point) -> str:
    """A point as the table names it."""
    grid = f", grid {point['grid_size']}" if "grid_size" in point else ""
    return f"{name} x{point['unroll']}{grid}, 2^{np.log2(point['array_size']):.4g}"


def nvbench_point(
    name: str, kernel: KernelSource, point: Point, report: dict[str, Any], binary: Path
) -> dict[str, Any]:
    """A point's description for the NVBench process, made of JSON's types."""
    functions = {launch.function for launch in kernel.plan(point).launches}
    return {
        "label": label(name, point),
        "kernel": name,
        "point": dict(point),
        "binary": str(binary),
        "symbols": {function: report["variants"][function]["symbol"] for function in functions},
    }


# ---- NVBench's side, in a process of its own -------------------------------------------------------------------------


class Driver:
    """The CUDA driver's calls, in the context that NVBench has made."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call the function of that name. Raises RuntimeError if the driver returns an error."""
        # Each argument takes a whole register or place on the stack, also where the parameter is a narrower number.
        status = getattr(self._library, name)(*[ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments])
        if status != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: CUDA error {status}, {(text.value or b'unknown').decode()}")

    def make_context_current(self, device: int) -> None:
        """Take the primary context, which the CUDA runtime that NVBench is built on uses, where none is current."""
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuCtxGetCurrent", ctypes.byref(context))
        if not context.value:
            self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self("cuCtxSetCurrent", context)

    def allocate(self, size: int) -> int:
        """Memory on pages of its own."""
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), on_pages(size))
        return address.value

    def function(self, binary: str, symbol: str) -> Any:
        """A kernel of a cubin."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoad", ctypes.byref(module), binary.encode())
        self("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        return function


def on_pages(size: int) -> int:
    """The bytes of the pages that so many bytes take."""
    return -(-size // PAGE) * PAGE


class PointUnderNVBench:
    """One point's arrays at several places of the memory, and its launches on them.

    updated  the arrays that are restored before every run
    """

    def __init__(self, driver: Driver, job: dict[str, Any], seed: int) -> None:
        kernel, self.point = kernel_of(job["kernel"]), Point(job["point"])
        plan = kernel.plan(self.point)
        self._driver, self._instance = driver, kernel.problem.instance(kernel.name, self.point, seed)
        every = {**self._instance.arrays(), **plan.arrays}
        named = {argument for launch in plan.launches for argument in launch.arguments}
        self._arrays = {name: array for name, array in every.items() if name in named}
        self._bytes = {name: array.size * array.dtype.itemsize for name, array in self._arrays.items()}
        self._results = plan.results or {name: array.size for name, array in every.items() if array.is_result}
        self.updated = [name for name, array in self._arrays.items() if array.updated or name in plan.updates]
        self._sources = {
            name: self._uploaded(array) for name, array in self._arrays.items() if array.contents is not None
        }
        count = max(1, min(MOST_PLACES, PLACED_BYTES // sum(map(on_pages, self._bytes.values()))))
        self._places = [{name: driver.allocate(size) for name, size in self._bytes.items()} for _ in range(count)]
        functions = {name: driver.function(job["binary"], symbol) for name, symbol in job["symbols"].items()}
        for launch in plan.launches:
            driver("cuFuncSetAttribute", functions[launch.function], MOST_SHARED_BYTES, launch.shared_bytes)
        self._launches = [
            [(functions[launch.function], launch, *packed(launch, place)) for launch in plan.launches]
            for place in self._places
        ]
        self._next = itertools.cycle(range(count))

    def _uploaded(self, array: Array) -> int:
        assert array.contents is not None
        contents = np.resize(array.contents, array.size)
        address = self._driver.allocate(contents.nbytes)
        self._driver("cuMemcpyHtoD_v2", address, contents.ctypes.data, contents.nbytes)
        return address

    def restore(self, names: Iterable[str], place: int, stream: int) -> None:
        """Queue the copying of these arrays' contents."""
        for name in names:
            target, source = self._places[place][name], self._sources[name]
            self._driver("cuMemcpyDtoDAsync_v2", target, source, self._bytes[name], stream)

    def launch(self, place: int, stream: int) -> None:
        """Queue the plan's launches."""
        for function, launch, addresses, _ in self._launches[place]:
            sizes = *launch.grid, *launch.block, launch.shared_bytes
            self._driver("cuLaunchKernel", function, *sizes, stream, addresses, None)

    def check(self, stream: int) -> None:
        """Put the contents in every place and run the plan there once. Raises RuntimeError for a wrong result."""
        for number, place in enumerate(self._places):
            self.restore(self._sources, number, stream)
            for name in self._arrays.keys() - self._sources.keys():
                self._driver("cuMemsetD32Async", place[name], POISON, self._bytes[name] // 4, stream)
            self.launch(number, stream)
            self._driver("cuStreamSynchronize", stream)
            results = {name: np.empty(count, self._arrays[name].dtype) for name, count in self._results.items()}
            for name, elements in results.items():
                self._driver("cuMemcpyDtoH_v2", elements.ctypes.data, place[name], elements.nbytes)
            mistake = self._instance.judge(results, 0).mistake
            if mistake:
                raise RuntimeError(f"wrong result: {mistake}")

    def launcher(self) -> Callable[..., None]:
        """The function that NVBench calls for each sample; it takes a timer if arrays must be restored untimed."""

        def plain(launch: Any) -> None:
            self.launch(next(self._next), launch.get_stream().addressof())

        def restoring(launch: Any, timer: Any) -> None:
            place, stream = next(self._next), launch.get_stream().addressof()
            self.restore(self.updated, place, stream)
            timer.start()
            self.launch(place, stream)
            timer.stop()

        return restoring if self.updated else plain

    def free(self) -> None:
        """Give the memory back."""
        for address in (address for arrays in (self._sources, *self._places) for address in arrays.values()):
            self._driver("cuMemFree_v2", address)


def packed(launch: Launch, place: Mapping[str, int]) -> tuple[ctypes.Array[ctypes.c_void_p], list[ctypes.c_uint64]]:
    """The addresses of a launch's arguments, and the values there, which have to be kept alive."""
    values = [ctypes.c_uint64(place[a] if isinstance(a, str) else int(a)) for a in launch.arguments]
    return (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values)), values


def run_nvbench(job_file: Path) -> None:
    """The NVBench process: measure the job's points, and leave NVBench's JSON where the job says."""
    from cuda import bench

    job = json.loads(job_file.read_text(encoding="utf-8"))
    points = job["points"]
    driver = Driver()

    def measure_point(state: Any) -> None:
        one = points[state.get_int64(AXIS)]
        print(f"NVBench: {one['label']}", flush=True)
        driver.make_context_current(state.get_device() or 0)
        prepared = PointUnderNVBench(driver, one, job["seed"])
        prepared.check(state.get_stream().addressof())
        state.exec(prepared.launcher(), batched=False, timer=bool(prepared.updated))
        prepared.free()

    benchmark = bench.register(measure_point)
    benchmark.set_name(BENCHMARK)
    benchmark.add_int64_axis(AXIS, list(range(len(points))))
    benchmark.set_cold_warmup_runs(WARMUP_RUNS)
    samples = str(job["samples"])
    bench.run_all_benchmarks(
        [
            *["compare_nvbench", "--devices", "0", "--jsonbin", job["output"]],
            *["--stopping-criterion", "sample-count", "--target-samples", samples, "--min-samples", samples],
            *["--timeout", str(NVBENCH_TIMEOUT_SECONDS)],
        ]
    )


def nvbench_samples(output: Path, count: int) -> list[list[float]]:
    """The samples in microseconds of each point that an NVBench process measured, from its JSON.

    Raises ValueError for a point that is missing, was skipped, or has no samples.
    """
    from cuda.bench.results import BenchmarkResult

    states = BenchmarkResult.from_json(str(output))[BENCHMARK].states
    number_of = {int(axis["value"]): state for state in states for axis in state.axis_values if axis["name"] == AXIS}
    for number in range(count):
        if number not in number_of or number_of[number].is_skipped or not number_of[number].samples:
            raise ValueError(f"NVBench has no samples of point {number}")
    return [[1e6 * seconds for seconds in number_of[number].samples] for number in range(count)]


# ---- the comparison --------------------------------------------------------------------------------------------------


def nvbench_round(points: Sequence[dict[str, Any]], samples: int, seed: int, folder: Path) -> list[list[float]]:
    """One NVBench process over the points, in an order of its own; their samples in the order given."""
    order = random.Random(seed).sample(range(len(points)), len(points))
    job_file, output, log = (folder / f"nvbench.{seed}.{suffix}" for suffix in ("job.json", "json", "log"))
    job = {"points": [points[i] for i in order], "samples": samples, "seed": seed, "output": str(output)}
    job_file.write_text(json.dumps(job))
    # CUDA counts devices as NVML does, so that "the first" is the one that the library's side took.
    environment = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    command = [sys.executable, __file__, "--nvbench-job", str(job_file)]
    with log.open("w") as file:
        code = subprocess.run(
            command, env=environment, stdout=file, stderr=subprocess.STDOUT, timeout=JOB_TIMEOUT_SECONDS
        ).returncode
    if code != 0 or not output.is_file():
        sys.exit(f"{log.read_text()}\nThe NVBench process ended with {code}; what it said is above.")
    ordered = nvbench_samples(output, len(points))
    return [ordered[order.index(i)] for i in range(len(points))]


def measured_by_both(
    planned: Sequence[tuple[str, Point]], device: Gpu, samples: int, rounds: int, folder: Path
) -> list[dict[str, Any]]:
    """The rows of the table.

    planned  kernels' names, each with a point
    samples  of a point, each round and side
    """
    kernels = {name: kernel_of(name) for name, _ in planned}
    numbers = {name: [i for i, (other, _) in enumerate(planned) if other == name] for name in kernels}
    points = {name: [planned[i][1] for i in numbers[name]] for name in kernels}
    reports = {name: build_variants(kernels[name], points[name], folder / name, device.arch) for name in kernels}
    jobs = [
        nvbench_point(name, kernels[name], point, reports[name], binary_of(kernels[name], folder / name))
        for name, point in planned
    ]
    ours: list[list[list[float]]] = [[] for _ in planned]
    theirs: list[list[list[float]]] = [[] for _ in planned]
    described = {"name": device.name, "driver": device.state["driver"]}
    for seed in range(1, rounds + 1):
        print(f"round {seed} of {rounds}", flush=True)
        for i, found in enumerate(nvbench_round(jobs, samples, seed, folder)):
            theirs[i].append(found)
        for name, kernel in kernels.items():
            done = sweep(kernel, points[name], reports[name], folder / name, samples, seed, described)
            for i in numbers[name]:
                ours[i].append(done[planned[i][1]].samples)
    return [compared(label(name, point), ours[i], theirs[i]) for i, (name, point) in enumerate(planned)]


def compared(name: str, ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A row of the table: a point's times in microseconds on both sides, from the samples of every round.

    A spread is the largest less the smallest of the rounds' medians, divided by the median of all.
    """

    def median(rounds: Sequence[Sequence[float]]) -> float:
        return float(np.median(np.concatenate([np.asarray(one) for one in rounds])))

    def spread(rounds: Sequence[Sequence[float]]) -> float:
        medians = [float(np.median(one)) for one in rounds]
        return (max(medians) - min(medians)) / median(rounds)

    difference = median(ours) / median(theirs) - 1
    allowed = next((fraction for least, fraction in GOALS if median(theirs) >= least), None)
    return {
        "point": name,
        "ours_us": median(ours),
        "nvbench_us": median(theirs),
        "difference": difference,
        "within": None if allowed is None else abs(difference) <= allowed,
        "ours_spread": spread(ours),
        "nvbench_spread": spread(theirs),
    }


def verdict(rows: Sequence[dict[str, Any]]) -> tuple[str, bool]:
    """The comparison in a sentence, and whether the goal is met: every judged point is within it, and there is one."""
    judged = [row["within"] for row in rows if row["within"] is not None]
    goals = ", ".join(f"{fraction:.0%} from {least:g} us" for least, fraction in GOALS)
    return f"{sum(judged)} of {len(judged)} judged points agree within the goal ({goals}).", bool(judged) and all(
        judged
    )


def main() -> int:
    """Compare, print the table, write the results; 0 where the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300, help="of a point, each round and side (default 300)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side is run, in turns (default 3)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/compare_nvbench.json"))
    parser.add_argument("--nvbench-job", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.nvbench_job:
        run_nvbench(arguments.nvbench_job)
        return 0

    require("pycuda", "cuda.bench", "cuda.bindings")
    planned = [(name, point(size, BLOCK_SIZE, **values)) for name, values in KERNELS for size in ARRAY_SIZES]
    with leased() as device, tempfile.TemporaryDirectory() as scratch:
        rows = measured_by_both(planned, device, arguments.samples, arguments.rounds, Path(scratch))

    sentence, met = verdict(rows)
    print(f"\n{device.name}, driver {device.state['driver']}, block size {BLOCK_SIZE}, int32 sums, cold L2\n")
    print(f"{pandas.DataFrame(rows).to_markdown(index=False, floatfmt='.4g')}\n\n{sentence}")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    described = {"name": device.name, "driver": device.state["driver"]}
    arguments.output.write_text(json.dumps({"device": described, "verdict": sentence, "points": rows}, indent=1) + "\n")
    print(f"Written to {arguments.output}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
