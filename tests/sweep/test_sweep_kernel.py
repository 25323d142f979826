"""One kernel is swept by a function call, without Snakemake, a configuration file or a working folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kernelsweep as ks
from kernelsweep.device import kinds
from kernelsweep.device.sampling import FixedCount
from kernelsweep.study.study import Study

PROBLEM = """
def inputs(random, n): return {"x": random.random(n, "float32")}
def outputs(n): return {"y": ((n,), "float32")}
def reference(x): return {"y": 2 * x.astype(float)}
def error_bound(): return {"y": 0}
"""
KERNEL = """__global__ void twice(float *y, const float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n GUARD) y[i] = 2 * x[i]; }
"""


def study_of(folder: Path, guard: str = "") -> Study:
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "twice.cu").write_text(KERNEL.replace("GUARD", guard))
    launches = [{"grid": "n / block", "block": "block", "arguments": ["y", "x", "n"]}]
    settings = {"title": "y = 2 x", "problem": "problem.py", "axes": {"n": [1, 1000], "block": [64, 128]}}
    settings["kernels"] = [{"name": "twice", "launches": launches}]
    return ks.checked_study("twice", folder, settings, "settings", {"twice": folder / "twice.cu"})


def test_a_kernel_is_swept_in_a_few_lines_and_only_what_is_missing_runs_again(tmp_path: Path) -> None:
    study = study_of(tmp_path, "&& blockDim.x < 128")
    outcomes = ks.sweep_kernel(study, "twice", tmp_path / "kept")
    statuses = {(point["n"], point["block"]): outcome.status for point, outcome in outcomes.items()}
    assert statuses == {(n, block): "ok" if block == 64 else "wrong_result" for n in (1, 1000) for block in (64, 128)}
    ran = []
    ks.sweep_kernel(
        study, "twice", tmp_path / "kept", axes={"n": [1000, 5]}, show=lambda visit, _: ran.append(visit.point)
    )
    assert {(point["n"], point["block"]) for point in ran} == {(1000, 128), (5, 64), (5, 128)}


def test_samples_by_another_criterion_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked = replace(kinds.KINDS["emulator"], implementation="model_clock:ModelClock", has_clock=True)
    monkeypatch.setitem(kinds.KINDS, "emulator", clocked)
    study, points = study_of(tmp_path), [{"n": 1000, "block": 64}]

    def counts(criterion: FixedCount | None) -> list[int]:
        (outcome,) = ks.sweep_kernel(study, "twice", tmp_path / "kept", points=points, criterion=criterion).values()
        return [len(visit.samples) for visit in outcome.visits]

    usual = counts(None)
    assert counts(FixedCount(36)) == [36] * len(usual) != usual
    assert counts(None) == usual
