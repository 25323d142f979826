"""References are computed once, by one job at a time, in processes of their own, and no device waits for the host."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kernelsweep as ks
from kernelsweep.base.running import FOLDER_OF_WORKERS
from kernelsweep.device import kinds, lease
from kernelsweep.device.point.instances import second_seed
from kernelsweep.device.task import KernelTask, Protocol
from kernelsweep.errors import UserError
from kernelsweep.study.kernels.launches import KernelLaunches
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import KernelSettings, LaunchSettings
from kernelsweep.sweep.references import References

KERNEL = """__global__ void twice(float *y, const float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
"""
PROBLEM = """
import os
import time
import numpy as np

def inputs(random, n):
    return {"a": random.random(n)}

def outputs(n):
    return {"b": ((n,), np.float64)}

def reference(a, n):
    with open("calls", "a") as calls:
        calls.write(f"{n} {os.getppid()}\\n")
    if n > 64:
        raise ValueError("too large")
    time.sleep(0.2)
    return {"b": 2 * a}
"""


def task_of(named: dict[str, Any]) -> KernelTask:
    """The task of a kernel `k`, which one launch runs."""
    entry = KernelSettings(name="k", launches=[LaunchSettings(grid=1, block=1, arguments=[])])
    of_kernel = KernelLaunches("own.yaml: launches", problem_of(named), entry)
    launches, protocol = of_kernel.as_values(), Protocol(None, seed=7)
    return KernelTask("", "k", named, launches, "0", "k.cubin", {"k": {}}, protocol)


def prepare(task: KernelTask, points: Sequence[Point], processes: int = 1) -> None:
    """Have all references of the points."""
    with References(task, points, print, processes) as references:
        for each in points:
            references.wait([problem_of(task.problem).data_of(each)])


def test_a_reference_is_computed_once_for_all_jobs_of_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.py").write_text(PROBLEM, encoding="utf-8")
    named = {"file": "problem.py", "axes": {"n": False, "block": False}, "data": []}
    points = [Point({"n": n, "block": block}) for n in (4, 5, 6, 64) for block in (1, 2, 3)]

    with ThreadPoolExecutor(2) as jobs:
        list(jobs.map(lambda _: prepare(task_of(named), points, 3), range(2)))
    calls = [line.split() for line in Path("calls").read_text(encoding="utf-8").splitlines()]
    # Of two inputs each, the smallest first, then the largest; three at once.
    assert sorted(n for n, _ in calls[:3]) == ["4", "4", "64"]
    assert Counter(n for n, _ in calls) == dict.fromkeys(["4", "5", "6", "64"], 2)
    assert len({process for _, process in calls} - {str(os.getpid())}) == 3

    # Another process finds them, and what a function raises is told.
    problem = problem_of(named)
    for seed in (7, second_seed(7)):
        problem.instance("k", points[0], seed).expect()
    assert len(Path("calls").read_text(encoding="utf-8").splitlines()) == 8
    with pytest.raises(UserError, match=r"problem\.py, line 16: reference raises .* too large"):
        prepare(task_of(named), [Point({"n": 65, "block": 1})])


SLOW = """
import time
import numpy as np

def sleeps(n, at):
    if n != at:
        return
    with open(FILE, "a") as file:
        file.write(f"{time.monotonic()} {time.monotonic() + SECONDS}\\n")
    time.sleep(SECONDS)

def inputs(random, n):
    sleeps(n, 200)
    return {"x": random.random(n, "float32")}

def outputs(n):
    return {"y": ((n,), "float32")}

def reference(x, n):
    sleeps(n, 200)
    return {"y": 2 * x.astype(float)}

def error_bound(n, roundings):
    sleeps(n, 100)
    return {"y": 0}

def result(y, n):
    sleeps(n, 100)
    return {"y": y}

def launches(n, block, Launch):
    sleeps(n, 200)
    return [Launch(grid=-(-n // block), block=block, arguments=["y", "x", "n"])]
"""


def job_at_a_pretended_gpu(folder: Path, seconds: float) -> None:
    """A study's job in a folder beside those that share the GPU; it leaves the times of its leases in `leases`."""
    from kernelsweep.sweep import kernel_job

    folder.mkdir()
    os.chdir(folder)
    lease.FOLDER = folder.parent
    lease.gpus_of = lambda _: [SimpleNamespace(uuid="GPU-1", name="H200")]  # type: ignore[assignment,list-item]
    lease.check_state = lambda *_: None
    os.environ[FOLDER_OF_WORKERS] = str(folder.parent / "workers")
    clocked = replace(kinds.KINDS["emulator"], implementation="model_clock:ModelClock", has_clock=True, needs_gpu=True)
    kinds.KINDS["emulator"] = clocked  # type: ignore[index]
    leased = kernel_job.leased_device

    @contextmanager
    def noted(*given: Any, **more: Any) -> Iterator[lease.Lease]:
        with leased(*given, **more) as held:
            begun = time.monotonic()
            yield held
            with open("leases", "a", encoding="utf-8") as file:
                file.write(f"{begun} {time.monotonic()}\n")

    kernel_job.leased_device = noted
    slow = f"SECONDS, FILE = {seconds}, {str(folder / 'sleeps')!r}\n{SLOW}"  # A worker runs elsewhere.
    Path("problem.py").write_text(slow, encoding="utf-8")
    Path("twice.cu").write_text(KERNEL, encoding="utf-8")
    settings = {"title": "y = 2 x", "problem": "problem.py", "axes": {"n": [100, 200], "block": [64]}}
    settings["kernels"] = [{"name": "twice"}]
    study = ks.checked_study("twice", folder, settings, "settings", {"twice": folder / "twice.cu"})
    outcomes = ks.sweep_kernel(study, "twice", folder / "kept", visits=1)
    assert {outcome.status for outcome in outcomes.values()} == {"ok"}


def test_no_device_waits_for_a_function_of_the_host(tmp_path: Path) -> None:
    # Pins: four studies that wait for 120 s, because a fifth has the GPU at 0% of use while its host works.
    fork = get_context("fork")
    (tmp_path / "workers").mkdir()
    sleeper, other = (
        fork.Process(target=job_at_a_pretended_gpu, args=(tmp_path / name, seconds))
        for name, seconds in (("sleeper", 0.35), ("other", 0.0))
    )
    sleeper.start()
    while not (tmp_path / "sleeper/sleeps").exists():
        assert sleeper.is_alive()
        time.sleep(0.01)
    other.start()
    other.join(60)
    assert other.exitcode == 0
    sleeper.join(60)
    assert sleeper.exitcode == 0

    for place in (tmp_path / "workers").iterdir():
        os.kill(int(place.read_text().split()[0]), signal.SIGKILL)

    def times(name: str) -> list[list[float]]:
        lines = (tmp_path / "sleeper" / name).read_text(encoding="utf-8").splitlines()
        return [[float(number) for number in line.split()] for line in lines]

    leases, sleeps = times("leases"), times("sleeps")
    for begun, ended in sleeps:
        kept = sum(max(0.0, min(ended, until) - max(begun, since)) for since, until in leases)
        assert kept < 0.75 * (ended - begun), f"{kept} s of {ended - begun}"
    assert any(since < ended and begun < until for begun, ended in sleeps for since, until in leases)
