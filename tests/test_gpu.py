"""On a GPU: every kernel around its block boundaries and at the largest arrays, and faults that cost one point each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted import ROOT, planted_kernel, point, run

from kernelsweep.configuration import load_study, study_names
from kernelsweep.statistics import summarise

pytestmark = pytest.mark.gpu

KERNELS = [(study, kernel) for study in study_names(ROOT) for kernel in load_study(study, ROOT).kernels]
OVERFLOW = "if (array_size == 64 && data[0] >= 0) *(volatile int *)nullptr = 1;"


@pytest.fixture(scope="module")
def arch() -> str:
    from kernelsweep.platforms.detect import visible_gpu

    gpu = visible_gpu()
    assert gpu is not None
    return gpu.arch


def free_bytes() -> int:
    import pynvml

    pynvml.nvmlInit()
    return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).free)


@pytest.mark.parametrize(("study", "name"), KERNELS)
def test_every_kernel_is_right_around_its_block_boundaries(study: str, name: str, arch: str, tmp_path: Path) -> None:
    kernel = load_study(study, ROOT).kernels[name]
    if kernel.undefined_behaviour:
        pytest.skip(f"nothing says what is right: {kernel.undefined_behaviour}")
    points = []
    for block_size in (32, 64, 256, 1024):
        for unroll in (kernel.unroll[0], kernel.unroll[-1]):
            span = block_size * unroll
            for size in (1, span - 1, span, span + 1, 3 * span + block_size // 2, 1000 * span - 1):
                candidate = point(size, block_size, unroll=unroll)
                if not kernel.unsupported(candidate.values):
                    points.append(candidate)
    for dtype, operation in (
        ("int64", "sum"),
        ("float32", "sum"),
        ("float64", "sum"),
        ("int32", "product"),
        ("float32", "product"),
        ("int32", "maximum"),
    ):
        points.append(point(100_003, 256, unroll=kernel.unroll[-1], dtype=dtype, operation=operation, cache="cold"))
    outcomes = run(kernel, list(dict.fromkeys(points)), tmp_path, arch)
    wrong = {p: (o.status, o.message) for p, o in outcomes.items() if o.status != "ok"}
    assert not wrong


@pytest.mark.parametrize(("study", "name"), [("unrolling", "interleaved"), ("warp_shuffle", "shuffle")])
def test_arrays_beyond_32_bits_are_right(study: str, name: str, arch: str, tmp_path: Path) -> None:
    free = free_bytes()
    if free < 40e9:
        pytest.skip(f"needs 40 GB of device memory, {free / 1e9:.0f} GB are free")
    # Sizes at which 32-bit indices or byte offsets would wrap around; blocks of 32 threads give the largest grid.
    kernel = load_study(study, ROOT).kernels[name]
    outcomes = run(kernel, [point(size, 32) for size in (2**31 - 1, 2**31 + 1, 2**32 - 1, 2**32)], tmp_path, arch)
    assert [o.status for o in outcomes.values()] == ["ok"] * 4, [o.message for o in outcomes.values()]


def test_a_crash_of_the_context_costs_one_point(arch: str, tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, OVERFLOW)
    outcomes = run(kernel, [point(size) for size in (32, 64, 96, 128)], tmp_path, arch)
    assert [o.status for o in outcomes.values()] == ["ok", "launch_failed", "ok", "ok"]
    assert "illegal" in outcomes[point(64)].message
    assert not outcomes[point(64)].samples


def test_a_kernel_that_never_ends_costs_one_point(arch: str, tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, "while (array_size == 64 && *(volatile const Element *)data >= 0) {}")
    outcomes = run(kernel, [point(size) for size in (32, 64, 96)], tmp_path, arch, timeout_seconds=4)
    assert [o.status for o in outcomes.values()] == ["ok", "timed_out", "ok"]


def test_an_array_larger_than_the_memory_is_a_row(arch: str, tmp_path: Path) -> None:
    # The input and its working copy come to 2 TB: more than any GPU has.
    kernel = planted_kernel(tmp_path, updates_input=True)
    outcomes = run(kernel, [point(2**37, 1024, dtype="int64"), point(1000)], tmp_path, arch)
    assert [o.status for o in outcomes.values()] == ["out_of_memory", "ok"]
    assert "GB" in outcomes[point(2**37, 1024, dtype="int64")].message


def test_a_cold_sample_reads_from_memory_and_a_hot_one_from_the_cache(arch: str, tmp_path: Path) -> None:
    # 16 MiB fit into the L2 of every GPU on which the difference can be asked for.
    kernel = load_study("warp_shuffle", ROOT).kernels["shuffle"]
    points = [point(2**22, 256, unroll=4, cache=cache) for cache in ("cold", "hot")]
    outcomes = run(kernel, points, tmp_path, arch)
    cold, hot = (summarise(outcomes[p].samples) for p in points)
    assert hot.high < cold.low


def test_launch_latency_stays_outside_the_events(arch: str, tmp_path: Path) -> None:
    # A launch costs the host some microseconds; the shortest kernel takes fewer between events on a filled queue.
    kernel = load_study("warp_shuffle", ROOT).kernels["shuffle"]
    outcome = run(kernel, [point(32, 32)], tmp_path, arch)[point(32, 32)]
    assert 0.5 < float(np.median(outcome.samples)) < 6
