"""What others use of a study's results: the header of constants."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from synthetic_sweep import EMULATOR, H200

from cuda_emulator import compiling
from kernelsweep.errors import UserError
from kernelsweep.judge.best.best_file import BestFile, best_json, read_best
from kernelsweep.judge.best.find import find_best, find_uses
from kernelsweep.judge.data.measurements import load_measurements
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.project.project import load_study
from kernelsweep.publish.share.best_constants import constants_header
from kernelsweep.results import MEASUREMENT_COLUMNS, point_columns, write_rows
from kernelsweep.study.study import Study

EXAMPLE = ROOT / "examples/own-repository"
SIZES = (2**20, 2**24)
BLOCKS = (64, 128, 256, 512)
FASTEST = {"axpy": {2**20: 128, 2**24: 512}, "axpy_vectors": {2**20: 64, 2**24: 256}}


@pytest.fixture
def axpy(monkeypatch: pytest.MonkeyPatch) -> Study:
    """The study of the example, in whose folder jobs run."""
    monkeypatch.chdir(EXAMPLE)
    return load_study("axpy", EXAMPLE)


def made_up(folder: Path, device: dict[str, Any] = H200) -> Path:
    """Times by which FASTEST are the fastest, with a wrong result at block 96 in between."""
    rows = []
    for kernel, fastest in FASTEST.items():
        for n in SIZES:
            for block in (*BLOCKS, 96):
                known = {"study": "axpy", "kernel": kernel, "platform": device["platform"], "device": device["name"]}
                row = {**known, **point_columns({"cache": "cold", "n": n, "block": block}), "status": "ok"}
                time_us = n / 2**20 * (1 + 0.1 * (block != fastest[n]))
                row |= {"time_us": time_us, "time_low_us": 0.99 * time_us, "time_high_us": 1.01 * time_us}
                if block == 96:
                    row = {**known, **point_columns({"cache": "cold", "n": n, "block": block})}
                    row |= {"status": "wrong_result", "message": "y[3] is 0, not 1"}
                rows.append(row)
    write_rows(folder / "measurements.csv", MEASUREMENT_COLUMNS, rows)
    return folder / "measurements.csv"


def kept(folder: Path, text: str) -> BestFile:
    """What a best.json of this text says."""
    (folder / "best.json").write_text(text, encoding="utf-8")
    return read_best(folder / "best.json")


def test_the_example_runs_with_the_fastest_configurations(axpy: Study, tmp_path: Path) -> None:
    data = StudyData(axpy.settings, load_measurements([made_up(tmp_path)]), H200)
    best = kept(tmp_path, best_json(find_best("axpy", data), find_uses("axpy", data), ["axpy"], H200))
    (tmp_path / "axpy.h").write_text(constants_header(best, "axpy", axpy.settings.reference))
    program = tmp_path / "program"
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    subprocess.run([*compiling.find(), *strict, "-o", program, EXAMPLE / "use_best.cpp"], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    of_size = {n: f"{n // 4 // block}, {block}" for n, block in FASTEST["axpy_vectors"].items()}
    expected = [(n, of_size[n]) for n in (*SIZES, 2**20)]
    assert printed == [f"axpy_vectors<<<{launch}>>> for {n} elements on NVIDIA H200" for n, launch in expected]


def test_without_times_there_is_no_header_and_the_reason_is_told(axpy: Study, tmp_path: Path) -> None:
    best = kept(tmp_path, best_json([], [], ["axpy"], EMULATOR))
    with pytest.raises(UserError, match=r"no best configuration of axpy.* There are no times on this platform"):
        constants_header(best, "axpy", axpy.settings.reference)
