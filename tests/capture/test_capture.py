"""`kernelsweep capture`: a program of ours (program.cpp), on stand-ins for the driver and CUPTI (driver.cpp)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT

from kernelsweep.base.compilers import gxx
from kernelsweep.capture.apply import Winner, in_pairs
from kernelsweep.capture.injection import cupti
from kernelsweep.capture.study_files import (
    Captured,
    array_of,
    make_anonymous,
    source_files,
    take_results,
    write_capture,
)
from kernelsweep.compile import nvcc
from kernelsweep.errors import UserError
from kernelsweep.project.command import capture
from kernelsweep.study.captured import captured, read_capture
from kernelsweep.study.study import read_study
from kernelsweep.sweep.sweep_kernel import sweep_kernel

HERE = Path(__file__).parent
# Of the commands, which may have their packages from the same variable as this process.
PYTHONPATH = os.pathsep.join(
    [str(ROOT / "workflow/scripts"), str(ROOT / "emulator"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
SIZES = (16, 1, 1, 64, 1, 1, 0)  # of its launches
PROGRAM = r"""
#include <cstdio>
int main()
{
    float *x, *y, first[1024], three = 3, sum;
    for (int i = 0; i < 1024; ++i) first[i] = i;
    cudaMalloc(&x, sizeof first), cudaMalloc(&y, sizeof first);
    cudaMemcpy(x, first, sizeof first, cudaMemcpyHostToDevice), cudaMemset(y, 0, sizeof first);
    cudaMemcpyToSymbol(scale, &three, 4);
    step<64><<<16, 64>>>(y, Field{x, 1000}, 0.5f);
    cudaMemcpy(first, y, sizeof first, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&sum, total, 4);
    std::printf("%g %g\n", first[10], sum);
    return 3;
}
"""
VARIABLES = ("scale", "total")  # of both programs' kernel
RIGHT = "22.5 1\n"  # what program.cpp prints

try:
    HEADERS, REASON = cupti()[0], ""
except UserError as error:
    HEADERS, REASON = [], str(error)
pytestmark = [pytest.mark.skipif(bool(REASON), reason=REASON), pytest.mark.xdist_group("capture")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program, the code that it loads, the source of its kernel, and a toolkit."""
    folder = tmp_path_factory.mktemp("capture")
    libraries = folder / "toolkit/lib64"
    libraries.mkdir(parents=True)
    (folder / "toolkit/include").symlink_to(HEADERS[0])
    include = [f"-I{one}" for one in HEADERS]
    driver = libraries / "libcuda.so.1"
    for command in (
        [
            "-shared",
            "-fPIC",
            *include,
            str(HERE / "driver.cpp"),
            f"-Wl,-soname,{driver.name}",
            "-o",
            str(driver),
            "-ldl",
        ],
        ["-shared", "-Wl,-soname,libcupti.so.13", "-x", "c++", os.devnull, "-o", str(libraries / "libcupti.so.13")],
        ["-rdynamic", *include, str(HERE / "program.cpp"), str(driver), "-o", str(folder / "program")],
        ["-c", "-ffunction-sections", str(HERE / "image.cpp"), "-o", str(folder / "code")],
    ):
        subprocess.run([*gxx(), "-std=c++17", *command], check=True)
    shutil.copy(HERE / "step.cu", folder)
    return folder


@pytest.fixture
def inside(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, in which the program of `place` can be captured."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_HOME", str(place / "toolkit"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(place / "toolkit/lib64"))
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    return place


@pytest.fixture
def run_capture(inside: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, int, str]]:
    """Gives the function that runs `kernelsweep capture` on the program: its output, status, and error output."""

    def run(*arguments: str) -> tuple[str, int, str]:
        status = capture([*arguments, "--", str(inside / "program"), str(inside / "code")])
        said = capfd.readouterr()
        return said.out, status, said.err

    return run


def test_kernels_are_listed_and_the_program_stays_as_it_is(inside: Path) -> None:
    command = [sys.executable, "-m", "kernelsweep.project.command", "capture", "--"]
    command += [str(inside / "program"), str(inside / "code")]
    run = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert (run.stdout, run.returncode) == (RIGHT, 3)
    assert "100.0%   0.004       2.00       2           16      64" in run.stderr
    assert "void step<64>(float*, Field, float)" in run.stderr
    assert not list(Path().iterdir())


