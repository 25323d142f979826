"""Findings that decide nothing are notes: the run succeeds and names them. A study may acknowledge findings by line."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from checkout import ROOT
from workflow_runs import snakemake

from kernelsweep.results import read_rows

PROBLEM = """\
import numpy as np

def inputs(random, n):
    return {"x": random.random(n, np.float32)}

def outputs(n):
    return {"y": ((n,), np.float32)}

def reference(x):
    return {"y": x + np.repeat((x.reshape(-1, 64) > 0.9).any(axis=1), 64)}
"""
KERNEL = """\
__global__ void %s(const float *x, float *y)
{
    __shared__ int is_any;
    __shared__ float tile[65];
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0)
        is_any = 0;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    if (tile[threadIdx.x] > 0.9f)
        is_any = %s;
    const float next = tile[threadIdx.x + %d];
    __syncthreads();
    const float own = __shfl_up_sync(0xffffffffu, next, 1);
    y[i] = (threadIdx.x %% 32 && %d ? own : tile[threadIdx.x]) + (is_any ? 1 : 0) + (%s ? 1 : 0);
}
"""
# What is stored where several threads do, the place that is read from the thread's own on, and what else decides.
KERNELS = {
    "acknowledged": ("1", 0, 0, "false"),
    "other_line_acknowledged": ("1", 0, 0, "false"),
    "other_values_acknowledged": ("threadIdx.x + 1", 0, 0, "false"),
    "indifferent_read": ("threadIdx.x / 64 + 1", 1, 1, "false"),
    "other_code": ("1", 0, 0, "\n#if __CUDA_ARCH__ >= 800\ntex1D<float>(0, 1)\n#else\nfalse\n#endif\n"),
    "other_result": ("1", 0, 0, "\n#if __CUDA_ARCH__ >= 800\ntex1D<float>(0, 1)\n#else\ntrue\n#endif\n"),
    "deciding_read": ("threadIdx.x / 64 + 1", 1, 1, "next > 1e30f"),
}
MARKS, READS = 11, 12  # lines
ACKNOWLEDGED = {
    "acknowledged": ("races", MARKS, "all threads write 1"),
    "other_line_acknowledged": ("races", READS, "another line's"),
    "other_values_acknowledged": ("races", MARKS, "any value is true"),
    "deciding_read": ("races", READS, "another check's"),
}


def acknowledged(name: str) -> list[dict[str, str | int]]:
    keys = ("check", "line", "reason")
    return [dict(zip(keys, ACKNOWLEDGED[name], strict=True))] if name in ACKNOWLEDGED else []


def test_notes_fail_nothing_and_are_named_until_they_are_acknowledged(tmp_path: Path) -> None:
    folder, names = tmp_path, list(KERNELS)
    (folder / "kernels/own").mkdir(parents=True)
    (folder / "config/studies").mkdir(parents=True)
    (folder / "kernels/own/problem.py").write_text(PROBLEM)
    for name in names:
        (folder / f"kernels/own/{name}.cu").write_text(KERNEL % (name, *KERNELS[name]))
    launch = {"grid": "n / 64", "block": 64, "arguments": ["x", "y"]}
    study = {
        "title": "Own",
        "problem": "kernels/own/problem.py",
        "axes": {"n": [128], "cache": ["cold"]},
        "kernels": [{"name": name, "launches": [launch], "acknowledged": acknowledged(name)} for name in names],
    }
    (folder / "config/studies/own.yaml").write_text(yaml.safe_dump(study))
    place = ("-s", str(ROOT / "Snakefile"), "-d", str(folder), "--cores", "2")
    run = snakemake(folder, *place, "prove", "--config", "platform=emulator")
    assert run.returncode == 1, run.stdout
    rows, said = read_rows(folder / "results/emulator/proofs.csv"), " ".join(run.stdout.split())
    found = {f"{row['kernel']}, {row['check']}": row for row in rows if row["finding"]}
    assert {place: row["finding"] for place, row in found.items()} == {
        "acknowledged, races": "same_value",
        "other_line_acknowledged, races": "same_value",
        "indifferent_read, races": "same_value",
        "indifferent_read, uninitialised": "indifferent_read",
        "other_code, ": "other_code",
        "other_code, races": "same_value",
        "other_result, ": "other_code",
        "other_result, result": "wrong_result",
        "other_result, races": "same_value",
        "other_values_acknowledged, races": "race",
        "deciding_read, races": "same_value",
        "deciding_read, uninitialised": "uninitialised",
    }
    # What decides is no note, and fails unless its line is acknowledged; nothing else fails.
    failed = set(re.findall(r"The check of own/(\w+) failed: (\w+)", said))
    assert failed == {("deciding_read", "uninitialised"), ("other_result", "result")}
    assert found["other_result, result"]["message"].endswith(
        " by the other branch, since " + found["other_result, "]["message"]
    )
    assert "expected, as any value is true." in said
    assert found["acknowledged, races"]["expected"] == "all threads write 1"
    assert "of own/acknowledged: expected, as all threads write 1." in said
    assert "writes it at kernels/own/acknowledged.cu:11, the same value" in found["acknowledged, races"]["message"]
    assert "reads tile[64]" in found["indifferent_read, uninitialised"]["message"]
    assert {*re.findall(r"Notes: findings that decide nothing: (own/\w+, \w+) \(emulator\)", said)} == {
        "own/other_line_acknowledged, races",
        "own/indifferent_read, races",
        "own/indifferent_read, uninitialised",
        "own/other_code, races",
        "own/other_result, races",
        "own/deciding_read, races",
    }
    assert (
        "own/other_code: kernels/own/other_code.cu: the emulator can't run the GPU's code "
        "(kernels/own/other_code.cu:17: tex1D is a CUDA word that the emulator does not supply)"
    ) in said
