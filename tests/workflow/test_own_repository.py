"""Targets in a repository of one's own, after an edit: on the emulator, and on a GPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from checkout import ROOT
from workflow_runs import edit, snakemake

import kernelsweep as ks
from kernelsweep.project.new_study import start_study

# What `snakemake help` has for an edit and for what a study lacks, besides the study by its name.
COMMANDS = ["compare", "count", "profile", "sanitize", "header"]
NEED_A_GPU = {"profile", "sanitize", "header"}


@pytest.mark.parametrize("platform", ["emulator", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_every_command_runs_in_a_repository_of_ones_own(tmp_path: Path, platform: str) -> None:
    own = tmp_path / "own"
    shutil.copytree(ROOT / "examples/own-repository", own, ignore=shutil.ignore_patterns("results", ".snakemake"))
    edit(own / "Snakefile", "../../Snakefile", str(ROOT / "Snakefile"))
    config = ["--config", f"platform={platform}", "studies=[axpy]"]
    assert "did you mean 'axpy'?" in snakemake(own, "axpi", *config).stdout
    first = snakemake(own, "axpy", *config)
    assert first.returncode == 0, first.stdout
    if platform == "emulator":  # What was checked is a picture, and the way to times is the last line.
        page = (own / "results/emulator/studies/axpy/report.html").read_text()
        assert '<span class="drawing"' in page and ">requests of warps: " in page
    assert ("\n  Next  times need a GPU: uv run " in first.stdout) == (platform == "emulator")
    # The same result, by other machine code, which reads more.
    edit(own / "kernels/axpy/axpy.cu", "y[i] = ", "y[i] = 0.0f * x[n - 1 - i] + ")
    # All that need a GPU are refused in one way.
    for command in COMMANDS if platform == "gpu" else ("compare", "count", "profile"):
        # Of the run's study, no kernel was measured: an edit's verdict doesn't wait for it.
        settings = [*config[:2], "studies=[total]"] if command == "compare" else config
        run = snakemake(own, command, *settings, *(["compare={fail_on: slower}"] if platform == "emulator" else []))
        refused = platform == "emulator" and command in NEED_A_GPU
        reads_more = platform == "emulator" and command == "compare"
        assert run.returncode == (refused or reads_more) and "Traceback" not in run.stdout, (command, run.stdout)
        assert f"The target {command} needs " in run.stdout.splitlines()[-1] or not refused
        assert re.search(r"\naxpy/axpy uses \d+% of what it loads and \d+% of", run.stdout) or command != "count"
        assert "\nCounts rose: axpy/axpy (compare.fail_on is slower). See " in run.stdout or not reads_more
        if command == "compare":
            assert "kernel=axpy\n" in run.stdout and "kernel=axpy_vectors\n" not in run.stdout
            assert re.findall(r"rule draw_accesses:[^[]*study=(\w+)", run.stdout) == ["axpy"]
            assert re.search(r"\nNot compared, because never measured: \d+ of the kernels\.", run.stdout)
    (folder,) = (path for path in (own / "results").iterdir() if (path / "comparison").is_dir())
    comparison = json.loads((folder / "comparison/comparison.json").read_text())
    assert comparison["failed"] == {} and comparison["proven"].startswith("2 of 2 kernels")
    if platform == "gpu":
        sizes = {f"n={n}" for n in (2**20, 2**24, 2**28)}
        assert set(comparison["kernels"]["axpy/axpy"]["sizes"]) == sizes, (
            "compared at each size of the study's own axis"
        )
        return
    edit(own / "kernels/axpy/axpy.cu", "0.0f * x", "nonsense * x")
    run = snakemake(own, "build", *config)
    assert run.returncode == 1 and "Compiled (emulator): 1 of 2 kernels." in run.stdout
    assert "error: 'nonsense' was not declared" in run.stdout.rpartition("axpy/axpy does not compile (emulator):")[2]


def test_the_installed_command_ends_in_a_sentence_before_a_rule_is_read(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "kernelsweep.project.command", *arguments]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        return run.returncode, run.stdout + run.stderr

    status, words = run("-n", "--configfile", "binary.yaml")
    assert status and "  File " not in words
    assert "binary.yaml can't be read: " in words, words
    release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert ks.__version__ == release
    assert run("--version") == (0, f"kernelsweep {release}, with Snakemake {version('snakemake')}\n")


def test_a_new_study_names_the_first_kernel_of_a_file_and_its_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fan.cu").write_text(
        "__global__ void Fan1(float *m, const int64_t *at, const uint8_t *bits, size_t stride, int Size,\n"
        "    cudaTextureObject_t image, const __grid_constant__ CUtensorMap tiles, const Place *places) {}\n"
        "__global__ void Fan2(float *m) {}\n",
        encoding="utf-8",
    )
    told = start_study(["gaussian", "fan.cu"])
    assert "Its other kernels: Fan2. Not guessed, as structures are not: `const Place *places`. In NumPy: np.a" in told
    assert Path("kernels/gaussian/gaussian.cu").read_text("utf-8") == '#include "../../fan.cu"\n'
    (launch,) = yaml.safe_load(Path("config/studies/gaussian.yaml").read_text("utf-8"))["kernels"][0]["launches"]
    made = ["texture(image)", "tensor_map(tiles, 64)", "places"]
    assert (launch["kernel"], launch["arguments"]) == ("Fan1", ["m", "at", "bits", "stride", "Size", *made])
    found = Path("kernels/gaussian/problem.py").read_text("utf-8")
    assert "astype(np.int64)" in found and "astype(np.uint8)" in found and '"m": (stride, np.float32)' in found
    assert "def reference(at, bits, image, tiles, places)" in found
    Path("own.cu").write_text(
        "#define SIDE 16\n__global__ void own(int *y, int n) { y[n * SIDE + threadIdx.x] = 1; }\n"
        "void host(int *y, int n) { own<<<1, SIDE>>>(y, n); }\n",
        "utf-8",
    )
    start_study(["own", "own.cu"])
    assert "        block: [16]\n" in Path("config/studies/own.yaml").read_text("utf-8")


def test_a_new_study_varies_no_block_on_which_the_kernel_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiles.cu").write_text(
        "template <int TILE, bool whole> __global__ void tiles(int *y, int n) { y[threadIdx.x] = TILE; }"
        "\n__global__ void blocks(int *y, int n) { y[blockIdx.x * 128 + threadIdx.x] = 1; }\n"
        "void host(int *y, int n) { tiles<32, true><<<n / 32, dim3(32, 1)>>>(y, n); blocks<<<n / 128, 128>>>(y, n); }",
        "utf-8",
    )
    start_study(["tiles", "tiles.cu"])
    start_study(["blocks", "tiles.cu"])
    text = Path("config/studies/tiles.yaml").read_text("utf-8")
    assert "  TILE: [32] # block and grid do not follow TILE\n  whole: [1]\n" in text
    assert "        block: [128]\n" in Path("config/studies/blocks.yaml").read_text("utf-8")


def test_a_new_study_has_the_files_own_block_and_the_variables_that_the_host_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taps.cu").write_text(
        "#define TAPS 3\nconstexpr unsigned THREADS = 128;\n"
        "__constant__ float taps[2 * TAPS];\n__constant__ int unused[4];\n"
        "__device__ unsigned int sums[TAPS][4];\n__device__ int own;\n"
        "__global__ void filter(float *y, Shape shape, int n) {\n"
        "    const int i = blockIdx.x * 4 * 32 + threadIdx.x;\n"
        "    if (i < n) y[i] = taps[i % 6]; else atomicAdd(&sums[0][own], 1);\n}\n"
        "__global__ void nothing() {}\n"
        "void host(float *y, Shape shape, int n) {\n    dim3 block(THREADS);\n"
        "    cudaMemcpyFromSymbol(y, sums, 48);\n    filter<<<(n + 127) / 128, block>>>(y, shape, n);\n}\n",
        "utf-8",
    )
    start_study(["taps", "taps.cu"])
    text = Path("config/studies/taps.yaml").read_text("utf-8")
    study, problem = yaml.safe_load(text), Path("kernels/taps/problem.py").read_text("utf-8")
    (kernel,) = study["kernels"]
    assert study["axes"]["block"] == [128] and "$schema" not in text
    assert (kernel["constants"], kernel["variables"]) == (["taps"], ["sums"])
    assert '"taps": random.standard_normal(6, np.float32),' in problem and '"shape": None,' in problem
    assert '"sums": (3 * 4, np.uint32),' in problem and "def reference(taps, sums)" in problem
    start_study(["nothing", "taps.cu"])
    assert "the right results here" in Path("kernels/nothing/problem.py").read_text("utf-8")
