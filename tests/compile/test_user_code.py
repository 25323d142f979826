"""Machine code that a Python file of the user's makes: its variants, and its mistakes in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from planted import built, run

from kernelsweep.compile.binaries import Report
from kernelsweep.errors import UserError
from kernelsweep.project.project import load_project
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import listed_points

PROBLEM = """
import numpy as np

def inputs(random, n):
    return {"x": random.integers(0, 9, n).astype(np.int32)}

def outputs(n):
    return {"y": (n, np.int32)}

def reference(x):
    return {"y": 3 * x}
"""
# Stands for a compiler of another language: it makes PTX, or with `form` a cubin.
BUILD = '''
import subprocess
import tempfile

SOURCE = """
extern "C" __global__ void times_%d(int *y, const int *x, int n)
{
    extern __shared__ int kept[];
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = at < n ? x[at] : 0;
    __syncthreads();
    if (at < n) y[at] = FACTOR * kept[threadIdx.x];
}
"""

def build(arch, block, form):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/x.cu", "w") as file:
            file.write(SOURCE % block)
        command = ["NVCC", f"-arch={arch}", f"-{form}", "-DFACTOR=3", "-o", f"{folder}/x", f"{folder}/x.cu"]
        subprocess.run(command, check=True)
        code = open(f"{folder}/x", "rb").read()
    return {"code": code, "entry": f"times_{block}", "shared": 4 * block}
'''
STUDY: dict[str, Any] = {
    "title": "Three times",
    "problem": "kernels/own/problem.py",
    "axes": {"n": [1000], "block": [32, 64], "form": ["ptx", "cubin"]},
    "kernels": [
        {
            "name": "times",
            "build": "times.py",
            "launches": [{"grid": "n / block", "block": "block", "arguments": ["y", "x", "n"]}],
        }
    ],
}


def written(folder: Path, build: str, study: dict[str, Any] = STUDY) -> tuple[KernelSource, list[Point]]:
    (folder / "config/studies").mkdir(parents=True, exist_ok=True)
    (folder / "config/studies/own.yaml").write_text(yaml.safe_dump(study))
    (folder / "kernels/own").mkdir(parents=True, exist_ok=True)
    (folder / "kernels/own/problem.py").write_text(PROBLEM)
    (folder / "kernels/own/times.py").write_text(build)
    project = load_project({"platform": "emulator", "profiling": {"metrics": []}}, folder)
    return project.kernel("own", "times"), list(listed_points(project.config, project.studies["own"], "times", "gpu"))


def with_nvcc(build: str) -> str:
    from kernelsweep.compile import nvcc

    return build.replace("NVCC", nvcc.find())


def report_of(folder: Path, build: str, **axes: list[Any]) -> Report:
    kernel, points = written(folder, build, {**STUDY, "axes": {**STUDY["axes"], **axes}})
    return built(kernel, points, folder, "sm_90")[1]


@pytest.mark.nvcc
def test_a_configurations_code_is_what_the_function_returns(tmp_path: Path) -> None:
    kernel, _ = written(tmp_path, BUILD)
    assert kernel.variant_axes == ["block", "form"]
    assert kernel.unsupported_on("emulator") == "only for a GPU: times.py makes GPU code"
    prints_at_exit = "import atexit\natexit.register(print, 'done')\n"
    variants = report_of(tmp_path, with_nvcc(prints_at_exit + BUILD), block=[32])["variants"]
    assert {name: one["dynamic_shared_bytes"] for name, one in variants.items()} == {
        f"times [block=32 form={form}]": 4 * 32 for form in ("cubin", "ptx")
    }
    ptx, cubin = variants["times [block=32 form=ptx]"], variants["times [block=32 form=cubin]"]
    same = ("symbol", "registers", "shared_bytes", "parameter_types")
    assert {key: ptx[key] for key in same} == {key: cubin[key] for key in same}
    assert ptx["symbol"] == "times_32" and ptx["parameter_types"] == ["?8", "?8", "?4"] and ptx["registers"] > 0


@pytest.mark.nvcc
@pytest.mark.parametrize(("old", "new", "message"), [
    ("-DFACTOR", "-DFACTORY", "build raises CalledProcessError at {'block': 32, 'form': 'ptx', 'arch': "),
    ('return {"code": code,', 'return {"cubin": code,', "It has to return {'code': ptx, 'entry': 'sums', 'shared': "),
    ('f"times_{block}", "shared"', '"times", "shared"', "its code has no kernel times; it has "),
    ("return {", "__import__('os')._exit(0); return {", "times.py: build ended with status 0"),
    ('return {"code": code,', 'return {"code": b"\\x7fELF" + bytes(99),', "its code begins as a cubin and is none"),
    ('"shared": 4 * block', '"shared": -5', "It has to return {'code': ptx"),
    ("return {", "__import__('signal').alarm(1); __import__('time').sleep(9); return {", "has not ended in 30 minutes"),
])  # fmt: skip
def test_a_mistake_costs_its_variants_a_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    report = report_of(tmp_path, with_nvcc(BUILD.replace(old, new)), block=[32], form=["ptx"])
    assert report["status"] == "build_failed" and message in report["message"], report


@pytest.mark.parametrize(("build", "message"), [
    ("def built(arch):\n    pass\n", "times.py has no function build, which would make the kernel's machine code"),
    ("def build(arch, blok):\n    pass\n", "build of times.py takes 'blok'; did you mean 'block'? Allowed"),
    ("def build(arch:\n", "times.py, line 1: "),
])  # fmt: skip
def test_a_file_that_can_make_nothing_is_refused(tmp_path: Path, build: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        written(tmp_path, build)
    assert message in str(error.value)


def test_points_are_skipped_where_a_package_is_missing(tmp_path: Path) -> None:
    kernel, _ = written(tmp_path, "import nowhere_to_be_found.parts\n\n\ndef build(arch):\n    pass\n")
    assert kernel.unsupported_on("sm_90") == "the package nowhere_to_be_found is not installed: times.py needs it"


@pytest.mark.gpu
def test_code_of_ones_own_runs_is_checked_and_timed(arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kernel, points = written(tmp_path, with_nvcc(BUILD))
    outcomes = run(kernel, points, tmp_path, arch).values()
    assert len(outcomes) == 8  # with a cold and a hot cache
    assert {(one.status, one.message, bool(one.samples)) for one in outcomes} == {("ok", "", True)}
    kernel, points = written(tmp_path, with_nvcc(BUILD).replace("FACTOR=3", "FACTOR=4"))
    assert {one.status for one in run(kernel, points, tmp_path, arch).values()} == {"wrong_result"}
