"""Matrices of tensor cores: each type's product, its precision, and the accesses of fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from cuda_emulator import Library, allocate
from cuda_emulator.compiling import compile_for_emulator

# Of mma.sync, beside by_ptx: what is multiplied, what it becomes, and the depth.
FORMS = {
    "bf16_16": (ml_dtypes.bfloat16, np.float32, 16),
    "bf16_8": (ml_dtypes.bfloat16, np.float32, 8),
    "f16_8": (np.float16, np.float32, 8),
    "tf32_8": (np.float32, np.float32, 8),
    "tf32_4": (np.float32, np.float32, 4),
    "s8_32": (np.int8, np.int32, 32),
    "s8_16": (np.int8, np.int32, 16),
    "u8_32": (np.uint8, np.int32, 32),
}
ENTRIES = {
    "half": "multiplied<__half, __half, float, 16, wmma::row_major>",
    "half_sums": "multiplied<__half, __half, __half, 16, wmma::col_major>",
    "bfloat16": "multiplied<__nv_bfloat16, __nv_bfloat16, float, 16, wmma::col_major>",
    "tf32": "multiplied<wmma::precision::tf32, float, float, 8, wmma::row_major>",
    "int8": "multiplied<signed char, signed char, int, 16, wmma::row_major>",
    "unordered": "unordered",
    "by_ptx": "by_ptx",
    **{name: name for name in FORMS},
}
TYPES = {
    "half": (np.float16, np.float32),
    "half_sums": (np.float16, np.float16),
    "bfloat16": (ml_dtypes.bfloat16, np.float32),
    "tf32": (np.float32, np.float32),
    "int8": (np.int8, np.int32),
}


# One process compiles the kernels.
pytestmark = pytest.mark.xdist_group("matrices")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("matrices")
    unit = write_unit(folder / "unit.cpp", [KERNELS / "matrices.cu"], [*ENTRIES.values()])
    compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE)
    return Library(folder / "unit.so")


def launched(library: Library, entry: str, arrays: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The bytes of the first array after a launch of one warp."""
    memories = [allocate(array.nbytes) for array in arrays]
    for place, (memory, array) in enumerate(zip(memories, arrays, strict=True)):
        memory[:] = array.ravel().view(np.uint8)
        library.watch(memory.ctypes.data, memory.nbytes, "dabc"[place], array.itemsize)
    library.launch([*ENTRIES].index(entry), 1, 32, 0, [memory.ctypes.data for memory in memories])
    return np.array(memories[0].view(arrays[0].dtype))


@pytest.mark.parametrize("name", TYPES)
def test_a_product_is_exact_up_to_one_rounding(library: Library, name: str) -> None:
    of_inputs, of_sums = TYPES[name]
    random, k = np.random.default_rng(1), 8 if name == "tf32" else 16
    draw = (lambda sides: random.integers(-128, 128, sides)) if name == "int8" else random.standard_normal
    a, b, c = (draw(sides) for sides in ((16, k), (k, 16), (16, 16)))
    a, b, c = a.astype(of_inputs), b.astype(of_inputs), c.astype(of_sums)
    kept = [(one.view(np.uint32) & 0xFFFFE000).view(np.float32) if name == "tf32" else one for one in (a, b)]
    right = (kept[0].astype(np.float64) @ kept[1].astype(np.float64) + c).astype(of_sums)
    given = b.T.copy() if "col_major" in ENTRIES[name] else b
    a = np.pad(a.ravel(), (16 if name == "int8" else 0, 0))
    found = launched(library, name, [np.zeros((16, 16), of_sums), a, given, c]).reshape(16, 16).T
    limit = 0 if name == "int8" else np.spacing(np.abs(right))
    assert np.all(np.abs(found.astype(np.float64) - right.astype(np.float64)) <= limit)


@pytest.mark.parametrize("name", ["by_ptx", *FORMS])
def test_registers_have_the_elements_of_the_ptx_isa(library: Library, name: str) -> None:
    of_inputs, of_sums, k = FORMS.get(name, (np.float16, np.float32, 16))
    random, lowest = np.random.default_rng(2), 0 if of_inputs == np.uint8 else -8
    a, b = (random.integers(lowest, 8, sides).astype(of_inputs) for sides in ((16, k), (k, 8)))
    given = b if name == "by_ptx" else b.T.copy()
    found = launched(library, name, [np.zeros((16, 8), of_sums), a, given])
    assert found.reshape(16, 8).tolist() == (a.astype(int) @ b.astype(int)).tolist()


def test_a_fragment_that_is_loaded_too_early_is_a_race(library: Library) -> None:
    library.start(check=True)
    launched(library, "unordered", [np.zeros(32, np.float32), np.ones(256, np.float16)])
    races = [one.message for one in library.report().mistakes if one.kind == "race"]
    assert races, library.report()
    assert all("tile[" in race and line_of("matrices", "reads") in race for race in races), races
