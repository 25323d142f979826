"""References are computed before a job waits for a GPU: once, by one job at a time, in a process of their own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernelsweep.errors import UserError
from kernelsweep.measure.references import prepare_references
from kernelsweep.measure.second_input import second_seed
from kernelsweep.problems.registry import problem_of
from kernelsweep.sweep.points import Point

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
        calls.write(f"{n} {os.getpid()}\\n")
    if n > 64:
        raise ValueError("too large")
    time.sleep(0.2)
    return {"b": 2 * a}
"""


def test_a_reference_is_computed_once_for_all_jobs_of_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.py").write_text(PROBLEM, encoding="utf-8")
    named = {"file": "problem.py", "axes": {"n": False, "block": False}}
    points = [Point({"n": n, "block": block}) for n in (4, 64) for block in (1, 2, 3)]

    with ThreadPoolExecutor(2) as jobs:
        list(jobs.map(lambda _: prepare_references(named, points, 7, True, print), range(2)))
    calls = [line.split() for line in Path("calls").read_text(encoding="utf-8").splitlines()]
    assert [n for n, _ in calls] == ["4", "4", "64", "64"]  # of two inputs each
    assert str(os.getpid()) not in {process for _, process in calls}

    # Another process finds them, and what a function raises is told.
    problem = problem_of(named)
    problem.prepare(points[0], 7)
    problem.prepare(points[0], second_seed(7))
    assert len(Path("calls").read_text(encoding="utf-8").splitlines()) == 4
    with pytest.raises(UserError, match=r"problem\.py, line 16: reference raises .* too large"):
        prepare_references(named, [Point({"n": 65, "block": 1})], 7, True, print)
