"""Measuring one kernel: which points run again, faults that cost one point each, and the resulting rows.

The tests use the emulator with real worker processes, and add a pretended clock where times matter.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import (
    DEVICE,
    NO_LENGTH_3,
    QUICK,
    built,
    kernel_in,
    measured,
    measured_while_built,
    planted_kernel,
    point,
    run,
)
from reductions import input_of
from shipped_kernels import shipped_study

from kernelsweep.base import sandbox
from kernelsweep.base.running import FOLDER_OF_WORKERS
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.device.kinds import KINDS
from kernelsweep.device.outcome import Outcome, Timing, combined
from kernelsweep.device.platform import Conditions
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.device.worker import client, process
from kernelsweep.errors import GPU_FAILED, StudyError, UserError
from kernelsweep.results import MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, STATUSES, read_rows, write_rows
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.sweep.identity import identity_sha256
from kernelsweep.sweep.rows import measurement_rows, sample_rows, why_implausible

SIZES = (32, 64, 96, 128)
SEED = 1  # With it 64, the size that faults are planted for, is run neither first nor last: others follow it.


class Progress:
    """Receives the progress of measure(): the points in the order in which they were run."""

    def __init__(self) -> None:
        self.points: list[Point] = []

    def __call__(self, done: int, count: int, point: Point, outcome: Outcome) -> None:
        self.points.append(point)
        assert done == len(self.points) <= count


def run_counted(
    kernel: KernelSource, points: Sequence[Point], folder: Path, **settings: Any
) -> tuple[Any, list[Point]]:
    """The outcomes, and the points that were run for them."""
    progress = Progress()
    return run(kernel, points, folder, progress=progress, **settings), progress.points


# The journal


def test_a_second_run_runs_nothing_and_a_new_size_costs_its_own_points(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    points = [point(size) for size in SIZES]
    first, run_first = run_counted(kernel, points, tmp_path)
    assert sorted(run_first, key=points.index) == points
    again, run_again = run_counted(kernel, points, tmp_path)
    assert run_again == []
    assert again == first
    # A larger array comes first: a stored result may not depend on the order.
    more, run_more = run_counted(kernel, [point(1000), *points], tmp_path)
    assert run_more == [point(1000)]
    assert more == {point(1000): more[point(1000)], **first}


def test_a_failed_point_is_run_again_once_it_can_be_right(tmp_path: Path) -> None:
    # The fault comes from the machine, not from the binary: the journal may not remember it.
    marker = tmp_path / "marker"
    kernel = planted_kernel(tmp_path, f'if (array_size == 64 && !access("{marker}", 0)) partials = nullptr;')
    kernel.path.write_text(kernel.path.read_text().replace("#include", "#include <unistd.h>\n#include", 1))
    points = [point(size) for size in SIZES]
    marker.touch()
    broken, _ = run_counted(kernel, points, tmp_path)
    assert broken[point(64)].status == "launch_failed"
    assert "illegal memory access" in broken[point(64)].message
    marker.unlink()
    mended, run_again = run_counted(kernel, points, tmp_path)
    assert run_again == [point(64)]
    assert {outcome.status for outcome in mended.values()} == {"ok"}


# Faults that cost one point each


def assert_only_64_failed(outcomes: dict[Point, Outcome], status: str) -> Outcome:
    """The outcome of the point of size 64, all others being right."""
    failed = outcomes.pop(point(64))
    assert failed.status == status, failed
    assert failed.samples == []
    assert {outcome.status for outcome in outcomes.values()} == {"ok"}, outcomes
    return failed


def test_a_kernel_that_never_ends_costs_its_point_and_after_two_the_others_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SECONDS_UNTIL_NAMED", 0.5)
    told: list[str] = []
    never = "(array_size == 64 || array_size == 96) && *(volatile const Element *)data >= 0"
    kernel = planted_kernel(tmp_path, f"while ({never}) {{}}")
    points = [point(size) for size in SIZES]
    outcomes, order = run_counted(kernel, points, tmp_path, timeout_seconds=0.8, seed=SEED, tell=told.append)
    hanging, right, second, other = (outcomes[one] for one in order)
    assert [hanging.status, right.status, second.status, other.status] == ["timed_out", "ok", "timed_out", "skipped"]
    assert "0.8 s (measuring.timeout_seconds)" in hanging.message and not hanging.samples
    assert re.search(r"thread \d+ runs, at \S+\.cu:\d+$", hanging.message)
    assert "took too long" in other.message
    # While it runs, a point is named with its limit.
    assert f"{order[0]} has run for 0.5 s; it may take 0.8 s" in told


def test_a_kernel_that_kills_its_process_costs_one_point(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, "if (array_size == 64) __builtin_abort();")
    ran: list[Point] = []
    outcomes = run(
        kernel, [point(size) for size in SIZES], tmp_path, visits=2, progress=lambda *told: ran.append(told[2])
    )
    failed = assert_only_64_failed(outcomes, "launch_failed")
    assert sorted(one["array_size"] for one in ran) == sorted([*SIZES, 32, 96, 128]), "a point that fails has one visit"
    assert "died (signal 6). The likely cause is an access out of bounds" in failed.message
    assert "proofs.csv" in failed.message


def test_a_process_serves_the_next_kernel_of_its_run_and_a_crash_there_costs_one_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a GPU, where a process and its context cost half a second of each kernel's lease.
    places = tmp_path / "places"
    places.mkdir()
    monkeypatch.setenv(FOLDER_OF_WORKERS, str(places))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1")
    monkeypatch.setattr(client, "kind_of_implementation", lambda _: KINDS["gpu"])
    waiting: list[set[int]] = []
    for name, code in (("right", ""), ("again", ""), ("crashes", "if (array_size == 64) __builtin_abort();")):
        folder = tmp_path / name
        folder.mkdir()
        outcomes = run(planted_kernel(folder, code), [point(size) for size in SIZES], folder, visits=2)
        waiting.append({int(place.read_text().split()[0]) for place in places.glob("GPU-1.*")})
    assert len(waiting[0]) == 2 and waiting[0] == waiting[1]
    assert len(waiting[1] & waiting[2]) == 1, "the one that crashed is replaced"
    assert "died (signal 6)" in assert_only_64_failed(outcomes, "launch_failed").message
    for each in {*waiting[0], *waiting[2]}:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def test_a_wrong_result_at_one_block_size_says_what_was_expected_and_found(tmp_path: Path) -> None:
    kernel = planted_kernel(
        tmp_path, "if (blockDim.x == 64) {\n if (threadIdx.x == 0) partials[blockIdx.x] = 7;\n return;\n}"
    )
    points = [point(size, block_size) for size in (32, 100) for block_size in (32, 64)]
    outcomes = run(kernel, points, tmp_path)
    for one, outcome in outcomes.items():
        assert outcome.status == ("ok" if one["block_size"] == 32 else "wrong_result")
    expected = int(input_of(point(100)).sum())
    assert outcomes[point(100, 64)].message == f"value: expected {expected}, found 14"  # 7 from each of two blocks


def test_points_run_while_other_variants_are_built_and_one_that_fails_costs_its_own(tmp_path: Path) -> None:
    kernel, points = planted_kernel(tmp_path, NO_LENGTH_3), [point(size) for size in SIZES]
    outcomes, ran = measured_while_built(kernel, points, tmp_path)
    assert sorted(ran, key=str) == sorted(points, key=str)
    failed = outcomes[points[1]]
    assert failed.status == "build_failed" and "no such length" in failed.message
    assert {outcome.status for p, outcome in outcomes.items() if p != points[1]} == {"ok"}
    again = measured_while_built(kernel, points, tmp_path)
    assert again == (outcomes, [points[1]]), "what is built is kept, and only what failed is built and run again"


@pytest.fixture
def in_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have worker processes run some Python before they start, to play a machine that fails."""

    def plant(code: str) -> None:
        folder = tmp_path / "in_workers"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.setattr(process, "thread_count", lambda: 2)  # They are new Pythons then.

    return plant


