"""The emulator: the same kernels, compiled by g++, run on the CPU. It has no clock."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.build.binaries import unit_files
from kernelsweep.platforms.emulated_library import EmulatedLibrary
from kernelsweep.platforms.platform import Given, Memory, Platform, constant_bytes
from kernelsweep.problems.array_values import ArrayValue
from kernelsweep.problems.comparison import difference, error_share
from kernelsweep.sweep.kernels.plan import PLAIN, Attributes, Size

# The emulator has no multiprocessors. This fixed number resolves grid sizes such as `2 * multiprocessors`.
MULTIPROCESSORS = 4


class EmulatorPlatform(Platform):
    """The CPU as a platform: device memory is host memory, and each call runs at once."""

    has_clock = False
    guard_bytes = (4096, 4096)

    @staticmethod
    def describe(platform: str) -> dict[str, Any]:
        return {
            "kind": platform,
            "name": platform,
            "multiprocessors": MULTIPROCESSORS,
            "peak_bandwidth_gbs": None,
            "provenance": "checked on the CPU emulator (no times)",
        }

    def __init__(self) -> None:
        self._libraries: list[EmulatedLibrary] = []
        self._entries: dict[str, tuple[int, int]] = {}  # the number of the library and of its entry, by variant

    def allocate(self, size: int) -> np.ndarray[Any, Any]:
        return np.empty(size, np.uint8)

    def part(self, memory: np.ndarray[Any, Any], offset: int) -> np.ndarray[Any, Any]:
        return memory[offset:]

    def address(self, memory: np.ndarray[Any, Any]) -> int:
        return memory.ctypes.data

    def upload(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], offset: int = 0) -> None:
        memory[offset : offset + array.nbytes] = array.view(np.uint8)

    def download(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
        array.view(np.uint8)[:] = memory[: array.nbytes]

    def copy(self, target: np.ndarray[Any, Any], source: np.ndarray[Any, Any], size: int, offset: int = 0) -> None:
        target[offset : offset + size] = source[:size]

    def fill(self, memory: np.ndarray[Any, Any], size: int, word: int) -> None:
        whole = -(-size // 4) * 4
        memory[:whole].view(np.uint32)[:] = word

    def equal(self, first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], size: int, offset: int = 0) -> bool:
        return np.array_equal(first[offset : offset + size], second[:size])

    def error_share(
        self,
        found: np.ndarray[Any, Any],
        dtype: np.dtype[Any],
        count: int,
        right: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]],
        counts: tuple[int, int],
    ) -> float | None:
        floats = found[: count * dtype.itemsize].view(dtype)
        expected, bounds = (
            ArrayValue(np.dtype(np.float64), (count,), memory[: 8 * size].view(np.float64))
            for memory, size in zip(right, counts, strict=True)
        )
        return None if difference("", floats, expected, bounds, (count,)) else error_share(floats, expected, bounds)

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        before = len(self._libraries)
        with tempfile.TemporaryDirectory() as folder:  # A library stays loaded without its file.
            self._libraries += [EmulatedLibrary(file) for file in unit_files(binary, Path(folder))]
        self._entries |= {
            name: (before + one["unit"], one["entry"]) for name, one in variants.items() if "entry" in one
        }

    def parameter_types(self, variant: str) -> Sequence[str]:
        unit, entry = self._entries[variant]
        return self._libraries[unit].parameter_types(entry)

    def set_constant(self, variant: str, name: str, values: np.ndarray[Any, Any]) -> None:
        unit, _ = self._entries[variant]
        memory = self._libraries[unit].variable(name)
        memory[:] = constant_bytes(name, values, len(memory))

    def launch(
        self, variant: str, grid: Size, block: Size, shared_bytes: int, arguments: Given, attributes: Attributes = PLAIN
    ) -> None:
        unit, entry = self._entries[variant]
        library = self._libraries[unit]
        library.launch(entry, grid, block, shared_bytes, list(map(_passed, arguments)), attributes.cooperative)
        self.partial_barrier = self.partial_barrier or library.partial_barrier

    def time(self, sample: Any, count: int) -> list[float]:
        raise NotImplementedError("the emulator has no clock")


def _passed(argument: Memory | np.generic) -> Any:
    """An argument as ctypes passes it: an address, or a scalar's bytes."""
    if isinstance(argument, np.generic):
        return (ctypes.c_char * argument.nbytes).from_buffer(bytearray(argument.tobytes()))  # at a multiple of 16
    return ctypes.c_void_p(argument.ctypes.data)