def test_a_launch_becomes_a_study_whose_source_is_checked_on_the_emulator(
    inside: Path, run_capture: Callable[..., tuple[str, int, str]]
) -> None:
    source = str(inside / "step.cu")
    *ended, said = run_capture("heat", "--kernel", "step<64>", "--launch", "1,2", "--source", source)
    assert ended == [RIGHT, 3]
    assert "which had 100.0% of the time of all its kernels. It was not replayed" in said
    folder = Path("kernels/heat")
    assert (folder / "capture/.gitignore").read_text(encoding="utf-8") == "*\n"
    study = read_study("heat", Path.cwd())
    outcomes = sweep_kernel(study, "heat", Path("kept"))
    assert [(point["launch"], one.status) for point, one in outcomes.items()] == [(1, "ok"), (2, "ok")]
    # The second launch reads what the first one has left; a structure has an address inside of an array.
    inputs, _, reference, _, _ = captured(str(folder / "problem.py"))
    first, second = (reference(launch)["out"] for launch in (1, 2))
    np.testing.assert_array_equal(first[:1000], 1.5 * np.arange(1000, dtype=np.float32))
    np.testing.assert_array_equal(second[:1000], 1.5 * first[:1000])
    np.testing.assert_array_equal(second[1000:], np.arange(976, 1000, dtype=np.float32))
    assert inputs(1)["in_"]["in_0"] == 24 * 4
    assert inputs(1)["scale"].view(np.float32)[0] == 3  # as the program has set it
    assert reference(2)["total"].view(np.float32)[0] == 2 * 0.5  # which each launch changes
    # An edit that is wrong on the program's own data is found.
    (inside / "wrong.cu").write_text((inside / "step.cu").read_text(encoding="utf-8").replace("* factor", "/ factor"))
    (folder / "heat.cu").write_text(f'#include "{inside}/wrong.cu"\n', encoding="utf-8")
    outcomes = sweep_kernel(study, "heat", Path("kept"))
    assert {one.status for one in outcomes.values()} == {"wrong_result"}