def test_the_point_after_a_lost_context_is_not_blamed(tmp_path: Path, in_workers: Callable[[str], None]) -> None:
    # A worker that has lost its context answers, and ends a moment later. Pins: the next point sent to it meanwhile.
    in_workers(
        "import os, time\n"
        "from kernelsweep.device import emulator\n"
        "from kernelsweep.errors import ContextLost\n"
        "launch, leave = emulator.EmulatorPlatform.launch, os._exit\n"
        "def lose(self, launched, arguments):\n"
        "    if arguments[-1] == 64:\n"
        "        raise ContextLost('an illegal memory access was encountered')\n"
        "    launch(self, launched, arguments)\n"
        "emulator.EmulatorPlatform.launch = lose\n"
        "os._exit = lambda code: (time.sleep(0.5), leave(code))\n"
    )
    outcomes, order = run_counted(planted_kernel(tmp_path), [point(size) for size in SIZES], tmp_path, seed=SEED)
    assert point(64) in order[1:-1]
    assert "illegal memory access" in assert_only_64_failed(outcomes, "launch_failed").message


def test_an_untrusted_kernel_that_takes_too_much_memory_is_told_so(
    tmp_path: Path, in_workers: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, sandbox.NO_SANDBOX)
    monkeypatch.setattr(client, "_memory_of_untrusted", lambda: 400 << 20)
    in_workers(
        "import time\n"
        "from kernelsweep.device import emulator\n"
        "launch = emulator.EmulatorPlatform.launch\n"
        "def fill(self, launched, arguments):\n"
        "    if arguments[-1] == 64:\n"
        "        filled = b'1' * (500 << 20)\n"
        "        time.sleep(20)\n"
        "    launch(self, launched, arguments)\n"
        "emulator.EmulatorPlatform.launch = fill\n"
    )
    outcomes, _ = run_counted(planted_kernel(tmp_path), [point(size) for size in SIZES], tmp_path, seed=SEED)
    assert "more than half of this machine's memory" in assert_only_64_failed(outcomes, "launch_failed").message


