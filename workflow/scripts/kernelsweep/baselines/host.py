"""Baselines: an array's sum on the host's processor, for comparison with kernels in a study's table."""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.build import gcc
from kernelsweep.compilers import run_compiler
from kernelsweep.errors import BuildError
from kernelsweep.measure.environment import processor_name
from kernelsweep.measure.sampling import Sampling, sample
from kernelsweep.problems.problem import Instance
from kernelsweep.problems.problem_file import Problem
from kernelsweep.results import BASELINE_PREFIX, Row, is_imprecise, time_columns
from kernelsweep.sweep.point import Point

_OPTIONS = [
    "-std=c++17",
    # GCC vectorises at -O2 since release 12. The baselines add one element at a time with every compiler.
    "-O2",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-Wl,--build-id=none",
    "-fdiagnostics-color=never",
]

# NumPy adds blocks of up to this many elements in unrolled loops, and the blocks' sums in pairs.
_NUMPY_BLOCK = 128

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Baseline:
    """A sum on the host.

    depth          the longest chain of roundings of an element, by the number of elements
    compiled       whether it is a function of host_sums.cpp, rather than NumPy's
    updates_input  whether it writes to its input, which is then restored before every sample, untimed
    """

    depth: Callable[[int], int]
    compiled: bool = True
    updates_input: bool = False


# In the order of tables.
BASELINES: Mapping[str, Baseline] = {
    "scalar_loop": Baseline(depth=lambda count: count),
    "unrolled_loop": Baseline(depth=lambda count: count),
    "recursive_pairwise": Baseline(depth=lambda count: count.bit_length(), updates_input=True),
    "numpy": Baseline(depth=lambda count: _NUMPY_BLOCK + count.bit_length(), compiled=False),
}


def compile_sums(source: Path, library: Path) -> None:
    """Compile host_sums.cpp to a shared library with CXX or g++; the same source gives the same bytes.

    Raises BuildError if there is no compiler, or with the compiler's message if it refuses the source.
    """
    compiler = gcc.find()
    run = run_compiler([*compiler, *_OPTIONS, str(source), "-o", str(library)])
    if run.returncode != 0:
        raise BuildError(f"{compiler[0]} refused {source.name}: {run.stderr.strip()}")


def bind(name: str, array: Array, library: Path | None) -> Callable[[], Any]:
    """The baseline `name` as a function without arguments that sums the one-dimensional `array` in its own type.

    library  from compile_sums(); None for NumPy

    The call itself takes about a microsecond. Raises BuildError if the library can't be loaded.
    """
    if library is None:
        return partial(np.add.reduce, array, dtype=array.dtype)
    try:
        function = getattr(ctypes.CDLL(str(library)), f"{name}_{array.dtype.name}")
    except (OSError, AttributeError) as error:
        raise BuildError(f"the library of the host's sums can't be used: {error}") from error
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    function.restype = np.ctypeslib.as_ctypes_type(array.dtype)
    return partial(function, array.ctypes.data_as(ctypes.c_void_p), array.size)


def measure_baselines(
    names: Sequence[str],
    problem: Problem,
    reference: Mapping[str, Any],
    source: Path,
    seed: int,
    sampling: Sampling,
    known: Mapping[str, Any],
) -> list[Row]:
    """The baselines' rows of measurements.csv, one a name: each checked against the kernels' reference, then timed.

    names      of BASELINES
    problem    the study's, with an input `data` and an output `value`
    reference  the study's reference point, for array_size and dtype; its operation has to be sum
    source     host_sums.cpp
    sampling   when to stop sampling
    known      columns of every row: study, platform

    The input is the same as the kernels'. The cache state is hot, since samples follow each other. A baseline that
    can't be compiled or doesn't fit into memory is a row with that status.
    """
    point = Point({**reference, "block_size": 1, "unroll": 1, "operation": "sum", "cache": "hot"})
    instance = problem.instance("", point, seed)
    source_sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "sums.so"
        for name in names:
            row = {**known, **point, "kernel": f"{BASELINE_PREFIX}{name}", "device": processor_name()}
            try:
                if BASELINES[name].compiled:
                    row["source_sha256"] = source_sha256
                    if not library.exists():
                        compile_sums(source, library)
                    row["binary_sha256"] = hashlib.sha256(library.read_bytes()).hexdigest()
                row |= _measure(name, point, instance, library, sampling)
            except BuildError as error:
                row |= {"status": "build_failed", "message": " ".join(str(error).split())}
            except MemoryError as error:
                row |= {"status": "out_of_memory", "message": str(error)}
            rows.append(row)
    return rows


def _measure(name: str, point: Point, instance: Instance, library: Path, sampling: Sampling) -> Row:
    """Run a baseline, and return the row's further columns: its status and, if it is right, its times."""
    baseline = BASELINES[name]
    contents = instance.arrays(point)["data"].contents
    assert contents is not None, "an input has contents"
    data = np.resize(contents, point["array_size"])
    work = data.copy() if baseline.updates_input else data
    run = bind(name, work, library if baseline.compiled else None)

    result = np.array([run()], point["dtype"])
    judgement = instance.judge(point, {"value": result}, baseline.depth(point["array_size"]))
    error = judgement.relative_error
    row: Row = {"message": judgement.mistake, "relative_error": None if error is None else f"{error:.4g}"}
    if judgement.mistake:
        return row | {"status": "wrong_result"}

    def time_samples(count: int) -> tuple[list[float], bool]:
        times = []
        for _ in range(count):
            if baseline.updates_input:
                np.copyto(work, data)
            started = time.perf_counter_ns()
            run()
            times.append((time.perf_counter_ns() - started) / 1e3)
        return times, False

    return row | sampled_columns(time_samples, sampling, data.nbytes, None)


def sampled_columns(
    time_samples: Callable[[int], tuple[list[float], bool]],
    sampling: Sampling,
    size: int,
    peak_bandwidth_gbs: float | None,
) -> Row:
    """The columns of a point that moves `size` bytes and is visited once, with its status, times and flags.

    time_samples  as sampling.sample() takes it
    """
    sampled = sample(time_samples, sampling)
    times = time_columns([sampled.samples], {"bytes": size}, peak_bandwidth_gbs)
    flags = {
        "noisy": not sampled.settled,
        "throttled": not sampled.clean,
        "imprecise": is_imprecise(times, sampling.relative_precision),
    }
    return {"status": "ok", "flags": " ".join(flag for flag, holds in flags.items() if holds), **times}
