"""Nsight Compute: how captures are read, how launches are matched to points, and the messages without counters.

The captures in captures/ are an H200's, cut to the columns that matter here; ncu itself is played by ncu_stand_in.py,
which runs its command on the emulator.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT
from planted import built, planted_kernel, point
from shipped_kernels import shipped_study
from workflow_runs import shrink, snakemake

from kernelsweep.compile.toolkit import find_tool
from kernelsweep.device.task import KernelTask
from kernelsweep.errors import UserError
from kernelsweep.observe.profiling.definitions import asked_for, definitions
from kernelsweep.observe.profiling.ncu import MISSING, profile
from kernelsweep.observe.profiling.ncu_report import (
    Capture,
    Profile,
    combine_launches,
    match_launches,
    parse_capture,
    plain_name,
    profile_rows,
)
from kernelsweep.observe.requests import Answer, Launched, Requests
from kernelsweep.results import Row, read_rows
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point

CAPTURES = ROOT / "tests/support/captures"
TABLE: dict[str, dict[str, str]] = yaml.safe_load((ROOT / "config/metrics.yaml").read_text())["metrics"]
SHIPPED = definitions(TABLE)
SETTINGS = {"options": [], "timeout_seconds": 60}


def captured(name: str) -> Capture:
    return parse_capture((CAPTURES / name).read_text())


# Captures


def test_a_capture_of_an_h200_is_read_as_it_is() -> None:
    capture = captured("c_digits.csv")
    assert [(launch.function, launch.grid, launch.block) for launch in capture.launches] == [
        ("interleaved<double, Sum>", (32768, 1, 1), (512, 1, 1))
    ] * 2
    values = {
        name: combine_launches(SHIPPED[name], capture.launches[:1], capture.units, "interleaved")
        for name in ("branch_uniformity", "instructions_per_warp")
        if set(SHIPPED[name].needs) <= set(capture.units)
    }
    assert values == {"branch_uniformity": (98.4375, "")}
    efficiency = capture.launches[0].number("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct")
    assert efficiency == 98.745174


def test_a_locales_digits_are_refused_and_never_misread() -> None:
    # Pins: 183,756,544 read as 183.
    capture = captured("en_us_digits.csv")
    with pytest.raises(UserError, match=r"dram__bytes\.sum is '183,756,544', which is no number"):
        combine_launches(SHIPPED["dram_bytes"], capture.launches, capture.units, "interleaved")


@pytest.mark.parametrize(
    ("ncu", "report", "plain"),
    [
        (
            "void unrolled<int, Sum, (unsigned int)8>(T1 *, T1 *, unsigned long)",
            "unrolled<int, Sum, 8u>",
            "unrolled<int, Sum, 8>",
        ),
        ("void vectors<64, 8, (bool)1>(const float *, int)", "vectors<64, 8, true>", "vectors<64, 8, 1>"),
        ("void rows<32, 4, 1>(const float *)", "rows<32, 4, true> [RADIUS=4 TYPE=float[2]]", "rows<32, 4, 1>"),
    ],
)
def test_a_kernel_has_one_name_in_ncu_and_in_the_build_report(ncu: str, report: str, plain: str) -> None:
    assert plain_name(ncu) == plain_name(report) == plain


# Combination


def launches(*values: dict[str, str]) -> Any:
    first = captured("c_digits.csv").launches[0]
    return [replace(first, values=each) for each in values]


def test_launches_are_summed_or_averaged_by_their_weight() -> None:
    time, rate = "gpu__time_duration.sum", "dram__bytes_read.sum.per_second"
    units = {time: "ns", rate: "byte/s"}
    two = launches({time: "9000", rate: "2e12"}, {time: "1000", rate: "1e12"})
    assert combine_launches(SHIPPED["duration"], two, units, "k") == (pytest.approx(10.0), "")
    # All bytes over all time, not the mean of the two rates.
    assert combine_launches(SHIPPED["dram_read_throughput"], two, units, "k") == (pytest.approx(1900.0), "")
    branches, warps = "smsp__inst_executed_op_branch.sum", "smsp__warps_launched.sum"
    units = {branches: "inst", warps: "warp"}
    two = launches({branches: "300", warps: "90"}, {branches: "100", warps: "10"})
    assert combine_launches(SHIPPED["branch"], two, units, "k") == (pytest.approx(4.0), "")


def test_there_is_never_a_silent_zero() -> None:
    efficiency, sectors = SHIPPED["global_load_efficiency"].needs
    units = {efficiency: "%", sectors: "sector"}
    # A kernel without loads has no load efficiency; ncu gives 0, or no number.
    for written in ("0", "nan"):
        value, why = combine_launches(
            SHIPPED["global_load_efficiency"], launches({efficiency: written, sectors: "0"}), units, "k"
        )
        assert value is None and "nothing to take it of" in why
    value, why = combine_launches(
        SHIPPED["global_load_efficiency"], launches({efficiency: "nan", sectors: "7"}), units, "k"
    )
    assert value is None and "gave no number" in why
    value, why = combine_launches(SHIPPED["global_load_efficiency"], launches({sectors: "7"}), {sectors: "sector"}, "k")
    assert value is None and f"gave no {efficiency}" in why and "--query-metrics" in why
    with pytest.raises(UserError, match="is '', which is no number"):
        combine_launches(SHIPPED["global_load_efficiency"], launches({efficiency: "", sectors: "7"}), units, "k")


# Matching


def test_launches_belong_to_points_by_their_order_with_every_one_checked() -> None:
    capture = captured("c_digits.csv")

    def answered(grid: int = 32768, block: int = 512, dtype: str = "double") -> Answer:
        return Answer("ok", "", (Launched(f"interleaved<{dtype}, Sum>", (grid, 1, 1), (block, 1, 1)),))

    wrong = Answer("wrong_result", "expected 3, found 4")
    assert [len(of) for of in match_launches(capture, [answered(), wrong, answered()], "k")] == [1, 0, 1]
    for answers, because in (
        ([answered()], "1 launches were to be profiled, and Nsight Compute captured 2"),
        ([answered(), answered(block=256)], "not ('interleaved<double, Sum>', (32768, 1, 1), (256, 1, 1))"),
        ([answered(), answered(dtype="int")], "not ('interleaved<int, Sum>', "),
    ):
        with pytest.raises(UserError) as error:
            match_launches(capture, answers, "k")
        assert because in str(error.value)


# Runs, on the emulator


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ncu first on the PATH."""
    path = tmp_path / "tools/ncu"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/support/ncu_stand_in.py "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NCU_ROOT", str(ROOT))
    # The locale of a user whose numbers contain commas.
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    return path