def test_a_worker_that_cannot_start_is_the_machines_fault_and_said_so(
    tmp_path: Path, in_workers: Callable[[str], None]
) -> None:
    # Pins: every point called launch_failed for a missing driver; and a task that does not fit into the pipe, as with
    # some hundred variants, so that it is still being written when the worker dies.
    words = "pycuda._driver.LogicError: cuInit failed: no CUDA-capable device"
    in_workers(f"import os, sys\nprint({words!r}, file=sys.stderr, flush=True)\nos._exit({GPU_FAILED})\n")
    kernel = planted_kernel(tmp_path)
    task, report = built(kernel, [point(32)], tmp_path)
    assert report["status"] == "ok", report["message"]
    large = replace(task, variants={**task.variants, "other": {"symbol": "x" * 200_000}})
    planned = [PlannedPoint(point(32), instantiation(kernel, point(32)))]
    how = rf"\(exit status {GPU_FAILED}: {words}\)"
    with pytest.raises(UserError, match=rf"GPU or its driver failed: .* {how}\. Every finished point is kept"):
        measured(large, planned, report, tmp_path / "journal.jsonl")


def test_an_array_larger_than_the_memory_is_a_row(tmp_path: Path) -> None:
    # 2^57 bytes: more than any address space has. The memory of before is given back, and the next point has its own.
    kernel = planted_kernel(tmp_path)
    points = [point(100), point(2**40, 1024, dtype="int64"), point(200)]
    outcomes = run(kernel, points, tmp_path)
    assert [outcome.status for outcome in outcomes.values()] == ["ok", "out_of_memory", "ok"]
    assert outcomes[points[1]].message


# Timing


class PretendedClock(EmulatorPlatform):
    """The emulator with a clock that makes times up. It records each action, and which input each launch finds."""

    has_clock = True

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.inputs: list[np.ndarray[Any, Any]] = []
        self.timed_counts: list[int] = []

    def copy(self, target: Any, source: Any, size: int, offset: int = 0) -> None:
        if target is not source:  # Filling the input by itself is no restoration.
            self.done.append("restore")
        super().copy(target, source, size, offset)

    def flush_cache(self) -> None:
        self.done.append("flush")

    def launch(self, launch: Launch, arguments: Sequence[Any]) -> None:
        self.done.append("launch")
        self.inputs.append(arguments[0][: 4 * arguments[2]].view(np.int32).copy())
        super().launch(launch, arguments)

    def time(self, sample: Any, count: int) -> list[float]:
        self.timed_counts.append(count)
        for _ in range(count):
            self.done.append("sample")
            sample(lambda: self.done.append("start"), lambda: self.done.append("stop"))
        return [20 + 0.001 * number for number in range(count)]

    def conditions(self) -> Conditions:
        return Conditions(clock_mhz=1980, temperature_c=40, power_w=300.0)


