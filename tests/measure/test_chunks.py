"""A long kernel's sweep in chunks: each chunk's points, two GPUs side by side, and another division in a later run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from planted import DEVICE, built, planted_kernel, point

from kernelsweep.measure.chunks import points_of_chunk, read_failures
from kernelsweep.measure.journal import Journal, journals_of
from kernelsweep.measure.rows import measurement_rows
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.work import do_work, find_work
from kernelsweep.measure.worker.client import Workers
from kernelsweep.results import MEASUREMENT_COLUMNS, read_rows, write_rows
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import instantiation

SEED = 5
SWEEP = [
    point(size, block, dtype=dtype) for dtype in ("int32", "float32") for size in range(1, 7) for block in (32, 64)
]

# A chunk's job as the script does it, on either of two pretended GPUs. Arguments: its folder, the chunk, their number.
JOB = """\
import json, os, sys, time
from pathlib import Path
import pynvml
from planted import DEVICE, kernel_in
from kernelsweep.platforms import lease
from kernelsweep.measure.chunks import points_of_chunk, write_failures
from kernelsweep.measure.identity import identity_sha256
from kernelsweep.measure.journal import Journal, chunk_journal, journals_of
from kernelsweep.measure.work import do_work, find_work
from kernelsweep.measure.task import read_task
from kernelsweep.measure.worker.client import Workers
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation

folder, chunk, chunks = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
lease.FOLDER = folder
os.environ.pop("CUDA_VISIBLE_DEVICES", None)
pynvml.nvmlInit = lambda: None
pynvml.nvmlDeviceGetCount = lambda: 2
pynvml.nvmlDeviceGetHandleByIndex = lambda index: index
pynvml.nvmlDeviceGetName = lambda index: "NVIDIA H200"
pynvml.nvmlDeviceGetUUID = lambda index: f"GPU-{index + 1}"
pynvml.nvmlDeviceGetCudaComputeCapability = lambda index: (9, 0)
pynvml.nvmlSystemGetDriverVersion = lambda: "1"
given = json.loads((folder / "given.json").read_text())
task = read_task(given["task"])
kernel = kernel_in(folder / "planted.cu")
points = [Point(values) for values in given["points"]]
own = points_of_chunk(points, chunk, chunks, task.protocol.seed)
planned = [PlannedPoint(one, instantiation(kernel, one)) for one in points if one in own]
path = folder / "planted.jsonl"
with Journal(chunk_journal(path, chunk), print, journals_of(path)) as journal:
    work = find_work(task, planned, {}, journal, DEVICE)
    if not work.is_done:
        with lease.leased_gpu("nvidia-h200") as gpu:
            begin = time.monotonic()
            with Workers(task, work.visits) as workers:
                do_work(work, journal, workers)
            print(json.dumps({"uuid": gpu.uuid, "begin": begin, "end": time.monotonic()}))
write_failures(folder / f"{chunk}.json", work.results())
"""


@pytest.fixture
def slow(tmp_path: Path) -> tuple[KernelSource, KernelTask, dict[str, Any]]:
    """A kernel that takes 20 ms a point and is wrong at size 3, with its jobs' inputs in tmp_path."""
    fault = "if (threadIdx.x == 0) usleep(20000 / gridDim.x);\n if (array_size == 3) return;"
    kernel = planted_kernel(tmp_path, fault)
    kernel.path.write_text(kernel.path.read_text().replace("#include", "#include <unistd.h>\n#include", 1))
    task, report = built(kernel, SWEEP, tmp_path, seed=SEED)
    points = [dict(one) for one in SWEEP]
    given = {"root": str(ROOT), "task": asdict(task), "report": report, "points": points}
    (tmp_path / "given.json").write_text(json.dumps(given))
    return kernel, task, report


def start(folder: Path, chunk: int, chunks: int) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "tests/support"), str(ROOT / "workflow/scripts")])
    command = [sys.executable, "-c", JOB, str(folder), str(chunk), str(chunks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})


def joined(
    folder: Path, kernel: KernelSource, task: KernelTask, report: dict[str, Any], failures: list[Path]
) -> tuple[list[dict[str, str]], int]:
    """The kernel's rows, as its own job makes them, and how many visits that had still to run."""
    path = folder / "planted.jsonl"
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in SWEEP]
    with Journal(path, print, [other for other in journals_of(path) if other != path]) as journal:
        work = find_work(task, planned, read_failures(failures), journal, DEVICE)
        missing = sum(map(len, work.missing))
        with Workers(task, work.visits) as workers:
            do_work(work, journal, workers)
    rows = measurement_rows(kernel, report, work.results(), DEVICE, {"study": "s", "kernel": "planted"}, 0.005)
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
    killed = start(tmp_path, 1, 3)
    while not recorded(tmp_path):
        assert killed.poll() is None
    killed.kill()
    killed.communicate()
    before = recorded(tmp_path)

    jobs = [start(tmp_path, chunk, 3) for chunk in (1, 2, 3)]
    # The third one may say before that it waits.
    leases = [json.loads(job.communicate(timeout=60)[0].splitlines()[-1]) for job in jobs]
    assert {lease["uuid"] for lease in leases} == {"GPU-1", "GPU-2"}
    for one in leases:
        for other in leases:
            if one is not other and one["uuid"] == other["uuid"]:
                assert one["end"] <= other["begin"] or other["end"] <= one["begin"]
    begun = sorted(leases, key=lambda lease: lease["begin"])
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
    assert start(tmp_path, 1, 2).wait(60) == 0
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