POINTS = [point(1, cache="cold"), point(100, cache="cold"), point(65, cache="cold")]
Built = tuple[KernelSource, KernelTask]


def ready(source: KernelSource, points: list[Point], folder: Path) -> Built:
    task, report = built(source, points, folder)
    assert report["status"] == "ok", report["message"]
    return source, task


@pytest.fixture(scope="module")
def faultless(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A planted kernel without a fault."""
    folder = tmp_path_factory.mktemp("faultless")
    return ready(planted_kernel(folder), POINTS, folder)


def profiled(kernel: Built, folder: Path) -> tuple[Profile, list[tuple[Point, Row]]]:
    """A kernel's points, profiled for a few metrics."""
    source, task = kernel
    metrics = [SHIPPED[name] for name in ("duration", "branch", "memory_barrier_stall")]
    requests = [(each, instantiation(source, each)) for each in POINTS]
    found = find_tool("ncu")
    assert found is not None
    task = replace(task, protocol=replace(task.protocol, sampling=None, repeated_runs=1))
    result = profile(found, asked_for(metrics), SETTINGS, Requests(task, requests, 60), folder, folder / "ncu.txt")
    return result, profile_rows(requests, result, metrics, source.name)


def values(rows: list[tuple[Point, Row]], metric: str) -> dict[int, str]:
    return {point["array_size"]: row["value"] for point, row in rows if row["metric"] == metric}


def test_every_point_gets_its_own_launches(ncu: Path, faultless: Built, tmp_path: Path) -> None:
    # Every counter of the n-th launch is 1000 n.
    result, rows = profiled(faultless, tmp_path)
    (launches,) = zip(*(answer.launches for answer in result.answers), strict=True)
    assert [(launch.grid, launch.block) for launch in launches] == [((n, 1, 1), (32, 1, 1)) for n in (1, 4, 3)]
    assert values(rows, "duration") == {1: "1", 100: "2", 65: "3"}
    assert values(rows, "branch") == {1: "1", 100: "1", 65: "1"}
    assert (tmp_path / "cold.ncu-rep").exists()


def test_a_point_that_ends_the_process_keeps_what_was_captured_before_it(ncu: Path, tmp_path: Path) -> None:
    source = planted_kernel(tmp_path, "if (array_size == 100) __builtin_trap();")
    _, rows = profiled(ready(source, POINTS, tmp_path), tmp_path)
    assert values(rows, "duration") == {1: "1", 100: "", 65: ""}
    assert {row["message"] for _, row in rows if row["value"] == ""} == {
        "Not profiled: the process under Nsight Compute ended before this point, or in it."
    }


@pytest.mark.parametrize(("plays", "parts"), [
    ("unknown section", ["--section nonsense", "--list-sections"]),
    ("another kernel", ["the first other one is ('fill<int>'", "not ('planted<int, Sum>'"]),
    ("nothing captured", ["planted", "wrote no report", "No kernels were profiled"]),
    ("a unit changed", ["planted", "gpu__time_duration.sum in us", "metrics.duration", "says ns"]),
])  # fmt: skip
def test_what_would_be_a_wrong_number_is_an_error(
    ncu: Path, faultless: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plays: str, parts: list[str]
) -> None:
    monkeypatch.setenv("NCU_PLAYS", plays)
    with pytest.raises(UserError) as error:
        profiled(faultless, tmp_path)
    for part in parts:
        assert part in str(error.value)


# The workflow


def test_metrics_stand_beside_the_points_and_are_kept(
    ncu: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The emulator in the GPU's place: all but the targets' own check for one, and its own way to metrics.
    kinds = project / "workflow/scripts/kernelsweep/device/kinds.py"
    own_way = "        counts=True,\n"
    assert own_way in kinds.read_text()
    kinds.write_text(kinds.read_text().replace(own_way, ""))
    kernels, unrolls = ["shared_memory", "shuffle"], [1, 4]
    steps = [{"kernel": kernel, "unroll": unroll} for unroll in unrolls for kernel in kernels]
    axes = {"dtype": ["int32"], "operation": ["sum"], "array_size": [1000], "block_size": [64], "unroll": unrolls}
    reference = {"array_size": 1000, "block_size": 64, "dtype": "int32", "operation": "sum", "cache": "cold"}
    shrink(project, *kernels, axes=axes, steps=steps, reference=reference)
    metrics = project / "results/emulator/metrics.csv"
    monkeypatch.setenv("NCU_PLAYS", "no permission")
    monkeypatch.setenv("NCU_KERNEL", "shuffle")
    run = snakemake(project, str(metrics.relative_to(project)))
    assert run.returncode == 0, run.stdout
    assert ": warp_shuffle/shuffle, " in " ".join(run.stdout.split()) and "ERR_NVGPUCTRPERM" in run.stdout
    rows = read_rows(metrics)
    contract = "study kernel platform array_size block_size unroll dtype operation cache metric unit value source"
    assert list(rows[0])[:13] == contract.split()
    assert {row["kernel"] for row in rows if row["value"]} == {"shared_memory"}
    assert {(row["unroll"], row["source"]) for row in rows} == {("1", "ncu"), ("4", "ncu")}
    assert (project / "results/emulator/profiles/warp_shuffle/shared_memory/cold.ncu-rep").exists()

    # profile is false: the next run draws the existing counters and names missing ones, but keeps the file as it is.
    stamp = metrics.stat().st_mtime_ns
    run = snakemake(project, *(f"results/emulator/studies/warp_shuffle/{name}" for name in ("summary.md", "table.md")))
    assert run.returncode == 0, run.stdout
    assert "rule profile_kernel" not in run.stdout and metrics.stat().st_mtime_ns == stamp
    summary = (project / "results/emulator/studies/warp_shuffle/summary.md").read_text()
    assert "## Counters that are missing" in summary and "ERR_NVGPUCTRPERM" in summary
    table = (project / "results/emulator/studies/warp_shuffle/table.md").read_text()
    assert "### Hardware counters" in table and "shared load wavefronts" in table
    assert "ERR_NVGPUCTRPERM" in table, "the note says why shuffle has none"


# The real tool


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize(("study", "kernel", "settings", "counted"), [
    ("unrolling", "interleaved", {"dtype": "int32"}, 1),
    ("unrolling", "unrolled", {"dtype": "int32", "unroll": 8}, 1),
    ("stepwise", "completely_unrolled", {"dtype": "float32", "unroll": 2}, 2),
])  # fmt: skip
def test_the_real_tool_counts_what_the_kernel_must_load(
    tmp_path: Path, study: str, kernel: str, settings: dict[str, Any], counted: int
) -> None:
    found = find_tool("ncu")
    if found is None:
        pytest.skip(MISSING)
    source = shipped_study(study).kernels[kernel]
    asked = [point(2**20, 512, cache="cold", **settings), point(2**19, 512, cache="cold", **settings)]
    task, report = built(source, asked, tmp_path, "native")
    assert report["status"] == "ok", report["message"]
    metrics = [SHIPPED[name] for name in ("global_load_bytes", "global_load_sectors", "duration", "dram_bytes")]
    requests = [(each, instantiation(source, each)) for each in asked]
    task = replace(task, protocol=replace(task.protocol, sampling=None, repeated_runs=1))
    result = profile(found, asked_for(metrics), SETTINGS, Requests(task, requests, 60), tmp_path, tmp_path / "ncu.txt")
    if result.failure:
        pytest.skip(result.failure)
    rows = profile_rows(requests, result, metrics, source.name)
    assert {row["message"] for _, row in rows} == {""}
    assert len(result.answers[0].launches) == counted
    for size in (2**20, 2**19):
        loaded = float(values(rows, "global_load_bytes")[size])
        sectors = float(values(rows, "global_load_sectors")[size])
        # Each element once at least, and in the trees some of them again.
        assert 4 * size <= loaded <= 4 * size * 4
        assert loaded <= 32 * sectors
        assert float(values(rows, "duration")[size]) > 0
    large, small = (float(values(rows, "global_load_bytes")[size]) for size in (2**20, 2**19))
    assert large == pytest.approx(2 * small, rel=0.01), "each point has its own launches"
