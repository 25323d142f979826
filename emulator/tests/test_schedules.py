"""Other orders of blocks, warps and lanes show lost updates and deadlocks, and change nothing of right kernels."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from cuda_emulator import LaunchFailed, Library, allocate, schedule_name
from cuda_emulator.compiling import compile_for_emulator

ENTRIES = ["counted<true>", "counted<false>", "two_locks<true>", "two_locks<false>", "exchanged", "in_a_row"]
ENTRIES += ["by_two_warps", "after_tile"]


# One process compiles the kernels.
pytestmark = pytest.mark.xdist_group("schedules")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("schedules")
    unit = write_unit(folder / "unit.cpp", [KERNELS / f"{stem}.cu" for stem in ("schedules", "warps")], ENTRIES)
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


def by_warps(library: Library, name: str, number: int, *arguments: object) -> tuple[np.ndarray[Any, Any], set[str]]:
    """What a kernel of warps.cu leaves, nine numbers a thread, and the kinds of its mistakes."""
    results = allocate(4 * 9 * 256)
    library.start(check=True)
    library.watch(results.ctypes.data, results.nbytes, "results", itemsize=4)
    library.set_schedule(number)
    library.launch(ENTRIES.index(name), 1, 256, 0, [results.ctypes.data, *arguments])
    library.unregister(results.ctypes.data)
    return results.view(np.int32).reshape(256, 9), {mistake.mistake for mistake in library.mistakes()}


@pytest.mark.parametrize("number", range(6))
def test_a_tile_of_several_warps(library: Library, number: int) -> None:
    values = allocate(4 * 256).view(np.int32)
    values[:] = np.random.default_rng(3).integers(0, 100, 256)
    library.watch(values.ctypes.data, values.nbytes)
    results, mistakes = by_warps(library, "by_two_warps", number, values.ctypes.data)
    library.unregister(values.ctypes.data)
    of_tiles, threads = values.reshape(4, 64), np.arange(256)
    sums = np.cumsum(of_tiles, axis=1)
    expected = [*map(np.ravel, (np.repeat(sums[:, -1], 64), sums, sums - of_tiles, np.repeat(of_tiles[:, 40], 64)))]
    expected += [np.ones(256), threads // 64, threads % 64 // 16, threads // 64 * 64]
    np.testing.assert_array_equal(results[:, :8], np.transpose(expected))
    np.testing.assert_array_equal(results[128:, 8], values[128:].max())
    assert not mistakes


def test_a_tile_orders_its_own_threads_alone(library: Library) -> None:
    assert not by_warps(library, "after_tile", 0, ctypes.c_int(32))[1]
    assert "race" in by_warps(library, "after_tile", 0, ctypes.c_int(64))[1]


@pytest.mark.parametrize(
    ("name", "right"), [("counted<true>", 128), ("two_locks<true>", 4), ("exchanged", 4032), ("in_a_row", 128)]
)
def test_a_right_kernel_is_right_in_each_order(library: Library, name: str, right: int) -> None:
    assert [found(library, name, number) for number in range(8)] == [right] * 8


def test_an_order_shows_a_lost_update_and_a_deadlock(library: Library) -> None:
    assert [found(library, "counted<false>", number) for number in range(4)] == [128, 128, 1, 1]
    library.start(check=True)
    assert {found(library, "counted<false>", 2) for _ in range(2)} == {1}  # The last run alone is told.
    steps = [step.partition(" of")[0] for step in library.steps(0, 2**64)]
    assert steps == ["thread 0", "thread 1", "thread 0", "thread 1"]
    assert found(library, "two_locks<false>", 0) == 4
    library.start(check=True)
    message = str(found(library, "two_locks<false>", 2))
    assert "waits in a loop for a value that no thread changes" in message and line_of("schedules", "waits") in message
    assert schedule_name(2) == "the first blocks, warps and lanes first, each until its next atomic function"
    steps = [step.replace(str(KERNELS), "") for step in library.steps()]
    assert {step.partition(" of")[0] for step in steps} == {"thread 0", "thread 32"}
