"""Kernels with inline assembly for GPUs run, and its accesses are checked as others are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from cuda_emulator import Library, Refused, allocate
from cuda_emulator.compiling import compile_for_emulator
from cuda_emulator.ptx import translated

ENTRIES = ["instructions", "copied<true>", "copied<false>", "published"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assembly")
    unit = write_unit(folder / "unit.cpp", [KERNELS / "assembly.cu"], ENTRIES)
    compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE)
    return folder / "unit.so"


def launched(path: Path, name: str, folder: Path, blocks: int = 1) -> tuple[np.ndarray, int, list[str]]:  # type: ignore[type-arg]
    """The output, the sum, and what is found."""
    copy = folder / f"{ENTRIES.index(name)}.so"  # A library that is loaded has the findings of all its launches.
    copy.write_bytes(path.read_bytes())
    library, (x, y, total) = Library(copy), (allocate(4 * 64) for _ in "xyz")
    for array, told in ((x, "x"), (y, "y"), (total, "total")):
        library.watch(array.ctypes.data, array.nbytes, told, itemsize=4, is_initialised=told != "y")
    x.view(np.int32)[:], total[:] = np.arange(64) + 100, 0
    arguments = [x.ctypes.data, y.ctypes.data, total.ctypes.data]
    library.launch(ENTRIES.index(name), blocks, 64, 0, arguments[: 3 - ("copied" in name)])
    return y.view(np.int32), int(total.view(np.int32)[0]), [mistake.message for mistake in library.report().mistakes]


def test_instructions_compute_what_a_gpu_does(library: Path, tmp_path: Path) -> None:
    found, total, mistakes = launched(library, "instructions", tmp_path)
    assert [bin(value) for value in {*found.tolist()}] == [bin(2**12 - 1)] and (total, mistakes) == (64, [])


def test_copies_and_flags_by_assembly_are_ordered_as_others(library: Path, tmp_path: Path) -> None:
    found, _, mistakes = launched(library, "copied<true>", tmp_path)
    assert mistakes == [] and found.tolist() == [100 + (lane ^ 1) for lane in range(64)]
    _, _, (race,) = launched(library, "copied<false>", tmp_path)
    assert line_of("assembly", "copied") in race and race.endswith("before the wait for the asynchronous copy")
    found, _, mistakes = launched(library, "published", tmp_path, blocks=2)
    assert mistakes == [] and found[:2].tolist() == [105, 105]


def test_an_instruction_that_is_not_supplied_is_named(tmp_path: Path) -> None:
    kernel = tmp_path / "phases.cu"
    statement = 'asm volatile("mbarrier.init.shared.b64 [%0], %1;"\n:: "r"(data[0]), "r"(2));'
    kernel.write_text(f"__global__ void phases(int *data)\n{{\n    {statement}\n}}\n")
    with pytest.raises(Refused, match=r"phases\.cu:3: the PTX instruction mbarrier\.init\.shared\.b64 is") as error:
        compile_for_emulator(
            write_unit(tmp_path / "unit.cpp", [kernel], ["phases"]), tmp_path / "unit.so", runtime(), []
        )
    assert error.value.is_lacking


@pytest.mark.parametrize("folder", ["/usr/src/app", "/usr/include/c++/14", "/usr/local/include/c++/14"])
def test_assembly_of_the_systems_headers_stays_and_a_repositorys_below_usr_does_not(folder: str) -> None:
    text = f'# 1 "{folder}/file.h"\nasm volatile("bar.sync 0;");\n'
    assert (translated(text, Path("headers")) == text) == ("include" in folder)
