"""Measurements beside the kernels, without a GPU: which points they have, how CUB is called, and the limits."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from planted import point
from reductions import REDUCTION

from kernelsweep.baselines import libraries, library_calls
from kernelsweep.baselines.driver import driver_points, measure_driver
from kernelsweep.baselines.libraries import (
    IMPLEMENTATION,
    LIBRARIES,
    as_kernel,
    library_axes,
    library_report,
    planned_calls,
)
from kernelsweep.build.build_report import Report, read_report
from kernelsweep.errors import LaunchError
from kernelsweep.measure.point.runner import Runner
from kernelsweep.measure.rows import measurement_rows
from kernelsweep.measure.sampling import Sampling
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.project.project import load_config, load_study
from kernelsweep.sweep.config_file import read_yaml
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.settings import Rival

SAMPLING = Sampling(relative_precision=1.0, min_samples=6, max_samples=6, max_seconds=1.0)

# CUB in the place of which is a loop on the host: the same functions with the same parameters.
STAND_IN = """\
#include <cstddef>
#include <cstring>
static void *expected_storage;
extern "C" void expect(void *storage) { expected_storage = storage; }
extern "C" int cub_sum_int32(void *storage, std::size_t *bytes, const void *data, void *value, std::size_t count,
                             void *stream)
{
    if (storage == nullptr) {
        *bytes = 64;
        return 0;
    }
    if (*bytes != 64 || stream != (void *)7 || (expected_storage && storage != expected_storage))
        return 3;
    int sum = 0;
    for (std::size_t i = 0; i < count; ++i)
        sum += static_cast<const int *>(data)[i];
    std::memcpy(value, &sum, sizeof sum);
    std::memset(storage, 1, 64);
    return 0;
}
extern "C" int cub_sum_int64(void *, std::size_t *, const void *, void *, std::size_t, void *) { return 5; }
extern "C" const char *cub_error_text(int error) { return error == 5 ? "out of luck" : "called otherwise"; }
"""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cub")
    (folder / "cub.cpp").write_text(STAND_IN)
    subprocess.run(["g++", "-shared", "-fPIC", folder / "cub.cpp", "-o", folder / "cub.so"], check=True)
    return folder / "cub.so"


def on_gpu() -> list[dict[str, list[Any]]]:
    config = load_config(read_yaml(ROOT / "config/config.yaml", "config/config.yaml"), ROOT)
    return library_axes(config, load_study("bandwidth_bound", ROOT), "nvidia-h200")


def reducing(name: str) -> KernelSource:
    """A library's reduction, as a study calls it."""
    call = Rival(call=f"{name}<operation, dtype>", arguments=["data", "value", "array_size"])
    return as_kernel(name, REDUCTION, call)


def test_a_rival_meets_every_size_type_and_operation_of_the_kernels_once() -> None:
    # Pins: a point a block size or grid, which are the library's own affair; and sizes that its arithmetic can't count.
    planned = planned_calls(reducing("cub"), on_gpu(), [])
    points = [each.point for each in planned]
    assert len(set(points)) == len(points)
    assert not {"block_size", "unroll", "grid_size"} & {*points[0]}
    asked = {
        (axes["dtype"][0], size, cache) for axes in on_gpu() for size in axes["array_size"] for cache in axes["cache"]
    }
    assert asked <= {(point["dtype"], point["array_size"], point["cache"]) for point in points}
    assert not any(each.skipped for each in planned)
    assert ("cub<sum, int>", 2**32) in {(each.variant, each.point["array_size"]) for each in planned}


def test_what_is_missing_or_cannot_be_asked_of_a_library_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = {"torch": replace(LIBRARIES["torch"], package="no_such", install="a wish")}
    monkeypatch.setattr(libraries, "LIBRARIES", LIBRARIES | lacking)
    skipped = {each.skipped for each in planned_calls(reducing("torch"), on_gpu(), [])}
    assert skipped == {"no_such is not installed (a wish)"}
    few = {"cub": replace(LIBRARIES["cub"], operations=("sum", "minimum"))}
    monkeypatch.setattr(libraries, "LIBRARIES", LIBRARIES | few)
    sweep = {**on_gpu()[0], "operation": ["product"], "array_size": [2**20]}
    (planned,) = planned_calls(reducing("cub"), [sweep], [])
    assert planned.skipped == "operation product: CUB's DeviceReduce has sum, minimum"


