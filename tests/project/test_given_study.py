"""A study as a Python object: `ks.check()` and `ks.Study`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT

import kernelsweep as ks
from kernelsweep.errors import UserError

pytestmark = pytest.mark.xdist_group("check")

KERNEL = """__global__ void scaled(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
"""
LAUNCHES = [{"grid": "n / block", "block": "block", "arguments": ["y", "x", "a", "n"]}]
FACTOR = 2.0


def inputs(random, n):  # type: ignore[no-untyped-def]
    return {"x": random.random(n, np.float32), "a": np.float32(FACTOR)}


def reference(x):  # type: ignore[no-untyped-def]
    return {"y": FACTOR * x.astype(np.float64)}


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(tmp_path)
    Path("scaled.cu").write_text(KERNEL, encoding="utf-8")


def study(**keys: Any) -> ks.Study:
    axes = {"n": [5, 1000], "block": [64, 128]}
    given = {"launches": LAUNCHES, "inputs": inputs, "reference": reference, **keys}
    return ks.Study(kernel="scaled.cu", axes=axes, **given)


def test_the_examples_tests_pass() -> None:
    tests = runpy.run_path(str(ROOT / "examples/test_kernels.py"))
    names = [name for name in tests if name.startswith("test_")]
    for name in names:
        tests[name]()
    assert len(names) == 2


def test_a_check_says_what_is_wrong_and_does_not_outlive_a_changed_function() -> None:
    factor = 2.0
    checks = study(reference=lambda x: {"y": factor * x.astype(np.float64)})
    assert checks.check().right
    factor = 3.0  # The lambda's text is as it was.
    wrong = study(reference=lambda x: {"y": factor * x.astype(np.float64)}).check()
    assert not wrong.right and wrong.status == 1 and len(wrong.points) == 4
    assert "y: 5 of 5 elements are wrong" in repr(wrong) and wrong.findings[0].kind == "wrong result"
    Path("scaled.cu").write_text(KERNEL.replace("i < n", "i <= n"), encoding="utf-8")
    assert "writes y[5] at scaled.cu:4" in repr(study().check())


def test_inputs_and_launches_are_guessed_where_nobody_gives_them() -> None:
    given = {"reference": lambda x, a: {"y": np.float64(a) * x}, "error_bound": {"y": 1e-6}}
    right = ks.check("scaled.cu", cases=[{"n": 70}], **given)
    assert right.right and right.points == ["n=70"] and "block 128" in right.guessed["launch"], right

    def launches(n, block, Launch):  # type: ignore[no-untyped-def]
        return [Launch(grid=-(-n // block), block=block, arguments=["y", "x", "a", "n"])]

    assert study(launches=launches).check().right
    with pytest.raises(UserError, match=r"reference returns 'z'\. The kernel may write y\."):
        study(reference=lambda x: {"z": x}).check()


def test_a_sweep_is_a_frame_and_its_files_are_the_same_study() -> None:
    frame = study().sweep()
    assert set(frame["status"]) == {"ok"} and len(frame) == 4 and frame["time_us"].isna().all()
    assert sorted(zip(frame["n"], frame["block"], strict=True)) == [(5, 64), (5, 128), (1000, 64), (1000, 128)]
    with pytest.raises(UserError, match="a sweep needs a reference"):
        study(reference=None, outputs=lambda n: {"y": (n, np.float32)}).sweep()
    with pytest.raises(UserError, match="reference can't be written to a file"):
        study(reference=lambda x: {"y": FACTOR * x.astype(np.float64)}).save()
    problem, kernel, _ = study().save()
    assert kernel.read_text() == '#include "../../scaled.cu"\n' and "FACTOR = 2.0" in problem.read_text()
    with pytest.raises(UserError, match="exists already"):
        study().save()
    outcomes = ks.sweep_kernel(ks.read_study("scaled", Path()), "scaled", Path("kept"))
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 4


def test_what_there_is_is_shown_and_what_is_not_there_is_said() -> None:
    assert {"check", "Study", "load", "run"} <= {*dir(ks)} and not {"Path", "offered"} & {*dir(ks)}
    with pytest.raises(UserError, match="/nowhere is no folder"):
        ks.load("/nowhere")
    with pytest.raises(UserError, match=r"config/studies/axpi\.yaml is no file"):
        ks.run("axpi")
