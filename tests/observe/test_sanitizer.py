"""compute-sanitizer: how its logs are read, which points it gets, and how a run ends.

The tool itself is played by a script on the PATH that runs its command, on the emulator, and prints a log like those in
NVIDIA's manual; the tests marked gpu have the real one find planted faults.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from planted import built, instantiations, planted_kernel, point
from reductions import REDUCTION
from shipped_kernels import shipped_study
from workflow_runs import edit, shrink, snakemake

from kernelsweep.compile.toolkit import tool_version
from kernelsweep.errors import UserError
from kernelsweep.observe.chosen_points import MOST_CHECKED_POINTS, MOST_THREADS, points_to_check
from kernelsweep.observe.requests import Answer, Observed, Requests
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.observe.sanitizer.compute_sanitizer import FOUND, find, proof_row, run_points, run_status
from kernelsweep.observe.sanitizer.log import Finding, Log, parse_log
from kernelsweep.results import NOT_CHECKED
from kernelsweep.study.axes import Axes, resolve_axes
from kernelsweep.study.kernel_sweep import KernelSweep, instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.settings import Acknowledgement
from kernelsweep.study.spaces import valid_points

CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK, NOT_STARTED, NOT_TRACKED = (
    (ROOT / f"tests/support/captures/sanitizer/{name}.txt").read_text()
    for name in ("memcheck", "racecheck", "initcheck", "synccheck", "not_started", "not_tracked")
)

FAKE = """\
#!{python}
# Plays compute-sanitizer: runs what it should watch, prints the log it was given for one kernel, else a clean one.
import os, pickle, subprocess, sys

if "--version" in sys.argv:
    sys.exit(print("NVIDIA (R) Compute Sanitizer\\nVersion 2025.3.0.0 (build 36345082) (public-release)"))
print("========= COMPUTE-SANITIZER", flush=True)
options, observed = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
chosen = "--tool=" + os.environ.get("FAKE_TOOL", "memcheck") in options
if chosen and "FAKE_KERNEL" in os.environ:  # To read requests takes a third of a second.
    with open(observed[observed.index("-m") + 2], "rb") as file:
        chosen = pickle.load(file).task.kernel == os.environ["FAKE_KERNEL"]
if os.environ.get("FAKE_RUNS", "yes") == "yes":
    status = subprocess.run(observed).returncode
    if status != 0:
        print("========= Error: process didn't terminate successfully")
        print("========= Target application returned an error")
        print("========= ERROR SUMMARY: 0 errors")
        sys.exit(1)
log = os.environ.get("FAKE_LOG")
if chosen and log is not None:
    print(log)
    sys.exit(int(os.environ.get("FAKE_EXIT", 0)))
