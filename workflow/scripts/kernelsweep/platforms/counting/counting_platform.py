"""The emulator as a platform that sees every access to memory. Blocks run one after another, and more slowly."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.build.binaries import unit_files
from kernelsweep.errors import LaunchError
from kernelsweep.platforms.counting.library import MOST_MISTAKES, CountingLibrary, Request, Site, Synchronisations
from kernelsweep.platforms.counting.lines import Lines, Variable
from kernelsweep.platforms.counting.mistakes import Buffer, in_words
from kernelsweep.platforms.counting.quantities import Counts, metrics
from kernelsweep.platforms.emulated_library import as_bytes
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.platforms.platform import Given, Memory, MemoryMistake
from kernelsweep.sweep.kernels.plan import PLAIN, Attributes, Size

# The GPU's alignment of allocations, so that a request touches the same sectors.
_ALIGNMENT = 256


Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# A buffer that no kernel is given: an access to it went astray.
_UNNAMED = ("that is no kernel's", np.dtype(np.uint8))


class CountingUnit:
    """One translation unit of a kernel: its library, and what its debugging information tells."""

    def __init__(self, path: Path) -> None:
        self.library = CountingLibrary(path)
        self._content = path.read_bytes()
        self.addresses: dict[int, int] = {}  # of buffers, by the library's numbers

    @cached_property
    def lines(self) -> Lines:
        """The symbols and the source lines. To read them takes a fraction of a second."""
        return Lines(self._content)

    @cached_property
    def _start(self) -> int:
        return self.library.start_of(self.lines.function("emulator_entry_kernel"))

    @cached_property
    def variables(self) -> list[tuple[Bytes, Bytes]]:
        """The variables in global and constant memory, and what they held when this was asked first."""
        found = [as_bytes(self._start + place, size) for place, size in self.lines.variables]
        return [(variable, variable.copy()) for variable in found]

    @cached_property
    def _shared(self) -> list[list[Variable]]:
        kernels = [self.library.kernel_address(entry) - self._start for entry in range(len(self.library.entries))]
        return [self.lines.shared_arrays(kernel, kernels) for kernel in kernels]

    def shared_arrays(self, entry: int) -> list[Variable]:
        """The `__shared__` arrays of an entry."""
        return self._shared[entry]


@dataclass
class _Allocation:
    """A buffer's size, and which parts of it were initialised, or made uninitialised, one after another."""

    size: int
    marks: list[tuple[int, int, bool]] = field(default_factory=list)


