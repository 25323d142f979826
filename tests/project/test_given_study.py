"""A study as a Python object: `ks.check()` and `ks.Study`."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT

import kernelsweep as ks
from kernelsweep.device import kinds
from kernelsweep.errors import UserError
from kernelsweep.sweep import verdict

KERNEL = """__global__ void scaled(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
"""
LAUNCHES = [{"grid": "n / block", "block": "block", "arguments": ["y", "x", "a", "n"]}]
FACTOR = 2.0
CLOCK = {"implementation": "model_clock:ModelClock", "has_clock": True}


def inputs(random, n):  # type: ignore[no-untyped-def]
    return {"x": random.random(n, np.float32), "a": np.float32(FACTOR)}


def reference(x):  # type: ignore[no-untyped-def]
    return {"y": FACTOR * x.astype(np.float64)}


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scaled.cu").write_text(KERNEL, encoding="utf-8")


def study(**keys: Any) -> ks.Study:
    axes = {"n": [5, 1000], "block": [64, 128]}
    given = {"kernel": "scaled.cu", "launches": LAUNCHES, "inputs": inputs, "reference": reference, **keys}
    return ks.Study(axes=axes, **given)


def test_the_examples_tests_pass() -> None:
    tests = runpy.run_path(str(ROOT / "examples/test_kernels.py"))
    names = [name for name in tests if name.startswith("test_")]
    for name in names:
        tests[name]()
    assert len(names) == 2


def test_a_race_names_the_arrays_of_its_own_launch() -> None:
    Path("two.cu").write_text(
        """__global__ void first(float *y)
{
    __shared__ float early[32];
    early[threadIdx.x] = y[threadIdx.x];
    y[threadIdx.x] = early[31 - threadIdx.x];
}
__global__ void second(float *y)
{
    __shared__ double late[96];
    late[threadIdx.x] = y[threadIdx.x];
    y[threadIdx.x] = 1 + late[threadIdx.x];
}
""",
        encoding="utf-8",
    )
    launches = [{"kernel": name, "grid": 1, "block": 32, "arguments": ["y"]} for name in ("first", "second")]
    checked = ks.check(
        "two.cu",
        axes={"n": [32]},
        launches=launches,
        inputs=lambda n: {"y": np.zeros(n, np.float32)},
        outputs=lambda n: {"y": ((n,), np.float32)},
    )
    assert "early[" in str(checked) and "shared array of 32 elements" in str(checked) and "late" not in str(checked)


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
    Path("held.cu").write_text(
        "static __device__ float d_y[64];\n"
        "__global__ void held(int n) { if (threadIdx.x < n) d_y[threadIdx.x] = 2 * threadIdx.x; }\n"
        "void run(int n) { held<<<1, 64>>>(n); }\n",
        encoding="utf-8",
    )
    keys = {"outputs": lambda n: {"d_y": (n, np.float32)}, "variables": ["d_y"], "axes": {"n": [64, 33]}}
    assert ks.check("held.cu", reference=lambda n: {"d_y": 1.0 + np.arange(n)}, **keys).status == 1
    assert ks.check("held.cu", reference=lambda n: {"d_y": 2.0 * np.arange(n)}, **keys).right


def test_a_sweep_is_a_frame_and_its_files_are_the_same_study() -> None:
    frame = study().sweep()
    assert set(frame["status"]) == {"ok"} and len(frame) == 4 and frame["time_us"].isna().all()
    assert sorted(zip(frame["n"], frame["block"], strict=True)) == [(5, 64), (5, 128), (1000, 64), (1000, 128)]
    with pytest.raises(UserError, match="a sweep needs a reference") as stack:
        study(reference=None, outputs=lambda n: {"y": (n, np.float32)}).sweep()
    assert len(stack.traceback.filter(stack)) == 1  # Pins: seven frames of the library's own.
    with pytest.raises(UserError, match="reference can't be written to a file"):
        study(reference=lambda x: {"y": FACTOR * x.astype(np.float64)}).save()
    problem, kernel, _ = study().save()
    assert kernel.read_text() == '#include "../../scaled.cu"\n' and "FACTOR = 2.0" in problem.read_text()
    with pytest.raises(UserError, match="exists already"):
        study().save()
    outcomes = ks.sweep_kernel(ks.read_study("scaled", Path()), "scaled", Path("kept"))
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 4


TWICE = KERNEL.replace("y[i] = a * x[i];", "{ y[i] = x[i]; y[i] = a * y[i]; }")


def test_a_comparison_without_a_gpu_says_what_is_right_and_which_accesses_there_are_more_of() -> None:
    Path("twice.cu").write_text(TWICE, encoding="utf-8")
    more = study().compare("twice.cu")
    assert more.right and more.verdict == "less" and len(more.points) == 4 and more.points["ratio"].isna().all()
    assert dict(zip(more.sizes["n"], more.sizes["verdict"], strict=True)) == {5: "less", 1000: "less"}
    assert repr(more).startswith("scaled.cu (scaled) beside twice.cu (scaled), on the emulator:\nscaled: sectors −")
    assert "right at 4 of 4" in repr(more) and "<table" in more._repr_html_()
    Path("twice.cu").write_text(KERNEL.replace("i < n", "i < n - 1"), encoding="utf-8")
    assert "wrong" in repr(study().compare("twice.cu")) and not study(kernel="twice.cu").compare("scaled.cu").right
    with pytest.raises(UserError, match="compute different things: `reference` differs"):
        study().compare(study(reference=lambda x: {"y": 3 * x.astype(np.float64)}))


def test_a_comparison_with_the_version_before_an_edit() -> None:
    edited = study()
    assert "not edited since they were first measured" in repr(edited.compare(folder="kept"))
    Path("scaled.cu").write_text(TWICE, encoding="utf-8")
    told = edited.compare(folder="kept")
    assert told.verdict == "more" and "after its edit and before it" in repr(told)
    Path("scaled.cu").write_text(TWICE.replace("y[i] = a", "if (i != 3) y[i] = a"), encoding="utf-8")
    wrong = edited.compare(folder="kept")
    assert not wrong.right and "WRONG RESULTS: 4 of 4 points" in repr(wrong)
    Path("scaled.cu").write_text(KERNEL, encoding="utf-8")
    assert "taken back" in repr(edited.compare(folder="kept"))
    # Pins: a race that leaves every result right was told nowhere, and was what the next edit was compared with.
    racy = KERNEL.replace("if (i < n)", "if (i == n - 1) y[i] = y[0];\n    if (i < n)")
    Path("scaled.cu").write_text(racy, encoding="utf-8")
    told = edited.compare(folder="kept")
    assert not told.right and "A check found in scaled: races, at " in repr(told) and "right at 4 of 4" in repr(told)
    Path("scaled.cu").write_text(racy.replace("y[i] = a", "y[i] = 1 * a"), encoding="utf-8")
    again = edited.compare(folder="kept")
    assert again.points["note"].tolist() == told.points["note"].tolist(), "beside the version before the race"
    broken, none_right = KERNEL.replace("i < n", "i < n - 1"), "no other version was right at all its points"
    for text, told in ((broken, "nor known to have been right"), (KERNEL, none_right)):
        Path("scaled.cu").write_text(text, encoding="utf-8")
        assert told in repr(edited.compare(folder="repaired"))


def test_pairs_decide_where_there_is_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.KINDS, "emulator", replace(kinds.KINDS["emulator"], **CLOCK))
    monkeypatch.setattr(verdict, "_SECONDS", 60.0)  # However slow the emulator is.
    monkeypatch.setattr(verdict, "_FIXED_SECONDS", 0.5)
    launches = [[{**LAUNCHES[0], "grid": f"n / {block}", "block": block}] for block in (64, 128)]
    keys = {"axes": {"n": [70, 1000]}, "inputs": inputs, "reference": reference}
    slower, faster = (ks.Study(kernel="scaled.cu", launches=one, **keys) for one in launches)
    told = faster.compare(slower, visits=2, max_samples=20)
    assert told.verdict == "faster" and told.right and (told.points["note"] == "both versions ran alternately").all()
    # model_us() of both blocks.
    assert told.sizes["ratio"].round(2).tolist() == [0.93, 0.93] and (told.points["low"] < told.points["high"]).all()
    assert "scaled 0.93" in repr(told) and "faster at all 2 sizes, right at 2 of 2" in repr(told)
    assert slower.compare(slower, visits=2, max_samples=20).sizes["ratio"].round(2).tolist() == [1, 1]


def test_what_there_is_is_shown_and_what_is_not_there_is_said() -> None:
    assert {"check", "Study", "load", "run"} <= {*dir(ks)} and not {"Path", "offered"} & {*dir(ks)}
    assert (ks.__doc__ or "").startswith("Check CUDA kernels") and ks.bounds.unit("float32") == 2**-24
    assert repr(study()) == "Study of scaled.cu: 4 points of n, block; inputs, reference given"
    for name in ("/nowhere", "a" * 5_000):
        with pytest.raises(UserError, match="is no folder"):
            ks.load(name)
    for name in ("axpi", "a" * 5_000, __file__):  # Pins: OSError and IndexError.
        with pytest.raises(UserError, match="is no file in a folder config/studies"):
            ks.run(name)