print("========= ERROR SUMMARY: 0 errors")
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compute-sanitizer first on the PATH."""
    path = tmp_path / "tools/compute-sanitizer"
    path.parent.mkdir()
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    return path


# Logs


def test_errors_are_counted_past_the_print_limit_and_those_of_one_place_are_one_finding() -> None:
    log = parse_log(MEMCHECK)
    assert (log.errors, log.warnings, log.troubles) == (769, 0, ())
    write, read = log.findings
    assert (write.severity, write.kind, write.count) == ("error", "Invalid __global__ write of size 4 bytes", 2)
    assert write.location == "unrolled.cu:34"
    assert "by thread (0,0,0)" in write.message and "Host Frame" not in write.message
    assert read.location == "kernel.cu:44", "the kernel, not what it calls"


def test_every_tools_findings_are_read() -> None:
    ended = (
        '========= Program hit CUDA_ERROR_UNKNOWN (error 999) due to "unknown error" on CUDA API call to f.\n'
        "========= ERROR SUMMARY: 1 error\n"
    )
    for text, errors, kind, location in (
        (RACECHECK, 1, "Race reported between Write and Read access", "block_error.cu:41"),
        (INITCHECK, 1, "Uninitialized __global__ memory read of size 4 bytes", ""),
        (SYNCCHECK, 32, "Barrier error detected. Divergent thread(s) in block", "test.cu:60"),
        (ended, 1, 'Program hit CUDA_ERROR_UNKNOWN (error 999) due to "unknown error" on CUDA API call to f', ""),
    ):
        log = parse_log(text)
        assert (log.errors, log.troubles) == (errors, ())
        finding, *warnings = log.findings
        assert log.warnings == len(warnings) == (text == RACECHECK)
        assert (finding.kind, finding.location) == (kind, location)


def test_a_result_that_a_kernel_leaves_out_is_no_read_of_our_comparison() -> None:
    named = re.sub(r"(=+ +at ).*", r"\1within+0xf10", INITCHECK, count=1)
    assert "within" in named
    (finding,) = parse_log(named).findings
    assert finding.message.startswith(
        "Uninitialized __global__ memory read of size 4 bytes; the kernel has not written"
    )
    assert "within" not in finding.message
    (own,) = parse_log(named.replace("within+0xf10", "within(float *)+0xf10")).findings
    assert "within(float *)" in own.message


@pytest.mark.parametrize(("text", "expected"), [
    ("", "has no summary"), ("a Python traceback\n", "has no summary"),
    (NOT_STARTED, "terminated before first instrumented API call"), (NOT_TRACKED, "Errors might go undetected"),
    (CLEAN + "========= Target application returned an error\n", "returned an error"),
    (MEMCHECK.replace("769 errors", "0 errors"), "counts no error, but the log has one"),
])  # fmt: skip
def test_a_tool_that_fails_is_in_trouble_not_clean(text: str, expected: str) -> None:
    log = parse_log(text)
    assert expected in "; ".join(log.troubles)
    point_run = point(1)
    status, reason = run_status(Observed(0, (Answer("ok", ""),)), log, [point_run], undefined_behaviour=True)
    assert status == "failed"
    assert expected in reason


# Verdicts


def test_only_a_complete_run_that_found_nothing_is_clean() -> None:
    asked = [point(1), point(100)]
    right = (Answer("ok", ""), Answer("ok", ""))
    wrong = (Answer("ok", ""), Answer("wrong_result", "expected 3, found 4"))
    clean, found = parse_log(CLEAN), parse_log(INITCHECK)
    assert run_status(Observed(0, right), clean, asked, False) == ("clean", "")
    assert run_status(Observed(FOUND, right), found, asked, False) == ("findings", "")
    for run, log, because in (
        (Observed(0, right[:1]), clean, "1 of 2 points were run; the next was array size 100"),
        (
            Observed(0, wrong),
            clean,
            "wrong_result at array size 100, block size 32, unroll 1, int32, sum, hot: expected 3",
        ),
        (Observed(1, right), clean, "exit status 1"),
        (Observed(-9, right), clean, "exit status -9"),
        (Observed(None, right), clean, "took too long"),
        (Observed(FOUND, right), clean, "its log counts nothing"),
        (Observed(0, ()), clean, "0 of 2 points were run"),
    ):
        status, reason = run_status(run, log, asked, False)
        assert status == "failed"
        assert because in reason
    # A finding explains a wrong result, and a context that the tool ended. Undefined behaviour has no right result.
    assert run_status(Observed(FOUND, wrong), found, asked, False)[0] == "findings"
    ended = replace(found, troubles=("Target application returned an error",))
    status, reason = run_status(Observed(FOUND, (Answer("launch_failed", "unspecified"),)), ended, asked, False)
    assert (status, "1 of 2 points were run" in reason) == ("findings", True)
    assert run_status(Observed(-9, right[:1]), ended, asked, False)[0] == "failed"
    assert run_status(Observed(0, wrong), clean, asked, True) == ("clean", "")


# Points


def axes(**values: Any) -> Axes:
    settings = {
        **{"dtype": ["int32"], "operation": ["sum"], "cache": ["cold", "hot"], "array_size": [2**16, 2**24]},
        **{"block_size": [64, 128, 256], "unroll": [1]},
        **values,
    }
    return resolve_axes(REDUCTION.axes, {"grid_size": [None]}, settings)


def checked(kernel: KernelSource, sweep: Axes, variants: Sequence[str], *restrictions: str) -> list[Point]:
    """The points to check of a kernel on a GPU with 132 multiprocessors, for sm_90."""
    return [each.point for each in points_to_check(KernelSweep(kernel, [sweep], 132, restrictions, "sm_90"), variants)]


def test_points_are_of_the_smallest_arrays_with_the_corners_of_launches(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    sweep = axes(dtype=["int32", "int64", "float32", "float64"], operation=["sum", "product", "minimum", "maximum"])
    every = valid_points([sweep], [], [])
    chosen = checked(kernel, sweep, instantiations(kernel, every))
    assert {(p["dtype"], p["operation"]) for p in chosen} == {(p["dtype"], p["operation"]) for p in every}
    assert {p["block_size"] for p in chosen} == {64, 256}
    assert len(chosen) == len(set(chosen)) == MOST_CHECKED_POINTS, "cold and hot are one"
    few = axes()
    variants = instantiations(kernel, valid_points([few], [], []))
    assert {p["block_size"] for p in checked(kernel, few, variants, "block_size <= 128")} == {64, 128}
    assert checked(kernel, few, []) == [], "nothing is compiled for it"
    # Slow launches are left out, but not where a kernel has no others.
    large = 2 * MOST_THREADS // 64
    cascaded = shipped_study("stepwise").kernels["cascaded"]
    for swept, left in (([256, large], {256}), ([large], {large})):
        grids = axes(grid_size=swept)
        chosen = checked(cascaded, grids, instantiations(cascaded, valid_points([grids], [], [])))
        assert {p["grid_size"] for p in chosen} == left


# Runs, on the emulator


def planted_run(folder: Path, fault: str = "", tool: str = "memcheck") -> tuple[Observed, Log, str]:
    """A planted kernel's points under whatever compute-sanitizer is found; with the status and reason in one text."""
    kernel = planted_kernel(folder, fault)
    asked = [point(1), point(100), point(65)]
    task, _ = built(kernel, asked, folder)
    task = replace(task, protocol=replace(task.protocol, sampling=None, repeated_runs=1))
    raw = folder / "raw.txt"
    requests = Requests(task, [(p, instantiation(kernel, p)) for p in asked], 60)
    run = run_points(find(), tool, requests, raw)
    log = parse_log(raw.read_text())
    return run, log, ": ".join(run_status(run, log, asked, False))


