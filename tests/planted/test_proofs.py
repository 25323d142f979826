"""Mistakes planted in kernels, each of which `all` finds by itself on the emulator, and names (docs/proofs.md)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from checkout import ROOT
from workflow_runs import snakemake

from kernelsweep.results import CHECKS, PROOF_COLUMNS, read_rows

# One run of the pipeline has all kernels.
pytestmark = pytest.mark.xdist_group("planted_proofs")

HERE = Path(__file__).parent
START = "    __shared__"
FILL = r"shared\[thread\] = (place < array_size) \? (.*) : .*;"

# By mistake: the check that finds it, the finding, and the edit that plants it, as a pattern and its replacement.
PLANTED = {
    "missing_syncthreads": ("races", "race", r"    __syncthreads\(\);\n(?=\s*for)", ""),
    "missing_syncwarp": ("races", "race", r" +__syncwarp\(\);\n", ""),
    "conditional_barrier": ("barriers", "barrier", r"\n    (__syncthreads\(\);)", r"\n    if (thread < 32)\n    \1"),
    "uninitialised_read": ("uninitialised", "uninitialised", FILL, r"if (\1)\n        shared[thread] = \2;"),
    "last_block_left_out": (
        "result", "wrong_result", START, "    if (blockIdx.x == gridDim.x - 1)\n        return;\n    __shared__",
    ),
    "some_not_written": ("result", "wrong_result", r"if \(thread == 0\)", "if (thread == 0 && blockIdx.x % 4 != 3)"),
    "input_changed": (
        "result", "wrong_result", rf"({FILL})".replace("(.*)", r"(\w+)\[place\].*"),
        r"\1\n    if (\2)\n        (float &)\3[place] = 0;",
    ),
    "past_end_read": ("bounds", "out_of_bounds", r"place < array_size \?", "place <= array_size ?"),
    "past_end_written": (
        "bounds", "out_of_bounds", r"(partials\[blockIdx.x\]) =", r"\1 = partials[blockIdx.x + 1] =",
    ),
    "half_precision": ("result", "wrong_result", r"= shared\[0\]", "= __half2float(__float2half(float(shared[0])))"),
    "endless_loop": (
        "result", "timed_out", START, "    volatile int runs = 1;\n    while (runs)\n        runs = 1;\n    __shared__",
    ),
    "trap": ("result", "launch_failed", START, "    if (array_size > 31)\n        __trap();\n    __shared__"),
}  # fmt: skip
# A reduction may use its input as memory to work in.
FOR_ARRAYS_ALONE = ("input_changed",)
CASES = [
    (study, mistake)
    for study in ("sums", "arrays")
    for mistake in PLANTED
    if study == "arrays" or mistake not in FOR_ARRAYS_ALONE
]
SIZES = [1000]
LAUNCH = {"grid": "n / side", "block": "side", "arguments": ["products", "partials", "first", "second", "n"]}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository with the right kernels and those with mistakes, in which `all` has run; and what it said."""
    folder = tmp_path_factory.mktemp("planted")
    for name in ("sums", "arrays"):
        (folder / f"kernels/{name}").mkdir(parents=True)
        right = (HERE / f"{name}.cu").read_text()
        (folder / f"kernels/{name}/right.cu").write_text(right)
        for mistake in [mistake for study, mistake in CASES if study == name]:
            _, _, pattern, replacement = PLANTED[mistake]
            wrong, count = re.subn(pattern, replacement, right, count=0 if mistake == "missing_syncwarp" else 1)
            assert count, mistake
            (folder / f"kernels/{name}/{mistake}.cu").write_text(wrong.replace("void right(", f"void {mistake}("))
    shutil.copy(HERE / "arrays_problem.py", folder / "kernels/arrays/problem.py")
    kernels = {name: ["right", *(mistake for study, mistake in CASES if study == name)] for name in ("sums", "arrays")}
    studies = {
        "sums": {
            "title": "Sums",
            "axes": {"array_size": SIZES, "block_size": [64], "unroll": [1], "dtype": ["float32"], "cache": ["cold"]},
            "platforms": {"emulator": {"axes": {"array_size": SIZES, "block_size": [64]}}},
            "kernels": [{"name": name} for name in kernels["sums"]],
        },
        "arrays": {
            "title": "Arrays",
            "problem": "kernels/arrays/problem.py",
            "axes": {"n": SIZES, "side": [64], "cache": ["cold"]},
            "kernels": [
                {"name": name, "macros": ["side"], "launches": [{"kernel": name, **LAUNCH}]}
                for name in kernels["arrays"]
            ],
        },
    }
    (folder / "config/studies").mkdir(parents=True)
    for name, study in studies.items():
        (folder / f"config/studies/{name}.yaml").write_text(yaml.safe_dump(study))
    (folder / "config/config.yaml").write_text(yaml.safe_dump({"measuring": {"timeout_seconds": 2}}))
    run = snakemake(folder, "-s", str(ROOT / "Snakefile"), "-d", str(folder), "all")
    assert run.returncode != 0, run.stdout
    return folder, run.stdout


@pytest.mark.parametrize(("study", "mistake"), CASES)
def test_a_planted_mistake_is_found_and_named(planted: tuple[Path, str], study: str, mistake: str) -> None:
    folder, said = planted
    check, finding, *_ = PLANTED[mistake]
    rows = [row for row in read_rows(folder / f"results/emulator/proofs/{study}/{mistake}.csv")]
    assert list(rows[0]) == list(PROOF_COLUMNS) and [row["check"] for row in rows] == list(CHECKS)
    found = {row["check"]: row for row in rows if row["finding"]}
    assert found[check]["finding"] == finding, found
    message = found[check]["message"]
    assert re.search(r"^at (array size|n) 1000\b", message), message
    if check != "result":
        assert f"{mistake}.cu:" in message, "a line is named"
    named = f"The proof of {study}/{mistake} failed: {check} (emulator), {message}."
    assert named in said and named.split(", at")[0] in said.rstrip().rsplit("Complete log", 1)[-1]
    measured = read_rows(folder / "results/emulator/measurements.csv")
    assert {row["flags"] for row in measured if (row["study"], row["kernel"]) == (study, mistake)} == {"proof_failed"}


def test_a_right_kernel_is_proven(planted: tuple[Path, str]) -> None:
    folder, said = planted
    assert "| sums | right | 1 |" in (summary := (folder / "results/emulator/summary.md").read_text()), said
    assert len(re.findall(r"\| right \|.*\| 5 checks, 1 points \|", summary)) == 2
    assert (
        f"2 of {len(CASES) + 2} kernels: result, races, bounds, uninitialised, barriers"
        in (folder / "results/emulator/report.html").read_text()
    )
