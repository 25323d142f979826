"""What a kept result depends on: edits, each with whether the point's measurement runs again after it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import emulator_units
import numpy as np
import pytest
import yaml
from checkout import ROOT
from planted import built, planted_kernel, point

from kernelsweep.base import made_from
from kernelsweep.compile.build import Source, gpu_source
from kernelsweep.compile.builder import Builder
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.sampling import Sampling
from kernelsweep.device.task import BuiltKernel, KernelTask, Protocol
from kernelsweep.errors import UserError
from kernelsweep.project import building, inputs, plan
from kernelsweep.project.project import load_project
from kernelsweep.study.kernel_sweep import instantiation, units
from kernelsweep.study.kernels import source
from kernelsweep.study.resolve import listed_points
from kernelsweep.sweep.identity import LEFT_OUT, identities, identity_sha256

STUDY = {
    "title": "Scaled",
    "problem": "kernels/own/problem.py",
    "data": ["kernels/own/weights.npy"],
    "axes": {"n": [256], "block": [64], "factor": [2]},
    "kernels": [
        {
            "name": "scaled",
            "macros": ["factor"],
            "constants": ["offset"],
            "options": [],
            "launches": [
                {"kernel": "scaled", "grid": "n / block", "block": "block", "shared": 0, "arguments": ["y", "x", "n"]}
            ],
        }
    ],
}
PROBLEM = '''\
"""y = 2 x + offset."""
import numpy as np

from helpers import BOUND


def inputs(random, n):
    weights = np.load(__file__.replace("problem.py", "weights.npy"))
    return {"x": random.random(n, np.float32) * weights[0], "offset": np.ones(1, np.float32)}


def outputs(n):
    return {"y": ((n,), np.float32)}


def reference(x):
    return {"y": 2.0 * x + 1}


def error_bound(x):
    return {"y": BOUND}
'''
KERNEL = """\
// y = 2 x + offset.
#include "shared.cuh"
#define TABLE "table.inc"
#include TABLE
#ifdef FOUND
#include <found.h>
#endif

__constant__ float offset[1];
__device__ int steps[4] = {0, STEP, 2, 3};

