"""Whole runs on the emulator, as a newcomer types them: the files they leave behind, and how they end."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest
from workflow_runs import shrink, snakemake

CONTRACT_COLUMNS = (
    "study,kernel,platform,device,array_size,block_size,unroll,dtype,operation,cache,launches,grid_size,status,message,"
    "samples,time_us,time_low_us,time_high_us,noise,bandwidth_gbs,peak_fraction,clock_mhz,flags,source_sha256,"
    "binary_sha256"
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def csv_files(results: Path) -> dict[str, bytes]:
    return {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob("*.csv"))}


def test_a_run_without_a_gpu_leaves_every_result_and_repeats_byte_for_byte(project: Path, tmp_path: Path) -> None:
    shrink(project, ["warp_shuffle"])
    again = tmp_path / "elsewhere"
    shutil.copytree(project, again)
    run = snakemake(project, "all")
    assert run.returncode == 0, run.stdout
    assert "Every point that was run is right." in run.stdout

    results = project / "results/emulator"
    measurements = results / "measurements.csv"
    assert measurements.read_text().splitlines()[0].startswith(CONTRACT_COLUMNS)  # More may follow.
    found = rows(measurements)
    assert {row["status"] for row in found} == {"ok"}
    assert {row["time_us"] + row["bandwidth_gbs"] for row in found} == {""}, "emulated time is not time"
    for name in ("table.md", "table.csv", "table.tex", "figures/correctness.svg", "figures/correctness.pdf"):
        assert (results / "studies/warp_shuffle" / name).stat().st_size > 0
    environment = json.loads((results / "environment.json").read_text())
    assert environment["configuration"]["config"]["platform"] == "emulator"
    assert environment["compilers"][0].startswith("g++")
    builds = rows(results / "builds.csv")
    assert {(row["target"], row["status"]) for row in builds} == {("emulator", "ok")}

    run = snakemake(again, "results/emulator/measurements.csv", "results/emulator/builds.csv")
    assert run.returncode == 0, run.stdout
    repeated = csv_files(again / "results/emulator")
    assert {"measurements.csv", "builds.csv"} <= set(repeated)
    first = csv_files(results)
    assert repeated == {name: first[name] for name in repeated}


def test_a_wrong_kernel_is_named_and_costs_no_other_kernel_its_results(project: Path) -> None:
    shrink(project, ["warp_shuffle"])
    kernel = project / "kernels/warp_shuffle/shared_memory.cu"
    kernel.write_text(kernel.read_text().replace("= shared[0]", "= shared[1]"))
    run = snakemake(project, "all")
    assert run.returncode != 0
    assert "points failed, of warp_shuffle/shared_memory" in run.stdout.rstrip().splitlines()[-1]
    assert "Exception" not in run.stdout
    found = rows(project / "results/emulator/measurements.csv")
    assert {row["kernel"] for row in found if row["status"] == "wrong_result"} == {"shared_memory"}
    assert {row["status"] for row in found if row["kernel"] != "shared_memory"} == {"ok"}
    assert all("expected" in row["message"] for row in found if row["status"] == "wrong_result")
    assert (project / "results/emulator/studies/warp_shuffle/figures/correctness.png").exists()
    page = (project / "results/emulator/report.html").read_text()
    assert "<strong>wrong_result</strong>" in page and "Every point that was run is right" not in page

    # Mended, the same command runs nothing of the kernels that were right; but rows that were lost fail it.
    kernel.write_text(kernel.read_text().replace("shared[1]", "shared[0]"))
    points = project / "results/emulator/points/warp_shuffle/shuffle.csv"
    header, *lines = points.read_text().splitlines(keepends=True)
    points.write_text("".join([header, *lines[:-1]]))
    run = snakemake(project, "all")
    assert run.returncode != 0
    counted = f"has {len(lines) - 1} rows of this kernel; {len(lines)} are planned. Delete"
    assert f"{points.relative_to(project)} {counted}" in run.stdout
    assert "kernel=shared_memory" in run.stdout and "kernel=shuffle" not in run.stdout
    points.unlink()
    run = snakemake(project, "all")
    assert run.returncode == 0, run.stdout


def test_a_kernel_that_does_not_compile_shows_the_compilers_message(project: Path) -> None:
    shrink(project, ["warp_shuffle"])
    kernel = project / "kernels/warp_shuffle/shuffle.cu"
    kernel.write_text(kernel.read_text().replace("constexpr unsigned warps", "constexpr unsinged warps"))
    run = snakemake(project, "all", "--keep-going")
    assert run.returncode != 0
    assert "unsinged" in run.stdout and "shuffle.cu" in run.stdout
    found = rows(project / "results/emulator/measurements.csv")
    assert {(row["kernel"], row["status"]) for row in found} == {
        ("global_memory", "ok"),
        ("shared_memory", "ok"),
        ("shuffle", "build_failed"),
    }


def test_without_a_compiler_the_error_says_what_to_install(project: Path, tmp_path: Path) -> None:
    shrink(project, ["warp_shuffle"])
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "git", "which"):  # All that Snakemake and its plugins need.
        if path := shutil.which(tool):
            (tools / tool).symlink_to(path)
    environment = {name: value for name, value in os.environ.items() if name != "CXX"} | {"PATH": str(tools)}
    run = snakemake(project, "all", environment=environment)
    assert run.returncode != 0
    assert "g++ was not found" in run.stdout
    assert "Traceback" not in run.stdout


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("sweep=ful", "sweep is 'ful'; did you mean 'full'? Allowed: quick, full."),
        ("swep=quick", "unknown key 'swep'; did you mean 'sweep'?"),
        ("studies=[unroling]", "studies names 'unroling'; did you mean 'unrolling'?"),
        ("platform=recording/nvidia-h100", "there is no recording 'nvidia-h100'"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_readable_error(project: Path, setting: str, expected: str) -> None:
    run = snakemake(project, "all", "--config", setting)
    assert run.returncode != 0
    assert expected in run.stdout
    assert "Traceback" not in run.stdout
    assert not (project / "results").exists()


def test_a_recording_is_drawn_like_a_live_run_and_the_documents_show_it(project: Path, root: Path) -> None:
    copies = [f"docs/nvidia-h200/{name}" for name in ("unrolling_ladder.svg", "unrolling_table.md", "claims.md")]
    for copy in copies:
        (project / copy).unlink()
    drawn = ("unrolling", "exchanges", *copies, "--config", "platform=recording/nvidia-h200")
    run = snakemake(project, *drawn)
    assert run.returncode == 0, run.stdout
    results = project / "results/recording/nvidia-h200"
    found = rows(results / "measurements.csv")
    assert {row["status"] for row in found} == {"ok", "skipped"}
    on_the_host = {row["device"] for row in found if row["kernel"].startswith("cpu_")}
    assert {row["device"] for row in found} == {"NVIDIA H200", *on_the_host}
    assert on_the_host and all("Xeon" in name for name in on_the_host)
    figures = {"unrolling": ("ladder", "bandwidth", "block_unroll", "error", "correctness"), "exchanges": ("lanes",)}
    for study, names in figures.items():
        folder = results / "studies" / study
        assert "ecorded on NVIDIA H200 on 20" in (folder / "table.md").read_text()
        for figure in names:
            for extension in ("svg", "png", "pdf"):
                assert (folder / f"figures/{figure}.{extension}").stat().st_size > 0
    # The README's figure and table equal the recording's to the byte, and so does the page of claims.
    assert all((project / copy).read_bytes() == (root / copy).read_bytes() for copy in copies)
    unrolling = results / "studies/unrolling"
    # One study alone is judged, too, and gets its best configurations.
    assert {row["study"] for row in rows(unrolling / "claims.csv")} == {"unrolling"}
    assert {entry["study"] for entry in json.loads((unrolling / "best.json").read_text())["entries"]} == {"unrolling"}

    # Pins: an input function asked about a recording's binaries, whose error Snakemake printed on every rerun.
    run = snakemake(project, *drawn)
    assert "Nothing to be done" in run.stdout
    assert "Exception" not in run.stdout and "Traceback" not in run.stdout


def test_the_recording_is_small_and_complete(root: Path) -> None:
    folder = root / "resources/recordings/nvidia-h200"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 2_000_000
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["device"]["name"] == "NVIDIA H200"
    assert environment["git_revision"]
    assert {"pycuda", "snakemake", "numpy"} <= environment["packages"].keys()


@pytest.mark.nvcc
def test_building_away_from_the_gpu_for_an_architecture(project: Path) -> None:
    run = snakemake(project, "build", "--config", "arch=sm_90", "studies=[warp_shuffle]")
    assert run.returncode == 0, run.stdout
    report = json.loads((project / "results/build/sm_90/warp_shuffle/shuffle.json").read_text())
    assert report["target"] == "sm_90"
    assert report["variants"]["shuffle<int, Sum, 256u, 4u>"]["registers"] > 0


def test_a_study_of_ones_own_needs_a_title_and_kernels_only_and_may_restrict_its_points(project: Path) -> None:
    shrink(project, ["warp_shuffle"])
    (project / "kernels/mine").mkdir()
    source = (project / "kernels/warp_shuffle/shuffle.cu").read_text()
    (project / "kernels/mine/shuffle.cu").write_text(source)
    (project / "config/studies/mine.yaml").write_text(
        "title: Mine\nkernels:\n  - {name: shuffle, axes: {unroll: [4], block_size: [64, 256]}}\n"
    )
    config = project / "config/config.yaml"
    restriction = "block_size * unroll <= array_size"
    config.write_text(config.read_text().replace("restrictions: []", f'restrictions: ["{restriction}"]'))
    run = snakemake(project, "mine")
    assert run.returncode == 0, run.stdout
    (row,) = rows(project / "results/emulator/studies/mine/table.csv")
    assert (row["kernel"], row["unroll"], row["points_right"]) == ("shuffle", "4", "1")
    # The excluded points have rows with the reason.
    points = {
        (row["array_size"], row["block_size"]): (row["status"], row["message"])
        for row in rows(project / "results/emulator/points/mine/shuffle.csv")
    }
    excluded = ("skipped", f"restriction: {restriction}")
    assert points == {
        ("1", "64"): excluded,
        ("1", "256"): excluded,
        ("1000", "64"): ("ok", ""),
        ("1000", "256"): excluded,
    }
