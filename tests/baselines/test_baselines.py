"""The sums on the host: right for every type and length, one element at a time, and rows that tables can read."""

from __future__ import annotations

import csv
import itertools
import platform
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from planted import point as sized
from reductions import REDUCTION, input_of

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.baselines import host
from kernelsweep.baselines.host import BASELINES, bind, compile_sums, measure_baselines
from kernelsweep.measure.environment import processor_name
from kernelsweep.measure.sampling import Sampling
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows

SOURCE = ROOT / "workflow/scripts/kernelsweep/baselines/host_sums.cpp"
DTYPES = ["int32", "int64", "float32", "float64"]
LENGTHS = [1, 2, 3, 1000, 2**16 + 1]
# Loose, since these tests check no times.
SAMPLING = Sampling(relative_precision=1.0, min_samples=6, max_samples=6, max_seconds=1.0)

# x86-64's instructions that add several elements at once.
PACKED_ADD = re.compile(r"\bv?p?(?:add|hadd)(?:[bwdq]|ps|pd)\b.*[xyz]mm")
ANY_ADD = re.compile(r"\bv?add(?:l|q|ss|sd)?\b")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baselines") / "sums.so"
    compile_sums(SOURCE, path)
    return path


def total(library: Path, name: str, array: np.ndarray) -> Any:
    """The baseline's result for an array, which the baseline may change."""
    return bind(name, array, library if BASELINES[name].compiled else None)()


def rows_of(names: list[str], array_size: int, dtype: str) -> list[dict[str, Any]]:
    point = {"array_size": array_size, "block_size": 512, "dtype": dtype, "operation": "sum", "cache": "cold"}
    return measure_baselines(
        names, REDUCTION, point, SOURCE, 1, SAMPLING, {"study": "unrolling", "platform": "some-gpu"}
    )


@pytest.mark.parametrize("name", BASELINES)
def test_sums_are_right_for_every_type_and_length_and_leave_the_input(library: Path, name: str) -> None:
    # Pins: a recursion that drops the odd element. Lengths of one to three and just past a power of two have one.
    for length, dtype in itertools.product(LENGTHS, DTYPES):
        array = input_of(sized(length, dtype=dtype))
        exact = sum((Fraction(value) for value in array.tolist()), Fraction(0))
        found = total(library, name, changed := array.copy())
        error = abs(Fraction(found.item() if hasattr(found, "item") else found) - exact)
        unit = Fraction(float(np.finfo(dtype).eps)) / 2 if array.dtype.kind == "f" else 0
        assert error <= BASELINES[name].depth(length) * unit * exact, (length, dtype)
        assert BASELINES[name].updates_input or np.array_equal(changed, array)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", BASELINES)
def test_integers_wrap_around_as_on_the_device(library: Path, name: str, dtype: str) -> None:
    # Pins: NumPy's habit of summing int32 in int64, and arithmetic that the compiler may assume not to overflow.
    limits = np.iinfo(dtype)
    modulus = 2**limits.bits
    for value in (limits.max, limits.min, limits.max // 2 + 1):
        for length in (2, 3, 1001):
            expected = (int(value) * length + modulus // 2) % modulus - modulus // 2
            assert total(library, name, np.full(length, value, dtype)) == expected


def test_every_sample_of_the_recursive_sum_is_of_the_whole_input(monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: samples of an array that the sample before left half added up.
    results = []

    def recorded(*arguments: Any) -> Any:
        run = bind(*arguments)

        def recording() -> Any:
            results.append(run())
            return results[-1]

        return recording

    monkeypatch.setattr(host, "bind", recorded)
    rows = rows_of(["recursive_pairwise"], 1001, "int32")
    assert rows[0]["status"] == "ok"
    assert results == [input_of(sized(1001)).sum()] * (rows[0]["samples"] + 1)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86-64's instructions")
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_elements_are_added_one_by_one(library: Path) -> None:
    # Pins: a compiler that vectorises at -O2, as GCC does from its release 12 on. The test reads the machine code and
    # measures no time.
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True, check=True
    ).stdout
    functions = dict(re.findall(r"^\w+ <(\w+)>:\n((?:.+\n)*)", listing, re.MULTILINE))
    for name in ("scalar_loop", "unrolled_loop", "recursive_pairwise"):
        for dtype in DTYPES:
            code = functions[f"{name}_{dtype}"]
            assert ANY_ADD.search(code), f"no add in {name}_{dtype}: is it still compiled in line?"
            assert not PACKED_ADD.search(code)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_rows_can_stand_among_the_kernels(dtype: str, tmp_path: Path) -> None:
    names = list(BASELINES)
    path = tmp_path / "baselines.csv"
    write_rows(path, MEASUREMENT_COLUMNS, rows_of(names, 2**16 + 1, dtype))
    with path.open() as file:
        assert tuple(next(csv.reader(file))) == MEASUREMENT_COLUMNS
    rows = load_measurements([path]).set_index("kernel")
    assert sorted(rows.index) == sorted(f"cpu_{name}" for name in names)
    for _, row in rows.iterrows():
        assert (row["status"], row["message"], row["device"]) == ("ok", "", processor_name())
        assert (row["array_size"], row["block_size"], row["unroll"]) == (2**16 + 1, 1, 1)
        assert (row["dtype"], row["operation"], row["cache"], row["samples"]) == (dtype, "sum", "hot", 6)
        assert 0 < row["time_low_us"] <= row["time_us"] <= row["time_high_us"]
        size = (2**16 + 1) * np.dtype(dtype).itemsize
        assert row["bandwidth_gbs"] == pytest.approx(size / row["time_us"] / 1e3, rel=1e-3)
    empty = ["launches", "grid_size", "peak_fraction", "clock_mhz"]
    assert rows[empty].isna().all(axis=None)
    assert (rows["relative_error"].notna() == dtype.startswith("float")).all()
    assert rows.loc["cpu_numpy", ["source_sha256", "binary_sha256"]].tolist() == ["", ""]
    assert all(len(rows.loc["cpu_scalar_loop", column]) == 64 for column in ("source_sha256", "binary_sha256"))


def test_a_missing_compiler_costs_only_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    scalar_loop, numpy = rows_of(["scalar_loop", "numpy"], 1000, "int32")
    assert scalar_loop["status"] == "build_failed" and "time_us" not in scalar_loop
    assert "no-such-compiler was not found on the PATH" in scalar_loop["message"]
    assert numpy["status"] == "ok"


def test_a_wrong_sum_has_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "sums.cpp"
    wrong.write_text(SOURCE.read_text().replace("std::size_t i = 0; i < count", "std::size_t i = 1; i < count"))
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", wrong)
    (row,) = rows_of(["scalar_loop"], 1000, "float32")
    assert row["status"] == "wrong_result" and "time_us" not in row
    assert row["message"].startswith("value: expected ")