__global__ void scaled(float *y, const float *x, int n) {
    __shared__ float kept[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = factor * kept[threadIdx.x] + offset[0] + 0 * steps[i % 4];
#ifdef ADDED
    if (i < n) y[i] += ADDED;
#endif
}

__global__ void other(float *y) { y[0] = 1; }
"""
Edit = Callable[["Repository"], Any]
DEVICE = {"name": "a GPU", "multiprocessors": 132, "driver": "1", "power_limit_w": 700.0, "clock_limit_mhz": 1980}
PROTOCOL = Protocol(Sampling(0.005, 1.0, 10, 100, 1.0), visits=3, repeated_runs=2, seed=1, second_input=True)


@dataclass
class Repository:
    """A user's repository, its point's identity, and the parameters and files of the jobs that build and measure it."""

    root: Path
    target: str
    monkeypatch: pytest.MonkeyPatch
    study: dict[str, Any] = field(default_factory=lambda: yaml.safe_load(yaml.safe_dump(STUDY)))
    config: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=lambda: dict(DEVICE))
    protocol: Protocol = PROTOCOL

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / "kernels/own" / name).read_text(encoding="utf-8")
        assert old in text
        self.write(f"kernels/own/{name}", text.replace(old, new, 1))

    def older(self, edit: Edit, name: str) -> None:
        """Put a file in a file's place that was written last year, as `mv`, `cp -p` and `tar x` do."""
        edit(self)
        os.utime(self.root / "kernels/own" / name, (1.7e9, 1.7e9))

    def launch(self, **values: Any) -> None:
        self.study["kernels"][0]["launches"][0] |= values

    def environment(self, name: str, value: str) -> None:
        self.monkeypatch.setenv(name, value.format(root=self.root))

    def state(self) -> tuple[str, str]:
        """The identity's hash, and the hashes of what the job is made from."""
        self.monkeypatch.chdir(self.root)
        self.write("config/studies/own.yaml", yaml.safe_dump(self.study, sort_keys=False))
        metrics = yaml.safe_load((ROOT / "config/metrics.yaml").read_text())
        project = load_project({**metrics, "platform": "emulator", **self.config}, self.root)
        kernel = project.kernel("own", "scaled")
        points = listed_points(project.config, project.studies["own"], "scaled", "emulator")
        assert points is not None
        file, variant = kernel.path.relative_to(self.root), instantiation(kernel, points[0])
        folders = ["kernels/include", str(ROOT / "kernels/include")]
        of_kernel = gpu_source(file, kernel, folders)
        if self.target == "emulator":
            emulator, runtime = ROOT / "emulator/cpp", emulator_units.runtime()
            of_kernel = Source(file, of_kernel.include, emulator, runtime, of_kernel.options, of_kernel.constants)
        with Builder(of_kernel, self.target, UnitStore(emulator_units.UNITS), 1) as builder:
            builder.offer(units(kernel, [points[0]]))
            report = {**builder.report(), "variants": builder.wait(variant).variants}
        task = BuiltKernel(kernel, report, Path("a.bin")).task("a platform", self.protocol)
        binary = report["variants"][variant]["binary_sha256"]
        identity = identities(task, self.device)(points[0], binary, 0)
        given = {
            "kernel": plan.kernel_settings(project, "own", "scaled"),
            "sweep": plan.sweep(project, "emulator", "own", "scaled"),
            "build": building.build_settings(project, "own", "scaled", self.target),
            "measuring": asdict(self.protocol),
            "device": self.device,
        }
        read = [inputs.kernel_file(project, "own", "scaled"), *inputs.included(project, "own", "scaled")]
        job = made_from.sources_of(given, [*read, *inputs.problem_files(project, "own")])
        return identity_sha256(identity), json.dumps(job)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository on the emulator."""
    for name in ("CPATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    made = Repository(tmp_path / "repository", "emulator", monkeypatch)
    made.write("kernels/own/problem.py", PROBLEM)
    made.write("kernels/own/helpers.py", "BOUND = 1e-5\n")
    made.write("kernels/own/scaled.cu", KERNEL)
    made.write("kernels/include/shared.cuh", '#pragma once\n#include "step.cuh"\n')
    made.write("kernels/include/step.cuh", "#pragma once\n#define STEP 1\n")
    made.write("kernels/own/table.inc", "#define EVERY 1\n")
    np.save(made.root / "kernels/own/weights.npy", np.ones(1, np.float32))
    return made


# On the emulator or on any platform: what the edit is, the edit, and whether the point runs again.
EDITS: Mapping[str, tuple[Edit, bool]] = {
    "kernel: its code": (lambda r: r.edit("scaled.cu", "+ offset[0]", "+ 2 * offset[0]"), True),
    "kernel: a table's value": (lambda r: r.edit("scaled.cu", "2, 3}", "2, 4}"), True),
    "kernel: a header's code, included by a header": (
        lambda r: r.write("kernels/include/step.cuh", "#pragma once\n#define STEP 2\n"),
        True,
    ),
    "kernel: the constants that the host sets": (
        lambda r: (r.study["kernels"][0].update(constants=[]), r.edit("scaled.cu", "offset[1]", "offset[1] = {1}")),
        True,
    ),
    "kernel: a comment": (lambda r: r.edit("scaled.cu", "__syncthreads();", "__syncthreads();  // all"), False),
    "launch: more blocks": (lambda r: r.launch(grid="2 * n / block"), True),
    "launch: cooperative": (lambda r: r.launch(cooperative=True), True),
    "launch: another expression for the same blocks": (lambda r: r.launch(grid="2 * ceil(n / block)"), False),
    "problem: its code": (lambda r: r.edit("problem.py", "2.0 * x + 1", "2.0 * x + 1.5"), True),
    "problem: a comment": (lambda r: r.edit("problem.py", "import numpy", "# Arrays.\nimport numpy"), False),
    "problem: a module beside it": (lambda r: r.write("kernels/own/helpers.py", "BOUND = 1e-6\n"), True),
    "problem: data": (lambda r: np.save(r.root / "kernels/own/weights.npy", np.full(1, 2, np.float32)), True),
    "problem: its code, older": (
        lambda r: r.older(lambda r: r.edit("problem.py", "2.0 * x + 1.5", "2.0 * x + 1.7"), "problem.py"),
        True,
    ),
    "problem: a module beside it, older": (
        lambda r: r.older(lambda r: r.write("kernels/own/helpers.py", "BOUND = 1e-7\n"), "helpers.py"),
        True,
    ),
    "problem: data, older": (
        lambda r: r.older(lambda r: np.save(r.root / "kernels/own/weights.npy", np.ones(1, np.float32)), "weights.npy"),
        True,
    ),
    "compiler: an option in CXX": (lambda r: r.environment("CXX", "g++ -DADDED=1"), True),
    "compiler: a macro of the kernel": (lambda r: r.study["kernels"][0].update(options=["-DADDED=2"]), True),
    "sweep: a further value of an axis": (lambda r: r.study["axes"].update(n=[256, 512]), False),
    "protocol: the seed": (lambda r: setattr(r, "protocol", replace(r.protocol, seed=2)), True),
    "protocol: no second input": (lambda r: setattr(r, "protocol", replace(r.protocol, second_input=False)), True),
    "protocol: more visits": (lambda r: setattr(r, "protocol", replace(r.protocol, visits=5)), False),
    "device: the driver": (lambda r: r.device.update(driver="2"), True),
    "device: what is newly told of it": (lambda r: r.device.update(ecc=True), True),
    "device: the words on its origin": (lambda r: r.device.update(provenance="measured on a GPU"), False),
    "the repository's folder": (lambda r: move(r), False),
}

# Made before the first look, and then an edit as above: a repository that is different from the start.
PREPARED: Mapping[str, tuple[Edit, Edit]] = {
    "header behind a macro": (
        lambda r: None,
        lambda r: r.write(
            "kernels/own/table.inc", "#define EVERY 1\n#define ADDED more[8]\n__constant__ int more[9];\n"
        ),
    ),
    "header behind a line that goes on": (
        lambda r: (
            r.write("kernels/own/sub/found.h", "__constant__ int found[1];\n#define ADDED found[0]\n"),
            r.edit("scaled.cu", "#include TABLE\n#ifdef FOUND", '#\\\ninclude "sub/found.h"\n#if 0'),
        ),
        lambda r: r.write("kernels/own/sub/found.h", "__constant__ int found[2];\n#define ADDED found[1]\n"),
    ),
    "header in a folder of CPATH": (
        lambda r: (
            r.write("elsewhere/found.h", "__constant__ int found[1];\n#define ADDED found[0]\n"),
            r.edit("scaled.cu", "#ifdef FOUND", "#if 1"),
            r.environment("CPATH", "{root}/elsewhere"),
        ),
        lambda r: r.write("elsewhere/found.h", "__constant__ int found[2];\n#define ADDED found[1]\n"),
    ),
    "header in /usr/local/include": (
        lambda r: (
            r.write("local/found.h", "__constant__ int found[1];\n#define ADDED found[0]\n"),
            r.edit("scaled.cu", "#ifdef FOUND", "#if 1"),
            r.environment("CXX", "g++ -idirafter {root}/local"),
            r.monkeypatch.setattr(source, "_LOCAL", r.root / "local"),
        ),
        lambda r: r.write("local/found.h", "__constant__ int found[2];\n#define ADDED found[1]\n"),
    ),
    "import by importlib": (
        lambda r: r.edit(
            "problem.py",
            "from helpers import BOUND",
            'import importlib\n\nBOUND = importlib.import_module("helpers").BOUND',
        ),
        lambda r: r.write("kernels/own/helpers.py", "BOUND = 1e-6\n"),
    ),
    "import from PYTHONPATH": (
        lambda r: (
            r.monkeypatch.syspath_prepend(r.root / "elsewhere"),
            r.write("elsewhere/bounds/__init__.py", ""),
            r.write("elsewhere/bounds/small.py", "BOUND = 1e-5\n"),
            r.edit("problem.py", "from helpers import BOUND", "from bounds.small import BOUND"),
        ),
        lambda r: r.write("elsewhere/bounds/small.py", "BOUND = 1e-6\n"),
    ),
}

# What only a GPU's machine code has.
ON_GPU: Mapping[str, tuple[Edit, bool]] = {
    "an option of nvcc": (lambda r: r.study["kernels"][0].update(options=["--maxrregcount=16"]), True),
    "NVCC_APPEND_FLAGS": (lambda r: r.environment("NVCC_APPEND_FLAGS", "-fmad=false"), True),
    "__launch_bounds__": (lambda r: r.edit("scaled.cu", "void scaled", "void __launch_bounds__(64) scaled"), True),
    "__cluster_dims__": (lambda r: r.edit("scaled.cu", "void __l", "void __cluster_dims__(2, 1, 1) __l"), True),
    "a variable that is not nvcc's": (lambda r: r.environment("WINDOWID", "7"), False),
    "a moved line": (lambda r: r.edit("scaled.cu", "__constant__", "\n\n__constant__"), False),
    "another kernel of the file": (lambda r: r.edit("scaled.cu", "y[0] = 1;", "y[0] = 2;"), False),
}


def move(repository: Repository) -> None:
    """Move the repository to a folder of another name."""
    elsewhere = repository.root.with_name("moved")
    shutil.move(repository.root, elsewhere)
    repository.root = elsewhere


@pytest.mark.parametrize(
    ("target", "edits"), [("emulator", EDITS), pytest.param("sm_90", ON_GPU, marks=pytest.mark.nvcc)]
)
def test_an_edit_runs_a_point_again_or_does_not(
    repository: Repository, target: str, edits: Mapping[str, tuple[Edit, bool]]
) -> None:
    # One edit after another, each on the repository as the one before left it.
    repository.target = target
    before = repository.state()
    for name, (edit, runs_again) in edits.items():
        edit(repository)
        identity, job = repository.state()
        assert (identity != before[0]) == runs_again, name
        assert job != before[1] or not runs_again, f"the job would not run after another {name}"
        before = identity, job


@pytest.mark.parametrize("name", PREPARED)
def test_an_edit_of_a_file_that_is_read_in_an_unusual_way_runs_a_point_again(repository: Repository, name: str) -> None:
    prepare, edit = PREPARED[name]
    prepare(repository)
    before = repository.state()
    assert repository.state() == before
    edit(repository)
    identity, job = repository.state()
    assert identity != before[0] and job != before[1]


@pytest.mark.skipif(
    not os.access("/usr/src", os.W_OK), reason="/usr/src, where Docker has /usr/src/app, is not writable"
)
def test_files_below_usr_count_but_for_the_compilers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/usr/src") as folder:
        kernel, header = Path(folder, "kernel.cu"), Path(folder, "more/header.h")
        header.parent.mkdir()
        header.write_text('#include "../nearby.h"\n#include <stddef.h>\n', encoding="utf-8")
        Path(folder, "nearby.h").touch()
        kernel.write_text("#include <stdio.h>\n#include <header.h>\n", encoding="utf-8")
        monkeypatch.setenv("CPATH", f"/usr/include:{header.parent}")
        assert source.included_files(kernel, []) == [header, Path(folder, "nearby.h")]


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ("weights[0], ", 'np.loadtxt(__file__.replace("problem.py", "more.txt")), ', "data: [kernels/own/more.txt]"),
        ("    return {", "    exec(open(__file__.replace('problem.py', 'late.py')).read())\n    return {", "Import it"),
        (
            "    return {",
            "    import ctypes; ctypes.CDLL('kernels/own/more.so')\n    return {",
            "data: [kernels/own/more.so]",
        ),
    ],
)
def test_a_file_that_the_study_does_not_name_is_refused_when_it_is_opened(
    repository: Repository, old: str, new: str, remedy: str
) -> None:
    repository.write("kernels/own/more.txt", "1\n")
    repository.write("kernels/own/late.py", "pass\n")
    library = repository.root / "kernels/own/more.so"
    subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", str(library)], check=True)
    repository.edit("problem.py", old, new)
    repository.state()
    project = load_project(
        {**yaml.safe_load((ROOT / "config/metrics.yaml").read_text()), "platform": "emulator"}, repository.root
    )
    with pytest.raises(UserError, match=r"problem\.py: inputs opens kernels/own/(more|late)") as refused:
        project.studies["own"].problem.instance("scaled", {"n": 256, "block": 64, "factor": 2}, 0)
    assert remedy in str(refused.value)


def test_every_field_of_a_task_belongs_to_the_identity_or_is_left_out_with_a_reason(tmp_path: Path) -> None:
    task, _ = built(planted_kernel(tmp_path), [point(64)], tmp_path)

    def identity(changed: KernelTask) -> str:
        return identity_sha256(identities(changed, DEVICE)(point(64), "a hash", 0))

    before = identity(task)
    moved = {**task.launches, "place": "elsewhere"}
    changes: dict[str, Any] = {"problem": {**task.problem, "more": 1}, "launches": moved, "variants": {}}
    for each in fields(KernelTask):
        value = getattr(task, each.name)
        if each.name != "protocol":
            other = changes.get(each.name, f"{value} + 1" if isinstance(value, str) else 7)
            assert (identity(replace(task, **{each.name: other})) == before) == (f"task.{each.name}" in LEFT_OUT)
    for each in fields(Protocol):
        protocol = replace(task.protocol, **{each.name: 7})
        assert (identity(replace(task, protocol=protocol)) == before) == (f"protocol.{each.name}" in LEFT_OUT)