def test_cub_gets_storage_of_the_size_it_asks_for_once(stand_in: Path) -> None:
    # Pins: storage that is asked for, or allocated, within the timed calls.
    allocated: list[np.ndarray] = []

    def allocate(size: int) -> int:
        allocated.append(np.zeros(size, np.uint8))
        return int(allocated[-1].ctypes.data)

    reduce = library_calls.Cub(stand_in, allocate).reduce
    stream = SimpleNamespace(handle=7)
    data, value = np.arange(1000, dtype=np.int32), np.zeros(1, np.int32)
    for count in (1000, 1000, 10, 1000):
        reduce("sum", "int32", data.ctypes.data, value.ctypes.data, count, stream)
        assert value[0] == data[:count].sum()
    assert [len(storage) for storage in allocated] == [64, 64]
    assert all(storage.all() for storage in allocated)
    with pytest.raises(LaunchError, match="CUB: out of luck"):
        reduce("sum", "int64", data.ctypes.data, value.ctypes.data, 1, stream)
    with pytest.raises(LaunchError, match="CUB: called otherwise"):
        reduce("sum", "int32", data.ctypes.data, value.ctypes.data, 1, SimpleNamespace(handle=8))


@pytest.fixture
def gpu_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """platforms.gpu and platforms.rival, without PyCUDA where that isn't there."""
    names = ("kernelsweep.platforms.gpu", "kernelsweep.baselines.library_platform")
    if importlib.util.find_spec("pycuda") is None:
        stand_in = ModuleType("pycuda")
        stand_in.driver = ModuleType("pycuda.driver")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pycuda", stand_in)
        monkeypatch.setitem(sys.modules, "pycuda.driver", stand_in.driver)
    gpu, rival = (importlib.import_module(name) for name in names)
    yield gpu, rival
    for name in names:
        del sys.modules[name]


class Addressed(np.ndarray):
    """Memory of the host that, like a device's, is passed by its address."""

    def __int__(self) -> int:
        return int(self.ctypes.data)


def matrix(address: int, shape: tuple[int, ...], order: str = "C") -> np.ndarray:
    """The matrix of float32 at an address of the host."""
    elements = (ctypes.c_float * int(np.prod(shape))).from_address(address)
    return np.ctypeslib.as_array(elements).reshape(shape, order=order)  # type: ignore[call-overload]


@contextlib.contextmanager
def current(stream: Any) -> Iterator[None]:
    assert stream == ("external", 7)
    yield


def stand_in_torch(precisions: list[str]) -> ModuleType:
    """As much of PyTorch as multiplies matrices, on the host."""

    def as_tensor(memory: Any, device: str) -> np.ndarray:
        described = memory.__cuda_array_interface__
        assert (described["typestr"], device) == ("<f4", "cuda")
        return matrix(described["data"][0], described["shape"])

    torch = ModuleType("torch")
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    vars(torch).update(
        as_tensor=as_tensor,
        mm=lambda left, right, out: np.matmul(left, right, out=out),
        set_float32_matmul_precision=precisions.append,
        cuda=SimpleNamespace(stream=current, ExternalStream=lambda handle: ("external", handle)),
    )
    return torch