class CountingPlatform(EmulatorPlatform):
    """An EmulatorPlatform for libraries compiled with `counting` of build.gcc.

    parameters  by a buffer's address, the kernel parameter that it was passed as last: its variant and its index
    shared      the `__shared__` arrays of the variant launched last
    threads     of a block of the first launch since watch()
    """

    guard_bytes = (0, 0)  # The library sees every access outside of a buffer.
    watches = True

    def __init__(self) -> None:
        super().__init__()
        self.parameters: dict[int, tuple[str, int]] = {}
        self.shared: list[Variable] = []
        self.threads = 0
        self._allocations: dict[int, _Allocation] = {}
        self._units: list[CountingUnit] = []
        self._used: list[CountingUnit] = []  # since watch()
        self._checks = False
        self._filling: int | None = None
        self._constants: set[int] = set()  # the addresses of variables that the host has set

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        before = len(self._units)
        with tempfile.TemporaryDirectory() as folder:  # A library stays loaded without its file.
            self._units += [CountingUnit(file) for file in unit_files(binary, Path(folder))]
        self._entries |= {
            name: (before + one["unit"], one["entry"]) for name, one in variants.items() if "entry" in one
        }
        self._libraries = [unit.library for unit in self._units]

    def watch(self, filling: int | None = None, check: bool = True) -> None:
        """Reset all counts and mistakes. `check`: look for mistakes as well; buffers are filled after this.

        filling  as in Platform
        """
        self.parameters.clear()
        self._filling = filling
        self._used, self._checks, self.threads = [], check, 0

    def mistakes(self, buffers: Iterable[tuple[Memory, str, np.dtype[Any]]]) -> list[MemoryMistake]:
        arrays = {memory.ctypes.data: (name, dtype) for memory, name, dtype in buffers}
        return [mistake for unit in self._used for mistake in self._of_unit(unit, arrays)]

    def _of_unit(self, unit: CountingUnit, arrays: dict[int, tuple[str, np.dtype[Any]]]) -> list[MemoryMistake]:
        found = unit.library.mistakes()
        if not found:
            return []

        def buffer(number: int) -> Buffer:
            address = unit.addresses[number]
            name, dtype = arrays.get(address, _UNNAMED)
            return Buffer(name, self._allocations[address].size, dtype.itemsize)

        compared = self._filling is not None and len(found) < MOST_MISTAKES
        return in_words(found, unit.library.sites(), unit.lines.line, buffer, self.shared, compared)

    def counts(self) -> dict[str, float]:
        return metrics(Counts(self.sites(), self.synchronisations()))

    @property
    def unit(self) -> CountingUnit:
        """The unit that has run since watch(). Raises LaunchError if none has."""
        if not self._used:
            raise LaunchError("nothing was launched")
        return self._used[-1]

    def sites(self) -> list[Site]:
        """The accesses of each place in the code since watch(), and the executions of the kernel's own places."""
        return [site for unit in self._used for site in unit.library.sites()]

    def synchronisations(self) -> Synchronisations:
        """The number of synchronisations since watch()."""
        each = [unit.library.synchronisations() for unit in self._used]
        return Synchronisations(*map(sum, zip(*each, strict=True)))

    def trace(self, block: int, warp: int, capacity: int) -> None:
        """Record the first `capacity` requests of a warp from now on, in any launch; 0 ends the recording."""
        for unit in self._units:
            unit.library.trace(block, warp, capacity)

    def traced(self) -> list[Request]:
        """The recorded requests, in order."""
        return self.unit.library.traced()

    def allocate(self, size: int) -> np.ndarray[Any, Any]:
        zone = self._units[0].library.red_zone
        memory = np.empty(size + 2 * zone + _ALIGNMENT, np.uint8)
        start = zone + -(memory.ctypes.data + zone) % _ALIGNMENT
        buffer = memory[start : start + size]
        address = buffer.ctypes.data
        self._allocations[address] = _Allocation(size)
        for unit in self._used:
            self._register(unit, address)
        return buffer

    def free(self, memory: np.ndarray[Any, Any]) -> None:
        del self._allocations[memory.ctypes.data]
        for unit in self._used:
            unit.library.unregister(memory.ctypes.data)

    def upload(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], offset: int = 0) -> None:
        super().upload(memory, array, offset)
        self._mark(memory, offset, array.nbytes, True)

    def copy(self, target: np.ndarray[Any, Any], source: np.ndarray[Any, Any], size: int, offset: int = 0) -> None:
        super().copy(target, source, size, offset)
        self._mark(target, offset, size, True)

    def fill(self, memory: np.ndarray[Any, Any], size: int, word: int) -> None:
        super().fill(memory, size, word if self._filling is None else self._filling * 0x01010101)
        self._mark(memory, 0, size, False)

    def restorations(self, variants: Iterable[str]) -> list[Callable[[], None]]:
        return [partial(np.copyto, variable, initial) for variable, initial in self._variables_of(variants)]

    def leaves_state(self, variants: Iterable[str]) -> bool:
        return any(not np.array_equal(variable, initial) for variable, initial in self._variables_of(variants))

    def _variables_of(self, variants: Iterable[str]) -> list[tuple[Bytes, Bytes]]:
        """The variables in global memory that a launch may change."""
        units = {self._entries[variant][0] for variant in variants}
        found = [pair for unit in sorted(units) for pair in self._units[unit].variables]
        return [pair for pair in found if pair[0].ctypes.data not in self._constants]

    def set_constant(self, variant: str, name: str, values: np.ndarray[Any, Any]) -> None:
        super().set_constant(variant, name, values)
        unit, _ = self._entries[variant]
        self._constants.add(self._units[unit].library.variable(name).ctypes.data)

    def launch(
        self, variant: str, grid: Size, block: Size, shared_bytes: int, arguments: Given, attributes: Attributes = PLAIN
    ) -> None:
        self.threads = self.threads or prod(block)
        number, entry = self._entries[variant]
        unit = self._units[number]
        if unit not in self._used:
            self._use(unit)
        self.shared, _ = unit.shared_arrays(entry), unit.variables
        arrays = [(array.offset, array.size) for array in self.shared if array.size]
        unit.library.set_shared(arrays, unit.lines.guards)
        for parameter, argument in enumerate(arguments):
            if not isinstance(argument, np.generic):
                self.parameters[argument.ctypes.data] = (variant, parameter)
        super().launch(variant, grid, block, shared_bytes, arguments, attributes)

    def _use(self, unit: CountingUnit) -> None:
        """Have a unit know the buffers. A kernel may have a hundred units, of which a point needs one."""
        for address in unit.addresses.values():
            unit.library.unregister(address)
        unit.addresses.clear()
        unit.library.start(self._checks, self._filling)
        self._used.append(unit)
        for address in self._allocations:
            self._register(unit, address)

    def _register(self, unit: CountingUnit, address: int) -> None:
        allocation = self._allocations[address]
        unit.addresses[unit.library.register(address, allocation.size)] = address
        for offset, size, initialised in allocation.marks:
            unit.library.set_initialised(address, offset, size, initialised)

    def _mark(self, memory: np.ndarray[Any, Any], offset: int, size: int, initialised: bool) -> None:
        address = memory.ctypes.data
        allocation = self._allocations[address]
        if offset == 0 and size >= allocation.size:
            allocation.marks.clear()
        allocation.marks.append((offset, size, initialised))
        for unit in self._used:
            unit.library.set_initialised(address, offset, size, initialised)