@pytest.mark.parametrize(
    ("name", "cache", "sample"),
    [
        ("in place", "cold", "restore flush start launch stop"),
        ("in place", "hot", "restore start launch stop"),
        ("twice", "cold", "flush start launch launch stop"),
        ("twice", "hot", "start launch launch stop"),
    ],
)
def test_a_sample_times_the_launches_and_nothing_else(name: str, cache: str, sample: str, tmp_path: Path) -> None:
    # Pins: restoring or flushing inside the timed region; flushing before the restoration, which warms the cache again;
    # and a second sample on the input as the first one left it.
    kernel = shipped_study("unrolling").kernels["interleaved"] if name == "in place" else planted_kernel(tmp_path)
    if name == "twice":
        entry = kernel.entry.changed(launches=[*kernel.launches.listed] * 2)
        kernel = replace(kernel, launches=replace(kernel.launches, entry=entry))
    one = point(1000, 64, cache=cache)
    task, report = built(kernel, [one], tmp_path)
    assert report["status"] == "ok", report["message"]
    platform = PretendedClock()
    outcome = Runner(platform, task).run(VisitRequest(one, instantiation(kernel, one)))

    check, *samples = " ".join(platform.done).split(" sample ")
    assert "start" not in check and "launch" in check
    assert len(samples) == len(outcome.samples) == sum(platform.timed_counts) >= QUICK.min_samples
    assert set(samples) == {sample}
    array = input_of(one)
    assert all(np.array_equal(found, array) for found in platform.inputs)
    assert outcome.status == "ok"
    (visit,) = outcome.visits
    assert (visit.clock_mhz, visit.temperature_c, visit.power_w) == (1980, 40, 300.0)


def test_a_wrong_result_is_never_timed(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, "if (blockDim.x == 64) return;")
    points = [point(1000, 64), point(1000, 32)]
    task, report = built(kernel, points, tmp_path)
    assert report["status"] == "ok", report["message"]
    platform = PretendedClock()
    on_clock = Runner(platform, task)
    wrong = on_clock.run(VisitRequest(points[0], instantiation(kernel, points[0])))
    assert (wrong.status, wrong.samples, platform.timed_counts) == ("wrong_result", [], [])
    # Partials that no block writes are not the right ones of the point before.
    right = on_clock.run(VisitRequest(points[1], instantiation(kernel, points[1])))
    assert right.status == "ok" and right.samples
    assert on_clock.run(VisitRequest(points[0], instantiation(kernel, points[0]))).status == "wrong_result"


def test_a_time_above_the_devices_peaks_is_no_time() -> None:
    device = {"name": "a GPU", "peak_bandwidth_gbs": 4800, "compute_capability": "9.0", "multiprocessors": 132}
    device |= {"multiprocessor_clock_mhz": 1980}
    moved, cold = {"bytes": 4.8e9, "flops": 1e9}, point(2**20, dtype="float32", cache="cold")
    assert why_implausible(cold, moved, 960, device) is None
    told = why_implausible(cold, moved, 950, device)
    assert told is not None and told.startswith("950.000 us would be 5,053 GB/s, and the peak is 4,800 (the memory's).")
    assert why_implausible(point(2**20, dtype="float32", cache="hot"), moved, 100, device) is None
    # 2 operations, 1024 multiply-adds a cycle: 535 TFLOP/s on tensor cores, 67 without them.
    calculated = {"flops": 1e12}
    assert why_implausible(cold, calculated, 2000, device) is None
    assert "GFLOP/s, and the peak is 535,265 (that of tf32)" in str(why_implausible(cold, calculated, 1700, device))
    assert why_implausible(point(1, dtype="float64"), calculated, 1, device) is None
    assert why_implausible(cold, calculated, 1, {"peak_bandwidth_gbs": None, "multiprocessors": 4}) is None


# Floating point

# Each run leaves the neighbouring numbers at other places; both are within the error bound. What a run leaves in the
# kernel's own variables is put back, so that the C library remembers.
UNSTEADY = "const bool other = rand() % 2;"


