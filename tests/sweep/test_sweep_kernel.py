"""One kernel is swept by a function call, without Snakemake, a configuration file or a working folder."""

from __future__ import annotations

from pathlib import Path

import kernelsweep as ks

PROBLEM = """
def inputs(random, n): return {"x": random.random(n, "float32")}
def outputs(n): return {"y": ((n,), "float32")}
def reference(x): return {"y": 2 * x.astype(float)}
def error_bound(): return {"y": 0}
"""
KERNEL = """__global__ void twice(float *y, const float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n GUARD) y[i] = 2 * x[i]; }
"""


def test_a_kernel_is_swept_in_a_few_lines_and_only_what_is_missing_runs_again(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "twice.cu").write_text(KERNEL.replace("GUARD", "&& blockDim.x < 128"))
    launches = [{"grid": "n / block", "block": "block", "arguments": ["y", "x", "n"]}]
    settings = {"title": "y = 2 x", "problem": "problem.py", "axes": {"n": [1, 1000], "block": [64, 128]}}
    settings["kernels"] = [{"name": "twice", "launches": launches}]
    study = ks.checked_study("twice", tmp_path, settings, "settings", {"twice": tmp_path / "twice.cu"})
    outcomes = ks.sweep_kernel(study, "twice", tmp_path / "kept")
    statuses = {(point["n"], point["block"]): outcome.status for point, outcome in outcomes.items()}
    assert statuses == {(n, block): "ok" if block == 64 else "wrong_result" for n in (1, 1000) for block in (64, 128)}
    ran = []
    ks.sweep_kernel(
        study, "twice", tmp_path / "kept", axes={"n": [1000, 5]}, show=lambda visit, _: ran.append(visit.point)
    )
    assert {(point["n"], point["block"]) for point in ran} == {(1000, 128), (5, 64), (5, 128)}
