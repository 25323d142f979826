"""Measurements beside the kernels, without a GPU: which points they have, how CUB is called, and the limits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from planted import point
from reductions import REDUCTION

from kernelsweep.base.json_files import read_json
from kernelsweep.compile.binaries import Report
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.device.sampling import Sampling
from kernelsweep.errors import UserError
from kernelsweep.project.project import load_config, load_study
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.settings import Rival, read_yaml
from kernelsweep.study.study import Study
from kernelsweep.sweep.baselines import libraries
from kernelsweep.sweep.baselines.driver import driver_points, measure_driver
from kernelsweep.sweep.baselines.libraries import LIBRARIES, as_kernel, library_axes, planned_calls

SAMPLING = Sampling(relative_precision=1.0, min_samples=6, max_samples=6, max_seconds=1.0)


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
    few = {"cub": replace(LIBRARIES["cub"], words={"operation": ("sum", "minimum"), "dtype": ()})}
    monkeypatch.setattr(libraries, "LIBRARIES", LIBRARIES | few)
    sweep = {**on_gpu()[0], "operation": ["product"], "array_size": [2**20]}
    (planned,) = planned_calls(reducing("cub"), [sweep], [])
    assert planned.skipped == "operation product: CUB's DeviceReduce has sum, minimum"


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("torch<operation, float16x>", "'float16x' is no dtype. Allowed: int32, "),
        ("cub<mean, dtype>", "'mean' is no operation. Allowed: sum, product, minimum, maximum, and expressions over"),
        ("cub<operation>", "It needs: cub<operation, dtype> with data, value, array_size."),
    ],
)
def test_a_call_that_a_library_does_not_have_ends_a_start(tmp_path: Path, call: str, wrong: str) -> None:
    # Pins: 'float32' in brackets, which ended in "can't be computed" on a GPU, after everything was built.
    study = load_study("bandwidth_bound", ROOT)

    def calling(words: str) -> Study:
        rivals = [Rival(call=words, arguments=["data", "value", "array_size"])]
        return replace(study, settings=study.settings.changed(rivals=rivals))

    libraries.check_baselines(calling("cub<sum, float32>"))
    with pytest.raises(UserError, match=re.escape(wrong)):
        libraries.check_baselines(calling(call))
    called = as_kernel("cub", REDUCTION, calling("cub<sum, float32>").settings.rivals[0])
    (planned,) = planned_calls(called, [{"array_size": [64], "cache": ["hot"]}], [])
    report = libraries.library_report(called, Path(__file__), {"target": "sm_90", "status": "ok"}, [planned])
    assert [one["words"] for one in report["variants"].values()] == [["sum", "float32"]]


def build_cub(source: Path, library: str) -> Report:
    """Run the script that compiles CUB; the build report, as the job that measures CUB reads it."""
    folder = source.parent
    job = {
        "input": {"source": str(source)},
        "output": {"library": f"{folder}/{library}.so", "report": f"{folder}/{library}.json"},
        "wildcards": {"target": "sm_90", "library": library},
        "params": {"plan": {"options": LIBRARIES[library].options}},
    }
    (folder / "job.json").write_text(json.dumps({**job, "log": f"{folder}/cub.log"}))
    command = [sys.executable, ROOT / "benchmarks/support/stand_in.py", "compile/build_cub", folder / "job.json"]
    subprocess.run(command, check=True, cwd=folder)
    return read_json(folder / f"{library}.json")


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