def test_results_that_change_from_run_to_run_are_shown(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path, UNSTEADY)
    ending = "partials[blockIdx.x] = other ? Element(sum * (1 + std::numeric_limits<Element>::epsilon())) : sum;"
    text = kernel.path.read_text().replace("partials[blockIdx.x] = sum;", ending)
    kernel.path.write_text(text.replace("#include", "#include <cstdlib>\n#include", 1))
    points = [point(1000, dtype=dtype) for dtype in ("float32", "float64", "int32")]
    outcomes = run(kernel, points, tmp_path)
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 3
    assert [outcome.bit_identical for outcome in outcomes.values()] == [False, False, None]
    rows = measurement_rows(kernel, {"variants": {}}, outcomes, DEVICE, {}, 0.005)
    assert [row["bit_identical"] for row in rows] == ["no", "no", ""]


def test_a_sums_error_is_that_against_the_exactly_rounded_sum(tmp_path: Path) -> None:
    # One thread adds all elements one after another: an order that Python can follow, rounding by rounding.
    kernel = planted_kernel(tmp_path)
    size, block_size = 1000, 1024
    kernel = kernel_in(kernel.path, roundings="block_size")
    points = [point(size, block_size, dtype=dtype) for dtype in ("float32", "float64", "int32")]
    points.append(point(size, block_size, dtype="float32", operation="maximum"))
    outcomes = run(kernel, points, tmp_path)
    for one in points[:2]:
        tile = input_of(one)
        found = tile.dtype.type(0)
        for element in tile:
            found += element
        exact = math.fsum(tile.tolist())
        assert outcomes[one].relative_error == pytest.approx(abs(float(found) - exact) / exact, rel=1e-9)
    assert outcomes[points[0]].relative_error > 0
    assert [outcomes[one].relative_error for one in points[2:]] == [None, None]  # exact, or wrong


# Rows

# Retyped from the contract in the design, so that a column that is renamed or moved is noticed.
CONTRACT = (
    "study,kernel,platform,device,array_size,block_size,unroll,dtype,operation,cache,launches,grid_size,status,message,"
    "samples,time_us,time_low_us,time_high_us,noise,bandwidth_gbs,peak_fraction,clock_mhz,flags,source_sha256,"
    "binary_sha256"
    ",relative_error,bit_identical,visit_spread,temperature_c,power_w,throttle_reasons,device_uuid,seconds,busy_seconds"
    ",width,arguments,output,visits,parameters,gflops,peak_of"  # ours, behind the contract's
    ",error_share,compiler,power_limit_w,clock_limit_mhz,work,identity_sha256,reason"
)
OF_TIMES = [
    *("samples", "time_us", "time_low_us", "time_high_us", "noise", "bandwidth_gbs", "peak_fraction", "clock_mhz"),
    *("temperature_c", "power_w", "device_uuid", "seconds", "busy_seconds"),
]