def test_the_points_are_run_under_the_tool(fake: Path, tmp_path: Path) -> None:
    run, log, verdict = planted_run(tmp_path)
    assert [answer.status for answer in run.answers] == ["ok"] * 3
    assert (run.exit_status, log.troubles) == (0, ())
    assert verdict == "clean: "
    assert tool_version(find()) == "2025.3.0.0"


def test_initcheck_gets_buffers_that_nothing_has_filled(fake: Path, tmp_path: Path) -> None:
    fault = "if (threadIdx.x == 0 && partials[blockIdx.x] != std::numeric_limits<Element>::lowest()) array_size = 0;"
    assert planted_run(tmp_path, fault, "initcheck")[2].startswith("failed: 3 points failed, the first wrong_result")


def test_a_finding_that_the_study_acknowledges_hides_no_other(tmp_path: Path) -> None:
    kernel = planted_kernel(tmp_path)
    known = [Acknowledgement(check="races", line="own.cu:3", reason="all write 1")]
    kernel = replace(kernel, launches=replace(kernel.launches, entry=kernel.entry.changed(acknowledged=known)))
    race = Finding("error", "Race reported between Write access", "kernels/own.cu:3", 1, "Race reported")
    both = proof_row(kernel, "racecheck", "findings", "", 3, [race, replace(race, location="own.cu:9")])
    assert {"check": "races", "message": "Race reported (own.cu:9)", "expected": ""}.items() <= both.items()
    alone = proof_row(kernel, "racecheck", "findings", "", 3, [race])
    assert (alone["finding"], alone["expected"]) == (race.kind, "all write 1")


def test_a_missing_compute_sanitizer_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr("kernelsweep.compile.toolkit.DEFAULT_TOOLKIT", str(tmp_path / "cuda"))
    with pytest.raises(UserError, match=r"part of the CUDA toolkit; .* cuda-sanitizer-api"):
        find()


# The workflow


def test_a_run_gives_rows_and_fails_for_what_was_found(
    fake: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The emulator in the GPU's place: all but the target's own check for one.
    axes = {"dtype": ["int32"], "operation": ["sum"], "array_size": [2**24], "block_size": [256], "unroll": [1]}
    shrink(project, "global_memory", "shuffle", axes=axes)
    # A kernel that this platform can't run.
    study = project / "config/studies/warp_shuffle.yaml"
    edit(study, "- name: global_memory", "- gpu_only: it is planted\n  name: global_memory")
    monkeypatch.setenv("FAKE_KERNEL", "shuffle")
    monkeypatch.setenv("FAKE_TOOL", "racecheck")
    monkeypatch.setenv("FAKE_LOG", RACECHECK)
    monkeypatch.setenv("FAKE_EXIT", str(FOUND))
    run = snakemake(project, "results/emulator/sanitizer/.verdict")
    assert run.returncode != 0
    said = " ".join(run.stdout.split())
    assert "1 of 2 kernels with mistakes: warp_shuffle/shuffle; 1 not checked: warp_shuffle/global_memory" in said
    assert "warp_shuffle/shuffle, races (racecheck): " in run.stdout and "508 hazards" in run.stdout
    rows = {}
    for kernel in ("global_memory", "shuffle"):
        with (project / f"results/emulator/sanitizer/warp_shuffle/{kernel}.csv").open(newline="") as file:
            rows[kernel] = list(csv.DictReader(file))
    assert [row["tool"] for row in rows["shuffle"]] == [*TOOLS]
    assert [row["tool"] for row in rows["shuffle"] if row["finding"]] == ["racecheck"]
    assert all(int(row["points"]) > 0 for row in rows["shuffle"])
    assert {row["finding"] for row in rows["global_memory"]} == {NOT_CHECKED}
    assert {row["message"] for row in rows["global_memory"]} == {"only for a GPU: it is planted"}
    logs = project / "results/emulator/logs/sanitize_kernel/warp_shuffle"
    assert "508 hazards" in (logs / "shuffle.racecheck.txt").read_text()


# The real tool
