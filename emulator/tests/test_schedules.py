"""Other orders of blocks, warps and lanes show lost updates and deadlocks, and change nothing of right kernels."""

from __future__ import annotations

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from cuda_emulator import LaunchFailed, Library, allocate, schedule_name
from cuda_emulator.compiling import compile_for_emulator

ENTRIES = ["counted<true>", "counted<false>", "two_locks<true>", "two_locks<false>", "exchanged", "in_a_row"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("schedules")
    unit = write_unit(folder / "unit.cpp", [KERNELS / "schedules.cu"], ENTRIES)
    compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE)
    return Library(folder / "unit.so")


def found(library: Library, name: str, number: int) -> int | str:
    """The first number of the data after a launch of two blocks, or why it failed."""
    data = allocate(1024)
    data[:] = 0
    library.watch(data.ctypes.data, data.nbytes, "data", itemsize=4)
    library.set_schedule(number)
    try:
        library.launch(ENTRIES.index(name), 2, 64, 0, [data.ctypes.data])
    except LaunchFailed as error:
        return str(error)
    finally:
        library.unregister(data.ctypes.data)
    return int(data.view(np.int32)[0])


@pytest.mark.parametrize(
    ("name", "right"), [("counted<true>", 128), ("two_locks<true>", 4), ("exchanged", 4032), ("in_a_row", 128)]
)
def test_a_right_kernel_is_right_in_each_order(library: Library, name: str, right: int) -> None:
    assert [found(library, name, number) for number in range(8)] == [right] * 8


def test_an_order_shows_a_lost_update_and_a_deadlock(library: Library) -> None:
    assert [found(library, "counted<false>", number) for number in range(4)] == [128, 128, 1, 1]
    assert found(library, "two_locks<false>", 0) == 4
    library.start(check=True)
    message = str(found(library, "two_locks<false>", 2))
    assert "waits in a loop for a value that no thread changes" in message and line_of("schedules", "waits") in message
    assert schedule_name(2) == "the first blocks, warps and lanes first, each until its next atomic function"
    steps = [step.replace(str(KERNELS), "") for step in library.steps()]
    assert {step.partition(" of")[0] for step in steps} == {"thread 0", "thread 32"}
