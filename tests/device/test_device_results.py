"""Results are judged on the device as on the host."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from emulator_units import INCLUDE, runtime, write_unit

from cuda_emulator import Library
from cuda_emulator.compiling import compile_for_emulator
from kernelsweep.study.problem.array_values import ArrayValue, read_dtype
from kernelsweep.study.problem.comparison import error_share, right

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def value(array: np.ndarray[Any, Any]) -> ArrayValue:
    return ArrayValue(array.dtype, array.shape, array.reshape(-1))


def planted_references(dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """References of float64 and their bounds: ordinary, tiny, near the type's largest, zeros, infinities."""
    random = np.random.default_rng(1)
    largest = float(np.nextafter(np.array(np.inf, dtype), np.array(0, dtype)))
    of_type = random.standard_normal(300).astype(dtype).astype(np.float64)
    references = [of_type, of_type + 1e-9, of_type * 1e-30, [0.0, -0.0, 1e-45, -1e-45, np.inf, -np.inf]]
    references += [[largest, -largest, largest * (1 + 2**-20), 1e30, 0.1]]
    expected = np.concatenate([np.array(one, np.float64) for one in references])
    bounds = [0.0, 1e-12, 2.0**-24, 1e-3, 0.4, 5.0, 1e6, 1e300]
    return np.repeat(expected, len(bounds)), np.tile(bounds, expected.size)


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The function that within.ptx was made of, compiled for the emulator."""
    folder = tmp_path_factory.mktemp("within")
    lines = (ROOT / "workflow/scripts/kernelsweep/device/within.ptx").read_text().splitlines()
    (folder / "within.cu").write_text("\n".join(line[7:] for line in lines if line.startswith("//     ")))
    unit = write_unit(folder / "unit.cpp", [folder / "within.cu"], ["within"])
    assert compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE) == ""
    return Library(folder / "unit.so")


@pytest.mark.parametrize("name", FLOATS)
def test_a_device_finds_errors_just_where_the_host_does(name: str, within: Library) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    dtype = read_dtype(name, "here")
    expected, bound = planted_references(dtype)
    with np.errstate(all="ignore"):
        candidates = [(expected + factor * bound).astype(dtype) for factor in (-1.01, -1, -0.5, 0, 0.5, 1, 1.01)]
    specials = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]).astype(dtype)
    candidates += [np.full(expected.size, one) for one in specials]
    seen = set()
    for found in candidates:
        is_right = right(found, expected, bound)
        for places in (*filter(len, [np.flatnonzero(is_right)]), *np.flatnonzero(~is_right)[:20, np.newaxis]):
            parts = found[places], expected[places], bound[places]
            is_wrong, share = verdict(within, *parts)
            assert is_wrong == (not is_right[places].all())
            assert share == error_share(parts[0], value(parts[1]), value(parts[2]))
        seen |= set(is_right.tolist())
    assert seen == {True, False}
    rows, one_bound = np.resize(expected[:7], 1000), np.full(1000, bound[3])
    repeated = verdict(within, rows.astype(dtype), expected[:7], bound[3:4])
    assert repeated == verdict(within, rows.astype(dtype), rows, one_bound), "what is expected repeats"


def verdict(library: Library, *arrays: np.ndarray[Any, Any]) -> tuple[bool, float]:
    """What the function says of floats, what is expected and bounds: whether one is wrong, and the largest share."""
    left = np.zeros(2, np.uint64)
    arrays = tuple(map(np.ascontiguousarray, arrays))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    counts = [ctypes.c_uint64(arrays[place].size) for place in (1, 2, 0)]
    kind = ctypes.c_uint32(FLOATS.index(arrays[0].dtype.name))
    library.launch(0, 2, 64, 0, [*pointers, *counts, kind, ctypes.c_void_p(left.ctypes.data)])
    return bool(left[0]), float(left.view(np.float64)[1])
