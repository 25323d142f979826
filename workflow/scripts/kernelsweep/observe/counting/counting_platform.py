"""The emulator as a platform that counts memory accesses. Blocks run one after another, and more slowly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.observe.counting.library import CountingLibrary
from kernelsweep.observe.counting.lines import Lines, Variable
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.platforms.platform import Memory, Size

# The GPU's alignment of allocations, so that a request touches the same sectors.
_ALIGNMENT = 256


class CountingPlatform(EmulatorPlatform):
    """An EmulatorPlatform for a library compiled with `counting` of build.gcc.

    library     the loaded library
    lines       its debugging information
    parameters  by a buffer's number, the kernel parameter that it was passed as last: its variant and its index
    sizes       by a buffer's number, its size in bytes
    shared      the `__shared__` arrays of the variant launched last
    """

    guard_bytes = (0, 0)  # The library sees every access outside of a buffer.
    library: CountingLibrary
    lines: Lines

    def __init__(self) -> None:
        super().__init__()
        self.parameters: dict[int, tuple[str, int]] = {}
        self.sizes: dict[int, int] = {}
        self.shared: list[Variable] = []
        self._numbers: dict[int, int] = {}

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        self.library = CountingLibrary(binary)
        self._libraries = [self.library]
        self.lines = Lines(binary)
        self._entries = {name: (0, variant["entry"]) for name, variant in variants.items()}
        export = self.lines.function("emulator_entry_kernel")
        kernels = [self.library.kernel_address(entry, export) for entry in range(len(self.library.entries))]
        self._shared = [self.lines.shared_arrays(kernel, kernels) for kernel in kernels]

    def allocate(self, size: int) -> np.ndarray[Any, Any]:
        zone = self.library.red_zone
        memory = np.empty(size + 2 * zone + _ALIGNMENT, np.uint8)
        start = zone + -(memory.ctypes.data + zone) % _ALIGNMENT
        buffer = memory[start : start + size]
        number = self.library.register(buffer.ctypes.data, size)
        self._numbers[buffer.ctypes.data] = number
        self.sizes[number] = size
        return buffer

    def number(self, memory: np.ndarray[Any, Any]) -> int:
        """The number of a buffer, by which the library knows it."""
        return self._numbers[memory.ctypes.data]

    def free(self, memory: np.ndarray[Any, Any]) -> None:
        self.library.unregister(memory.ctypes.data)

    def upload(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], offset: int = 0) -> None:
        super().upload(memory, array, offset)
        self.library.set_initialised(memory.ctypes.data, offset, array.nbytes, True)

    def copy(self, target: np.ndarray[Any, Any], source: np.ndarray[Any, Any], size: int, offset: int = 0) -> None:
        super().copy(target, source, size, offset)
        self.library.set_initialised(target.ctypes.data, offset, size, True)

    def fill(self, memory: np.ndarray[Any, Any], size: int, word: int) -> None:
        super().fill(memory, size, word)
        self.library.set_initialised(memory.ctypes.data, 0, size, False)

    def launch(
        self, variant: str, grid: Size, block: Size, shared_bytes: int, arguments: Sequence[Memory | np.generic]
    ) -> None:
        self.shared = self._shared[self._entries[variant][1]]
        self.library.set_shared([(array.offset, array.size) for array in self.shared if array.size])
        for parameter, argument in enumerate(arguments):
            if not isinstance(argument, np.generic):
                self.parameters[self.number(argument)] = (variant, parameter)
        super().launch(variant, grid, block, shared_bytes, arguments)