def test_rows_follow_the_contract_and_carry_a_time_only_where_all_is_well(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    samples = [20.0, 20.5, 21.0, 19.5, 20.25, 22.0, 20.125]
    outcomes = {
        # Even an outcome that comes with samples may not become a time unless it is ok.
        point(1000 + number): Outcome(
            status, "two\nlines, and a comma", [Timing(samples, settled=False, clock_mhz=1980)]
        )
        for number, status in enumerate(STATUSES)
    }
    without_clock = point(64)
    outcomes[without_clock] = Outcome("ok")
    report = {"variants": {"planted<int, Sum>": {"binary_sha256": "abc"}}}
    known = {"study": "toys", "kernel": "planted", "platform": "pretended", "source_sha256": "def"}
    rows = measurement_rows(kernel, report, outcomes, DEVICE, known, 0.005)
    write_rows(tmp_path / "points.csv", MEASUREMENT_COLUMNS, rows)
    write_rows(tmp_path / "samples.csv", SAMPLE_COLUMNS, sample_rows(kernel, outcomes))

    header, *_ = (tmp_path / "points.csv").read_text().splitlines()
    assert header == CONTRACT
    written = read_rows(tmp_path / "points.csv")
    assert [row["array_size"] for row in written] == [str(one["array_size"]) for one in outcomes]
    assert [row["status"] for row in written] == [*STATUSES, "ok"]
    for row in written[1:]:
        assert [row[name] for name in OF_TIMES] == [""] * len(OF_TIMES), row["status"]
    ok = written[0]
    assert ok["message"] == "two lines, and a comma"
    assert ok["flags"] == "noisy imprecise"
    assert (ok["device"], ok["grid_size"], ok["launches"], ok["binary_sha256"]) == ("a device", "32", "1", "abc")
    assert float(ok["bandwidth_gbs"]) == pytest.approx(4 * 1000 / 20.25e-6 / 1e9, abs=1e-3)
    assert float(ok["peak_fraction"]) == pytest.approx(float(ok["bandwidth_gbs"]) / 1000, abs=1e-5)
    assert (ok["samples"], ok["clock_mhz"]) == ("7", "1980")

    of_ok = [float(row["time_us"]) for row in read_rows(tmp_path / "samples.csv") if row["array_size"] == "1000"]
    assert of_ok == samples
    assert float(ok["time_us"]) == statistics.median(of_ok)
    assert ok["visit_spread"] == ""  # There was one visit.


def test_each_visit_is_another_process_in_another_order_and_none_is_repeated(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    progress = Progress()
    points = [point(size) for size in SIZES]
    run(kernel, points, tmp_path, seed=SEED, visits=3, progress=progress)
    orders = [progress.points[first : first + 4] for first in (0, 4, 8)]
    assert all(sorted(order, key=lambda one: one["array_size"]) == points for order in orders)
    assert orders[0] != orders[1]
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_text().splitlines()
    for record in map(json.loads, lines):
        assert record["key"] == identity_sha256(record["value"]["of"])
    # An interrupted run lacks the last visit to two points; only these are visited again.
    journal.write_text("".join(f"{line}\n" for line in lines[:-2]))
    again = Progress()
    run(kernel, points, tmp_path, seed=SEED, visits=3, progress=again)
    assert again.points == progress.points[-2:]


def test_the_visits_of_a_point_become_one_row(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    visits = [[level, level + 0.1, level - 0.1] * 4 for level in (20.0, 21.0, 20.5)]
    outcomes = [
        Outcome("ok", visits=[Timing(samples, clock_mhz=clock)])
        for samples, clock in zip(visits, (1980, 1900, 1980), strict=True)
    ]
    both = combined(outcomes)
    (row,) = measurement_rows(kernel, {"variants": {}}, {point(1000): both}, DEVICE, {}, 0.005)
    assert (row["samples"], row["clock_mhz"]) == (36, 1900)
    assert row["flags"] == "imprecise"  # Each visit is settled, but they lie 5% apart.
    (row,) = measurement_rows(kernel, {"variants": {}}, {point(1000): both}, DEVICE, {}, 0.05)
    assert row["flags"] == ""
    assert float(row["time_us"]) == pytest.approx(20.5, abs=0.1)
    assert float(row["time_low_us"]) <= 20.0 < 21.0 <= float(row["time_high_us"])
    assert float(row["visit_spread"]) == pytest.approx(1 / 20.5, abs=1e-3)
    assert [(sample["visit"], sample["sample"]) for sample in sample_rows(kernel, {point(1000): both})] == [
        (visit, number) for visit in range(3) for number in range(12)
    ]
    # One visit that fails is a failure of the point, without a time.
    assert combined([outcomes[0], Outcome("timed_out", "no result")]).status == "timed_out"


def test_an_argument_that_the_problem_lacks_is_told_and_is_no_fault_of_the_kernel(tmp_path: Path) -> None:
    # Pins: the kernel's points failed, "the machine may have been at fault", beside the problem's own check.
    kernel = planted_kernel(tmp_path)
    (launch,) = kernel.entry.launches
    launch = launch.changed(arguments=["data", "partails", "array_size"])
    kernel = replace(kernel, launches=replace(kernel.launches, entry=kernel.entry.changed(launches=[launch])))
    task, report = built(kernel, [point(32)], tmp_path)
    planned = [PlannedPoint(point(32), instantiation(kernel, point(32)))]
    with pytest.raises(StudyError, match=r"launches\.0\.arguments has 'partails'; did you mean 'partials'"):
        measured(task, planned, report, tmp_path / "journal.jsonl")