@pytest.mark.parametrize(
    ("arguments", "variables", "told"),
    [
        pytest.param(["--kernel", "step"], {"IN_GRAPH": "1"}, "launches 'step' in a CUDA graph", id="graph"),
        pytest.param(
            ["--kernel", "other"], {}, "No kernel has 'other' in its name. The program's", id="no such kernel"
        ),
        pytest.param(["--kernel", "step", "--launch", "7"], {}, "launches of 'step': 2. --launch or", id="launch"),
        pytest.param(
            ["--kernel", "step", "--from", "60"], {}, "launches of 'step' after 60 s: 0. --launch or", id="too early"
        ),
        pytest.param(["--kernel", "step", "--most", "5KiB"], {}, "its buffers have 8192 bytes, and --most", id="most"),
        pytest.param(["--kernel", "step"], {"FAKE_REFUSES": "1"}, "CUPTI can't be asked", id="no permission"),
        pytest.param(
            ["--kernel", "step", "--anonymous"], {}, "there is no GPU. The results of random values", id="anonymous"
        ),
    ],
)
def test_the_program_ends_as_ever_where_nothing_can_be_captured(
    run_capture: Callable[..., tuple[str, int, str]],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    variables: dict[str, str],
    told: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    *ended, said = run_capture("heat", *arguments)
    assert ended == [RIGHT, 3]
    assert told in said
    assert not list(Path("config/studies").glob("*"))


@pytest.mark.nvcc
def test_a_line_table_names_the_source(tmp_path: Path) -> None:
    for name, text in (("step.cuh", (HERE / "step.cu").read_text(encoding="utf-8")), ("a.cu", PROGRAM)):
        (tmp_path / name).write_text(f'#include "step.cuh"\n{text}' if name == "a.cu" else text, encoding="utf-8")
    for options, found in (["-lineinfo"], [tmp_path / "step.cuh"]), ([], []):
        command = [nvcc.find(), "-arch=sm_90", "-cubin", *options, "-o", tmp_path / "a.cubin", tmp_path / "a.cu"]
        subprocess.run(command, check=True)
        assert source_files((tmp_path / "a.cubin").read_bytes()) == found


@pytest.mark.gpu
@pytest.mark.nvcc
def test_a_real_programs_launch_is_replayed_bit_by_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    (tmp_path / "program.cu").write_text((HERE / "step.cu").read_text(encoding="utf-8") + PROGRAM, encoding="utf-8")
    subprocess.run([nvcc.find(), "-arch=native", "-o", "program", "program.cu"], check=True)
    capture = [sys.executable, "-m", "kernelsweep.project.command", "capture", "heat", "--kernel", "step"]
    command = ["./program"]
    run = subprocess.run([*capture, "--", *command], capture_output=True, encoding="utf-8")
    assert (run.stdout, run.returncode) == ("15 0.5\n", 3), run.stderr
    assert "20 replays left the same bits." in run.stderr
    record = read_capture(Path("kernels/heat/capture")).record
    arrays = record["launches"]["1"]["arrays"]
    assert {name for name, one in arrays.items() if one["after"]} == {"p0", "total"}
    cubin = Path("kernels/heat/capture/kernel.cubin")
    answer, is_same = in_pairs(
        command, Winner(cubin, record["kernel"], record["kernel"], SIZES, SIZES, "itself", VARIABLES), 3
    )
    assert is_same and "in the place of 1 launches a run" in answer


def test_a_kernel_stands_in_the_place_of_another_in_whole_runs(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [str(inside / "program"), str(inside / "code")]
    winner = Winner(inside / "code", "faster", "_Z4stepILi64EEvPf5Fieldf", SIZES, SIZES, "an edit", VARIABLES)
    answer, is_same = in_pairs(command, winner, 3)
    assert is_same and "an edit in the place of 2 launches a run, in 3 pairs of runs:" in answer
    assert "Its output and exit status stay the same." in answer
    monkeypatch.setenv("WRONG", "1")
    answer, is_same = in_pairs(command, winner, 3)
    assert not is_same and "OTHER OUTPUT" in answer
    with pytest.raises(UserError, match="the program has launched none of that kernel and size"):
        in_pairs(command, replace(winner, sizes=(8, *SIZES[1:])), 3)
    with pytest.raises(UserError, match="the program's module has no variable table of its size"):
        in_pairs(command, replace(winner, variables=["table"]), 3)


def test_a_capture_that_git_has_not_brought_along_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="git ignores captures: repeat `kernelsweep capture`"):
        captured(str(tmp_path / "problem.py"))


def test_results_may_be_off_by_what_rounding_moves_them_where_the_launch_writes(tmp_path: Path) -> None:
    before = np.arange(3000, dtype=np.float32)
    after, moved = before.copy(), np.zeros(3000, np.float32)
    after[[7, 2048]] = 0.5
    moved[[7, 8]] = 1e-6
    launch, folder = Captured("k", "k(float*)", b"", {}), tmp_path / "capture"
    sizes = {"grid": [1], "block": [1], "shared": 0, "cluster": [], "cooperative": False, "parameters": []}
    arrays = {"p0": array_of(launch, "float32", before.tobytes(), after.tobytes())}
    launch.contents["moved"] = moved
    texts = dict.fromkeys(("program", "name", "kernel", "device", "arch"), "k")
    record = {**texts, "share": None, "launches": {"1": {**sizes, "arrays": arrays}}, "spread": {"1": {"p0": "moved"}}}
    write_capture(folder, launch, record, is_final=True)
    edited = json.loads((folder / "capture.json").read_text())
    assert (
        folder / "arrays.npz"
    ).stat().st_size < before.nbytes + moved.nbytes  # What is left as it was takes no room.
    _, _, reference, error_bound, _ = captured(str(tmp_path / "problem.py"))
    np.testing.assert_array_equal(reference(1)["p0"], after)
    bound = error_bound(1)["p0"]
    assert np.flatnonzero(bound).tolist() == [7, 2048]
    np.testing.assert_allclose(bound[[7, 2048]], [8e-6 + 2**-22, 2**-22], rtol=1e-6)
    del edited["launches"]["1"]["cluster"]
    (folder / "capture.json").write_text(json.dumps(edited))
    with pytest.raises(UserError, match=r"capture.json: launches.1.cluster: Field required"):
        read_capture(folder)


def test_an_anonymous_capture_has_random_values_of_the_same_range_and_their_results() -> None:
    before = np.array([3, -2, np.nan, 1, np.inf], np.float32)
    launch = Captured("k", "k(float*)", b"", {})
    launch.launches = {"1": {"arrays": {"p0": array_of(launch, "float32", before.tobytes(), (before + 1).tobytes())}}}
    make_anonymous(launch)
    array = launch.launches["1"]["arrays"]["p0"]
    drawn = launch.contents[array["before"]].view(np.float32)
    assert -2 <= drawn.min() < drawn.max() <= 3 and not set(drawn) & set(before)
    take_results(launch, {("1", "p0"): drawn + 1})
    after = launch.contents[array["before"]] + launch.contents[array["after"]]
    np.testing.assert_array_equal(after.view(np.float32), drawn + 1)