def test_a_study_calls_cublas_with_its_own_arrays_and_its_problem_judges_the_result(
    gpu_modules: tuple[Any, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Pins: matrices in the other order, or a precision that stays as the point before left it.
    precisions: list[str] = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: getattr(sys.modules.get(name), "__spec__", None))
    monkeypatch.setitem(sys.modules, "torch", stand_in_torch(precisions))
    monkeypatch.chdir(ROOT)
    _, rival_platform = gpu_modules

    class OnHost(EmulatorPlatform):
        load, launch = rival_platform.LibraryPlatform.load, rival_platform.LibraryPlatform.launch
        _stream = SimpleNamespace(handle=7)

        def allocate(self, size: int) -> np.ndarray:
            return super().allocate(size).view(Addressed)

        def parameter_types(self, variant: str) -> list[str]:
            return []

        def occupancy(self, variant: str, threads: int, shared_bytes: int) -> None:
            return None

    study = load_study("matmul", ROOT)
    rival = as_kernel("cublas_matmul", study.problem, study.settings.rival_calls["cublas_matmul"])
    axes = {"m": [3], "n": [5], "k": [7], "cache": ["cold"], "precision": ["float32", "tf32"]}
    planned = planned_calls(rival, [axes], study.settings.restrictions, study.settings.tied)
    assert [each.skipped for each in planned] == [None, None]
    report = library_report(rival, None, {"status": "ok", "message": "", "target": None}, planned)
    task = BuiltKernel(rival, report, Path()).task(IMPLEMENTATION, Protocol(None))
    runner = Runner(OnHost(), task)
    outcomes = [runner.run(each.point, each.variant) for each in planned]
    assert [(one.status, one.message) for one in outcomes] == [("ok", "")] * 2
    by_point = {each.point: outcome for each, outcome in zip(planned, outcomes, strict=True)}
    rows = measurement_rows(rival, report, by_point, {"name": "host"}, {}, 0.005)
    assert [row["status"] for row in rows] == ["ok"] * 2
    assert list(dict.fromkeys(precisions)) == ["highest", "high"]
    entry = rival.launches.entry
    call = entry.launches[0].changed(arguments=[*"CAB", "m", "n", "n"])
    wrong = replace(task, launches={**task.launches, "entry": entry.changed(launches=[call]).values()})
    assert Runner(OnHost(), wrong).run(planned[0].point, planned[0].variant).status == "wrong_result"


def build_cub(source: Path, library: str) -> Report:
    """Run the script that compiles CUB; the build report, as the job that measures CUB reads it."""
    folder = source.parent
    job = {
        "input": {"source": str(source)},
        "output": {"library": f"{folder}/{library}.so", "report": f"{folder}/{library}.json"},
        "wildcards": {"target": "sm_90", "library": library},
        "params": {"options": LIBRARIES[library].options},
    }
    (folder / "job.json").write_text(json.dumps({**job, "log": f"{folder}/cub.log"}))
    command = [sys.executable, ROOT / "benchmarks/support/stand_in.py", "build/build_cub", folder / "job.json"]
    subprocess.run(command, check=True)
    return read_report(folder / f"{library}.json")


@pytest.mark.nvcc
def test_what_does_not_compile_costs_only_the_librarys_points(tmp_path: Path) -> None:
    (tmp_path / "cub.cu").write_text("nonsense")
    report = build_cub(tmp_path / "cub.cu", "cub")
    assert report["status"] == "build_failed" and "nvcc refused the source" in report["message"]


class Clocked(EmulatorPlatform):
    """The emulator with a clock that times the host. It counts cache flushes, and copies and fills in timed regions."""

    def __init__(self) -> None:
        super().__init__()
        self.flushes = 0
        self.timed_moves = 0
        self._timing = False

    def flush_cache(self) -> None:
        assert not self._timing
        self.flushes += 1

    def copy(self, target: np.ndarray, source: np.ndarray, size: int, offset: int = 0) -> None:
        self.timed_moves += self._timing
        super().copy(target, source, size, offset)

    def fill(self, memory: np.ndarray, size: int, word: int) -> None:
        self.timed_moves += self._timing
        super().fill(memory, size, word)

    def time(self, sample: Callable[..., None], count: int) -> list[float]:
        times: list[float] = []

        def start() -> None:
            self._timing = True
            times.append(time.perf_counter())

        def stop() -> None:
            times[-1] = 1e6 * (time.perf_counter() - times[-1])
            self._timing = False

        for _ in range(count):
            sample(start, stop)
        return times


KNOWN = {"study": "bandwidth_bound", "platform": "a-gpu", "device": "a GPU"}


def test_limits_are_measured_at_every_size_and_cache_state() -> None:
    sweeps = [
        {**axes, "array_size": [2**16, 2**18], "cache": ["cold", "hot"], "operation": operations}
        for axes, operations in [(on_gpu()[0], ["sum"]), (on_gpu()[0], ["product", "maximum"])]
    ]
    planned = driver_points(REDUCTION, sweeps, {"dtype": "int32", "operation": "sum"})
    assert [(point["array_size"], point["cache"]) for point in planned] == [
        (2**16, "cold"),
        (2**18, "cold"),
        (2**16, "hot"),
        (2**18, "hot"),
    ]
    platform = Clocked()
    rows = measure_driver(platform, ["copy", "fill"], REDUCTION, planned, SAMPLING, 4000.0, KNOWN)
    assert [row["kernel"] for row in rows] == ["limit_copy"] * 4 + ["limit_fill"] * 4
    assert all(row["status"] == "ok" and row["samples"] == 6 for row in rows)
    assert platform.timed_moves == 6 * len(rows)
    assert platform.flushes == 6 * len(rows) / 2
    for row in rows:  # As many bytes as a reduction reads: half of them read and half written, or all written.
        moved = row["array_size"] * 4
        assert float(row["bandwidth_gbs"]) == pytest.approx(moved / float(row["time_us"]) / 1e3, rel=1e-2)


def test_a_copy_or_fill_that_does_nothing_has_no_time() -> None:
    class Idle(Clocked):
        def copy(self, target: np.ndarray, source: np.ndarray, size: int, offset: int = 0) -> None: ...

        def fill(self, memory: np.ndarray, size: int, word: int) -> None: ...

    rows = measure_driver(Idle(), ["copy", "fill"], REDUCTION, [point(2**16, 1)], SAMPLING, None, KNOWN)
    assert [row["status"] for row in rows] == ["wrong_result"] * 2
    assert not any("time_us" in row for row in rows)
