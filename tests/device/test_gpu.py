"""On a GPU: every kernel around its block boundaries and at the largest arrays, and faults that cost one point each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from planted import DEVICE, QUICK, built, measured, planted_kernel, point, replaying, run
from reductions import DTYPES, EXCHANGE, OPERATIONS, REDUCTION
from shipped_builds import typed_unrolls
from shipped_kernels import shipped_studies, shipped_study

from kernelsweep.compile import nvcc
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.statistics import summarise
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation, skip_reason
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.settings import Rival
from kernelsweep.sweep.baselines.libraries import (
    COMPILED,
    IMPLEMENTATION,
    LIBRARIES,
    as_kernel,
    library_report,
    planned_calls,
    why_missing,
)
from kernelsweep.sweep.rows import measurement_rows

pytestmark = pytest.mark.gpu

STUDIES = [
    study for study in shipped_studies() if "array_size" in study.problem.axes and "unroll" in study.problem.axes
]
KERNELS = list({kernel.path: kernel for study in STUDIES for kernel in study.kernels.values()}.values())
NAMES = [f"{kernel.path.parent.name}/{kernel.name}" for kernel in KERNELS]
EXCHANGES = {kernel.name: kernel for kernel in shipped_study("exchanges").settings.kernels}
OVERFLOW = "if (array_size == 64 && data[0] >= 0) *(volatile int *)nullptr = 1;"


def free_bytes() -> int:
    import pynvml

    pynvml.nvmlInit()
    return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).free)


def of_kernel(kernel: KernelSource, array_size: int, block_size: int, **others: Any) -> Point:
    """A point with the other settings that the kernel needs."""
    if kernel.problem is EXCHANGE:
        # The last arguments that the study lists lead from one half of a warp to the other.
        arguments = EXCHANGES[kernel.name].axes["arguments"][-1]
        others = {"operation": "exchange", "width": 32, "arguments": arguments, **others}
    elif kernel.chooses_grid:
        others = {"grid_size": 264, **others}
    return point(array_size, block_size, **{"unroll": unrolls_of(kernel)[-1], **others})


def unrolls_of(kernel: KernelSource) -> list[int]:
    """The unroll factors that a kernel can have."""
    if kernel.problem is EXCHANGE:
        return [4] if kernel.name.startswith("butterfly_") else [1]
    return typed_unrolls(kernel)[1]


def assert_all_right(kernel: KernelSource, points: list[Point], arch: str, folder: Path) -> None:
    if kernel.entry.undefined_behaviour:
        pytest.skip(f"nothing says what is right: {kernel.entry.undefined_behaviour}")
    if reason := kernel.unsupported_on(arch):
        pytest.skip(reason)
    supported = [one for one in dict.fromkeys(points) if not skip_reason(one, kernel, kernel.entry.restrictions, arch)]
    assert supported
    outcomes = run(kernel, supported, folder, arch)
    wrong = {one: (outcome.status, outcome.message) for one, outcome in outcomes.items() if outcome.status != "ok"}
    assert not wrong


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_every_kernel_is_right_around_its_block_boundaries_and_of_every_type_and_operation(
    kernel: KernelSource, arch: str, tmp_path: Path
) -> None:
    points = [
        of_kernel(kernel, size, 256, dtype=dtype, operation=operation, cache="cold")
        for dtype in DTYPES
        for operation in (["exchange"] if kernel.problem is EXCHANGE else OPERATIONS)
        for size in (7, 100_003)
    ]
    for block_size in (32, 64, 96, 256, 320, 1024):
        for unroll in (unrolls_of(kernel)[0], unrolls_of(kernel)[-1]):
            for grid_size in (1, 3, 5000) if kernel.chooses_grid else (None,):
                span = block_size * unroll * (grid_size or 1)
                for size in (1, span - 1, span, span + 1, 3 * span + block_size // 2, 1000 * block_size - 1):
                    points.append(of_kernel(kernel, size, block_size, unroll=unroll, grid_size=grid_size))
    assert_all_right(kernel, points, arch, tmp_path)


# The study of exchanges ends at 1,000 elements, and its right results are computed on the host.
@pytest.mark.parametrize(
    "kernel",
    [one for one in KERNELS if one.problem is not EXCHANGE],
    ids=lambda one: f"{one.path.parent.name}/{one.name}",
)
def test_arrays_of_more_than_32_bits_are_right(kernel: KernelSource, arch: str, tmp_path: Path) -> None:
    needed = 40e9
    if free_bytes() < needed:
        pytest.skip(f"needs {needed / 1e9:.0f} GB of device memory, {free_bytes() / 1e9:.0f} GB are free")
    # Sizes at which 32-bit indices or byte offsets would wrap around; the smallest blocks give the largest grid.
    block_size = next(
        size
        for size in (32, 64, 256)
        if not skip_reason(of_kernel(kernel, 1, size), kernel, kernel.entry.restrictions, arch)
    )
    sizes = [2**31 + 1, 2**32 - 1, 2**32]
    points = [of_kernel(kernel, size, block_size, unroll=unrolls_of(kernel)[0]) for size in sizes]
    assert_all_right(kernel, points, arch, tmp_path)


def test_a_crash_of_the_context_costs_one_point(arch: str, tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, OVERFLOW)
    outcomes = run(kernel, [point(size) for size in (32, 64, 96, 128)], tmp_path, arch)
    assert [o.status for o in outcomes.values()] == ["ok", "launch_failed", "ok", "ok"]
    assert "illegal" in outcomes[point(64)].message
    assert not outcomes[point(64)].samples


def test_an_array_larger_than_the_memory_is_a_row(arch: str, tmp_path: Path) -> None:
    # The input and its working copy come to 2 TB: more than any GPU has.
    kernel = planted_kernel(tmp_path, updates_input=True)
    outcomes = run(kernel, [point(2**37, 1024, dtype="int64"), point(1000)], tmp_path, arch)
    assert [o.status for o in outcomes.values()] == ["out_of_memory", "ok"]
    assert "GB" in outcomes[point(2**37, 1024, dtype="int64")].message


def test_a_cold_sample_reads_from_memory_and_a_hot_one_from_the_cache(arch: str, tmp_path: Path) -> None:
    # 16 MiB fit into the L2 of every GPU on which the difference can be asked for.
    kernel = shipped_study("warp_shuffle").kernels["shuffle"]
    points = [point(2**22, 256, unroll=4, cache=cache) for cache in ("cold", "hot")]
    outcomes = run(kernel, points, tmp_path, arch)
    cold, hot = (summarise(outcomes[p].samples) for p in points)
    # Medians: another test's process on the same GPU makes some samples slow.
    assert hot.median < cold.median


def test_launch_latency_stays_outside_the_events(arch: str, tmp_path: Path) -> None:
    # A launch costs the host some microseconds; the shortest kernel takes fewer between events on a filled queue.
    kernel = shipped_study("warp_shuffle").kernels["shuffle"]
    outcome = run(kernel, [point(32, 32)], tmp_path, arch)[point(32, 32)]
    assert 0.5 < float(np.median(outcome.samples)) < 6


def test_another_process_on_the_gpu_is_flagged_and_our_own_are_not(arch: str, tmp_path: Path) -> None:
    kernel = shipped_study("warp_shuffle").kernels["shuffle"]
    one = point(2**20, 256, unroll=4)
    # Three visits: the resting workers of the ones before are ours.
    alone = run(kernel, [one], tmp_path, arch, visits=3)[one]
    assert [visit.other_processes for visit in alone.visits] == [False] * 3
    holds_a_context = "import pycuda.autoinit, sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holds_a_context], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        (tmp_path / "journal.jsonl").unlink()
        watched = run(kernel, [one], tmp_path, arch)[one]
        other.stdin.close()
    assert watched.visits[0].other_processes
    assert (
        "other_processes" in measurement_rows(kernel, {"variants": {}}, {one: watched}, DEVICE, {}, 0.005)[0]["flags"]
    )


def test_the_gpus_conditions_are_in_the_row(arch: str, tmp_path: Path) -> None:
    kernel = shipped_study("warp_shuffle").kernels["shuffle"]
    cold, hot = (point(2**26, 256, unroll=4, cache=cache) for cache in ("cold", "hot"))
    task, report = built(kernel, [cold, hot], tmp_path, arch)
    task = replace(task, protocol=replace(task.protocol, sampling=QUICK))
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in (cold, hot)]
    outcomes = measured(task, planned, report, tmp_path / "journal.jsonl")
    # No time is implausible beside this peak.
    device = {**DEVICE, "peak_bandwidth_gbs": 1e5}
    for row in measurement_rows(kernel, report, outcomes, device, {}, 0.005):
        assert row["status"] == "ok", row["message"]
        assert 100 < row["clock_mhz"] < 5000 and 10 < row["temperature_c"] < 110 and 20 < float(row["power_w"]) < 900


@pytest.mark.parametrize("name", [name for name, library in LIBRARIES.items() if "operation" in library.words])
def test_a_library_that_is_installed_is_right_and_timed(name: str, arch: str, tmp_path: Path) -> None:
    if reason := why_missing(name):
        pytest.skip(reason)
    library = compiled(name, arch, tmp_path)
    axes = {
        "array_size": [1, 100_003, 2**22],
        "dtype": ["int32", "int64", "float32", "float64"],
        "operation": ["sum", "product", "minimum", "maximum"],
        "cache": ["cold"],
    }
    call = Rival(call=f"{name}<operation, dtype>", arguments=["data", "value", "array_size"])
    rival = as_kernel(name, REDUCTION, call)
    outcomes = called(rival, planned_calls(rival, [axes], []), library, tmp_path)
    run_points = [one for one in outcomes if outcomes[one].status != "skipped"]
    wrong = {one: outcomes[one].message for one in run_points if outcomes[one].status != "ok"}
    assert run_points and not wrong
    assert all(outcomes[one].samples for one in run_points)


@pytest.mark.parametrize(("study", "name"), [("matmul", "cublas_matmul"), ("histogram", "cub_histogram")])
def test_a_library_that_a_study_calls_is_right_and_timed(study: str, name: str, arch: str, tmp_path: Path) -> None:
    if reason := why_missing(name):
        pytest.skip(reason)
    loaded = shipped_study(study)
    call = loaded.settings.rival_calls[name]
    rival = as_kernel(name, loaded.problem, call)
    small = {"matmul": {"m": [33, 512], "n": [70, 512], "k": [50, 512]}, "histogram": {"array_size": [1, 2**20 + 5]}}
    axes = {"cache": ["cold"], **loaded.settings.axes, **call.axes, **small[study]}
    of_call = {
        axis: values for axis, values in axes.items() if axis in {*loaded.problem.size_axes, "cache", "precision"}
    }
    planned = planned_calls(rival, [of_call], [], loaded.settings.tied)
    outcomes = called(rival, planned, compiled(name, arch, tmp_path), tmp_path)
    assert outcomes and {(one.status, one.message) for one in outcomes.values()} == {("ok", "")}
    assert all(one.samples for one in outcomes.values())


def compiled(name: str, arch: str, folder: Path) -> Path | None:
    """The compiled library of a rival that needs one."""
    if name not in COMPILED:
        return None
    library = folder / f"{name}.so"
    source = ROOT / "workflow/scripts/kernelsweep/sweep/baselines/cub.cu"
    nvcc.compile_library(source, library, arch, LIBRARIES[name].options)
    return library


def called(
    rival: KernelSource, planned: Sequence[PlannedPoint], library: Path | None, folder: Path
) -> Mapping[Point, Outcome]:
    """The outcomes of a rival's points."""
    report = library_report(rival, library, {"status": "ok", "message": "", "target": None}, planned)
    protocol = Protocol(QUICK, visits=2, repeated_runs=2, timeout_seconds=120, seed=1)
    task = BuiltKernel(rival, report, library or Path()).task(IMPLEMENTATION, protocol)
    return measured(task, planned, report, folder / "journal.jsonl")


@pytest.mark.parametrize("by", ["content", "counter"])
def test_a_kernel_that_replays_known_results_is_timed_as_if_it_knew_none(by: str, tmp_path: Path, arch: str) -> None:
    at = point(2**18, 1024)
    tried = []  # Beside other tests on the same GPU, one of the two may take twice as long.
    while not tried or (len(tried) < 3 and not tried[-1][1] > 0.8 * tried[-1][0] > 4):
        shortest = []
        for name, fault in (("honest", ""), ("replaying", replaying(by))):
            (tmp_path / f"{name}_{len(tried)}").mkdir()
            kernel = planted_kernel(tmp_path / f"{name}_{len(tried)}", fault)
            outcome = run(kernel, [at], tmp_path / f"{name}_{len(tried)}", arch, second_input=True)[at]
            assert outcome.status == "ok" and outcome.leaves_state == bool(fault), outcome.message
            shortest.append(min(outcome.samples))
        tried.append(shortest)
    assert tried[-1][1] > 0.8 * tried[-1][0] > 4, tried
