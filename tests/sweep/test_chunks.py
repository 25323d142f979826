"""A long kernel's sweep in chunks: each chunk's points, two GPUs side by side, and another division in a later run."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pynvml
import pytest
from planted import DEVICE, built, planted_kernel, point

from kernelsweep.device import lease
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.client import Workers
from kernelsweep.results import MEASUREMENT_COLUMNS, read_rows, write_rows
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.sweep.bench import Bench, Front
from kernelsweep.sweep.chunks import points_of_chunk, read_failures, write_failures
from kernelsweep.sweep.full import FullSweep, sweep_points
from kernelsweep.sweep.journal import Journal, chunk_journal, journals_of
from kernelsweep.sweep.loop import run
from kernelsweep.sweep.rows import measurement_rows
from kernelsweep.sweep.visits import find_visits

SEED = 5
SWEEP = [
    point(size, block, dtype=dtype) for dtype in ("int32", "float32") for size in range(1, 7) for block in (32, 64)
]

FORK = get_context("fork")


def chunk_job(folder: Path, task: KernelTask, kernel: KernelSource, chunk: int, chunks: int) -> None:
    """A chunk's job as the script does it, on either of two pretended GPUs; it leaves CHUNK.lease and CHUNK.json."""
    lease.FOLDER = folder
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    for name, answer in {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda index: "NVIDIA H200",
        "nvmlDeviceGetUUID": lambda index: f"GPU-{index + 1}",
        "nvmlDeviceGetCudaComputeCapability": lambda index: (9, 0),
        "nvmlSystemGetDriverVersion": lambda: "1",
    }.items():
        setattr(pynvml, name, answer)
    own = points_of_chunk(SWEEP, chunk, chunks, task.protocol.seed)
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in SWEEP if one in own]
    path = folder / "planted.jsonl"
    with Journal(chunk_journal(path, chunk), print, journals_of(path)) as journal:
        visits = find_visits(task, planned, {}, journal, DEVICE)
        if not visits.is_done:
            with lease.leased_gpu("nvidia-h200") as (gpu, _):
                begin = time.monotonic()
                with Workers(task, visits.numbers) as workers, Bench(task, Front(journal), workers) as bench:
                    run(FullSweep(visits), bench)
                held = {"uuid": gpu.uuid, "begin": begin, "end": time.monotonic()}
                (folder / f"{chunk}.lease").write_text(json.dumps(held))
    write_failures(folder / f"{chunk}.json", visits.results())


@pytest.fixture
def slow(tmp_path: Path) -> tuple[KernelSource, KernelTask, dict[str, Any]]:
    """A kernel that takes 20 ms a point and is wrong at size 3."""
    fault = "if (threadIdx.x == 0) usleep(20000 / gridDim.x);\n if (array_size == 3) return;"
    kernel = planted_kernel(tmp_path, fault)
    kernel.path.write_text(kernel.path.read_text().replace("#include", "#include <unistd.h>\n#include", 1))
    task, report = built(kernel, SWEEP, tmp_path, seed=SEED)
    return kernel, task, report


def joined(
    folder: Path, kernel: KernelSource, task: KernelTask, report: dict[str, Any], failures: list[Path]
) -> tuple[list[dict[str, str]], int]:
    """The kernel's rows, as its own job makes them, and how many visits that had still to run."""
    path = folder / "planted.jsonl"
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in SWEEP]
    with Journal(path, print, [other for other in journals_of(path) if other != path]) as journal:
        visits = find_visits(task, planned, read_failures(failures), journal, DEVICE)
        missing = sum(map(len, visits.missing))
        outcomes = sweep_points(task, planned, read_failures(failures), journal, DEVICE)
    rows = measurement_rows(kernel, report, outcomes, DEVICE, {"study": "s", "kernel": "planted"}, 0.005)
    write_rows(folder / "rows.csv", MEASUREMENT_COLUMNS, rows)
    return read_rows(folder / "rows.csv"), missing


def recorded(folder: Path) -> Counter[str]:
    """How often each right visit's key is in any of the kernel's journals."""
    lines = [line for path in journals_of(folder / "planted.jsonl") for line in path.read_text().splitlines()]
    records = map(json.loads, lines)
    return Counter(record["key"] for record in records if record["value"]["outcome"]["status"] == "ok")


def test_chunks_share_two_gpus_and_a_killed_one_goes_on_and_the_rows_are_those_of_one_job(
    tmp_path: Path, slow: tuple[KernelSource, KernelTask, dict[str, Any]]
) -> None:
    # Pins: two jobs on one GPU at once, all on the first one, points lost or measured twice, and failed points that are
    # run again for the rows, which takes up to measuring.timeout_seconds each.
    kernel, task, report = slow

    def start(chunk: int, chunks: int) -> BaseProcess:
        job = FORK.Process(target=chunk_job, args=(tmp_path, task, kernel, chunk, chunks))
        job.start()
        return job

    killed = start(1, 3)
    while not recorded(tmp_path):
        assert killed.is_alive()
    killed.kill()
    killed.join()
    before = recorded(tmp_path)

    jobs = [start(chunk, 3) for chunk in (1, 2, 3)]
    for job in jobs:
        job.join(60)
    leases = [json.loads((tmp_path / f"{chunk}.lease").read_text()) for chunk in (1, 2, 3)]
    assert {one["uuid"] for one in leases} == {"GPU-1", "GPU-2"}
    for one in leases:
        for other in leases:
            if one is not other and one["uuid"] == other["uuid"]:
                assert one["end"] <= other["begin"] or other["end"] <= one["begin"]
    begun = sorted(leases, key=lambda one: one["begin"])
    assert begun[1]["begin"] < begun[0]["end"], "side by side"
    assert before and before <= recorded(tmp_path)
    assert set(recorded(tmp_path).values()) == {1}
    right = [one for one in SWEEP if one["array_size"] != 3]
    assert len(recorded(tmp_path)) == len(right)

    rows, missing = joined(tmp_path, kernel, task, report, [tmp_path / f"{chunk}.json" for chunk in (1, 2, 3)])
    assert missing == 0
    alone = tmp_path / "alone"
    alone.mkdir()
    of_one_job, missing = joined(alone, kernel, task, report, [])
    assert missing == len(SWEEP)
    assert rows == of_one_job
    assert Counter(row["status"] for row in rows) == {"ok": len(right), "wrong_result": len(SWEEP) - len(right)}

    # A later run in other chunks, or in a single job, runs only the failed points again.
    again, missing = joined(tmp_path, kernel, task, report, [])
    assert (again, missing) == (rows, len(SWEEP) - len(right))
    (last := start(1, 2)).join(60)
    assert last.exitcode == 0
    assert set(recorded(tmp_path).values()) == {1}


def test_points_are_dealt_so_that_no_variant_is_one_chunks_alone() -> None:
    points = [point(2**size, block, unroll=unroll) for size in range(10) for block in (32, 64) for unroll in (1, 2, 4)]
    shares = [points_of_chunk(points, chunk, 4, SEED) for chunk in (1, 2, 3, 4)]
    assert sorted(map(len, shares)) == [15, 15, 15, 15]
    assert set().union(*shares) == set(points)
    for share in shares:
        assert {one["block_size"] for one in share} == {32, 64}
        assert {one["unroll"] for one in share} == {1, 2, 4}
    assert points_of_chunk(points, 1, 4, SEED + 1) != shares[0]
    assert points_of_chunk(points, 1, 1, SEED) == set(points)
