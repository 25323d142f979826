"""References are computed once, by one job at a time, in processes of their own, while the device measures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kernelsweep.device.point.instances import second_seed
from kernelsweep.device.task import KernelTask, Protocol
from kernelsweep.errors import UserError
from kernelsweep.study.kernels.launches import KernelLaunches
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import KernelSettings, LaunchSettings
from kernelsweep.sweep.references import References

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
        problem.instance("k", points[0], seed).expect(points[0])
    assert len(Path("calls").read_text(encoding="utf-8").splitlines()) == 8
    with pytest.raises(UserError, match=r"problem\.py, line 16: reference raises .* too large"):
        prepare(task_of(named), [Point({"n": 65, "block": 1})])
