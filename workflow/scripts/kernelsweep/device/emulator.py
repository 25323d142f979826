"""The emulator: the same kernels, compiled by g++, run on the CPU; it sees every access to memory, and has no clock."""

from __future__ import annotations

import ctypes
import struct
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cuda_emulator.errors import LaunchFailed
from cuda_emulator.library import LANES as LANES
from cuda_emulator.library import MOST_MISTAKES, Bytes, Library, Request, Synchronisations, allocate, schedule_name
from cuda_emulator.library import Attributes as EmulatedAttributes
from cuda_emulator.lines import Variable, shared_array
from cuda_emulator.mistakes import Buffer, in_words
from cuda_emulator.quantities import SECTOR_BYTES as SECTOR_BYTES
from cuda_emulator.quantities import UNIT_OF_METRIC as UNIT_OF_METRIC
from cuda_emulator.quantities import metrics
from cuda_emulator.shapes import of_dtype
from kernelsweep.base.sandbox import before_code_is_loaded, is_untrusted
from kernelsweep.compile.binaries import unit_files
from kernelsweep.device.platform import Given, Memory, MemoryMistake, Platform
from kernelsweep.errors import LaunchError
from kernelsweep.reasons import Reason
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.problem.array_values import ArrayValue
from kernelsweep.study.problem.comparison import difference, error_share

# The emulator has no multiprocessors. This fixed number resolves grid sizes such as `2 * multiprocessors`.
MULTIPROCESSORS = 4

# A buffer that no kernel is given: an access to it went astray.
_UNNAMED = ("that is no kernel's", np.dtype(np.uint8))


class EmulatedUnit(Library):
    """One translation unit of a kernel: its library, and which buffers it knows."""

    def __init__(self, path: Path) -> None:
        before_code_is_loaded()
        super().__init__(path)
        self.addresses: dict[int, int] = {}  # of buffers, by the library's numbers


# What is said of a variable in which an untrusted kernel may find what its run before has left.
_KEPT = "{} is read before it is written, and changed, so that the next run reads what this one has left"


@dataclass(frozen=True)
class TracedRequest:
    """One request of the traced warp, in terms of the source.

    memory  "global" or "shared"
    array   the problem's name of the array, or the shared array's
    unit    the size of its elements in bytes; in shared memory, that of the access
    extent  its own
    moment  the number of synchronisations of the block before it
    places  bytes from the array's start, one a lane; None for an inactive lane
    """

    memory: str
    operation: str
    array: str
    unit: int
    extent: int
    size: int
    moment: int
    sectors: int
    conflicts: int
    places: list[int | None]


@dataclass
class _Allocation:
    """A buffer's size, and which parts of it were initialised, or made uninitialised, one after another."""

    size: int
    marks: list[tuple[int, int, bool]] = field(default_factory=list)


class EmulatorPlatform(Platform):
    """The CPU as a platform: device memory is host memory, each call runs at once, and blocks one after another.

    first  the first launch since watch()
    """

    has_clock = False
    guard_bytes = (0, 0)  # The library sees every access outside of a buffer.
    watches = True

    @staticmethod
    def describe(platform: str) -> dict[str, Any]:
        return {
            "kind": platform,
            "name": platform,
            "title": "CPU emulator, no times",
            "multiprocessors": MULTIPROCESSORS,
            "peak_bandwidth_gbs": None,
            "provenance": "checked on the CPU emulator (no times)",
        }

    def __init__(self) -> None:
        # Since watch(): the entries of a unit that were launched, each with the most dynamic shared memory it got.
        self._launched: dict[EmulatedUnit, dict[int, int]] = {}
        self.first: Launch | None = None
        self._allocations: dict[int, _Allocation] = {}
        self._units: list[EmulatedUnit] = []
        self._textures: dict[tuple[int, ...], np.ndarray[Any, Any]] = {}
        self._entries: dict[str, tuple[int, int]] = {}  # the number of the unit and of its entry, by variant
        self._used: list[EmulatedUnit] = []  # since watch()
        self._checks = False
        self._filling: int | None = None
        self._order = 0
        self._kept: list[MemoryMistake] = []  # since watch()
        self._of_host: set[int] = set()  # the addresses of variables that the host sets or reads

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        before = len(self._units)
        with tempfile.TemporaryDirectory() as folder:  # A library stays loaded without its file.
            self._units += [EmulatedUnit(file) for file in unit_files(binary, Path(folder))]
        self._entries |= {
            name: (before + one["unit"], one["entry"]) for name, one in variants.items() if "entry" in one
        }

    def watch(self, filling: int | None = None) -> None:
        self._filling = filling
        self._used, self._launched, self._kept, self._checks, self.first = [], {}, [], True, None

    def set_order(self, number: int) -> None:
        self._order = number

    def order_name(self, number: int) -> str:
        return schedule_name(number)

    def steps(self, memory: np.ndarray[Any, Any] | None = None, offset: int = 0, size: int = 0) -> list[str]:
        start = 0 if memory is None else memory.ctypes.data + offset
        return [step for unit in self._used for step in unit.steps(start, size)]

    def mistakes(self, buffers: Iterable[tuple[Memory, str, np.dtype[Any]]]) -> list[MemoryMistake]:
        arrays = {memory.ctypes.data: (name, dtype) for memory, name, dtype in buffers}
        return [*self._kept, *(mistake for unit in self._used for mistake in self._of_unit(unit, arrays))]

    def _of_unit(self, unit: EmulatedUnit, arrays: dict[int, tuple[str, np.dtype[Any]]]) -> list[MemoryMistake]:
        if not (found := unit.mistakes()):
            return []

        def buffer(number: int) -> Buffer:
            if variable := unit.static(number):
                return variable
            address = unit.addresses[number]
            name, dtype = arrays.get(address, _UNNAMED)
            return Buffer(name, self._allocations[address].size, of_dtype((0,), dtype))

        compared = self._filling is not None and len(found) < MOST_MISTAKES
        shared, dynamic_bytes = self._shared_of(unit)
        lines = unit.lines
        told = in_words(found, unit.sites(), lines.line, buffer, shared, lines.shape, dynamic_bytes, compared)
        return [MemoryMistake(**vars(one)) for one in told]

    def _shared_of(self, unit: EmulatedUnit) -> tuple[list[Variable], int]:
        """The `__shared__` arrays of what was launched, whose offsets differ, and the most dynamic shared memory."""
        arrays = {array for entry in self._launched[unit] for array in unit.shared_arrays[entry]}
        return sorted(arrays, key=lambda array: array.offset), max(self._launched[unit].values())

    def touched(self, memory: np.ndarray[Any, Any]) -> int:
        return max((unit.touched(memory.ctypes.data) for unit in self._used), default=0)

    def counts(self) -> dict[str, float]:
        if not self._used:
            return {}
        sites = [site for unit in self._used for site in unit.sites()]
        each = [unit.synchronisations() for unit in self._used]
        return metrics(sites, Synchronisations(*map(sum, zip(*each, strict=True))))

    def trace(self, block: int, warp: int, capacity: int) -> None:
        """Record the first `capacity` requests of a warp from now on, in any launch; 0 ends the recording."""
        for unit in self._units:
            unit.trace(block, warp, capacity)

    def traced(self, array_at: Callable[[int], tuple[str, int]]) -> list[TracedRequest]:
        """The recorded requests of the first block that made some, in order.

        array_at  the name of the array in device memory at an address, and the size of its elements

        Raises LaunchError if nothing was launched.
        """
        if self.first is None:
            raise LaunchError("nothing was launched")
        unit, dynamic_bytes = self._used[-1], self.first.shared_bytes
        sites, requests, shared = unit.sites(), unit.traced(), self._shared_of(unit)[0]

        def of_source(request: Request) -> TracedRequest:
            site, start = sites[request.site], 0
            if site.space == "global":
                address = unit.addresses[request.buffer]
                array = (*array_at(address), self._allocations[address].size)
            else:
                variable = shared_array(shared, next(one for one in request.offsets if one is not None))
                array, start = (variable.name, site.size, variable.size or dynamic_bytes), variable.offset
            places = [None if offset is None else offset - start for offset in request.offsets]
            costs = (request.moment, request.sectors, request.conflicts)
            return TracedRequest(site.space, site.operation, *array, site.size, *costs, places)

        return [of_source(request) for request in requests if request.run == requests[0].run]

    def allocate(self, size: int) -> np.ndarray[Any, Any]:
        buffer = allocate(size)
        self._allocations[buffer.ctypes.data] = _Allocation(size)
        for unit in self._used:
            self._register(unit, buffer.ctypes.data)
        return buffer

    def free(self, memory: np.ndarray[Any, Any]) -> None:
        del self._allocations[memory.ctypes.data]
        for unit in self._used:
            unit.unregister(memory.ctypes.data)

    def upload(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], offset: int = 0) -> None:
        memory[offset : offset + array.nbytes] = array.view(np.uint8)
        self._mark(memory, offset, array.nbytes, True)

    def copy(self, target: np.ndarray[Any, Any], source: np.ndarray[Any, Any], size: int, offset: int = 0) -> None:
        target[offset : offset + size] = source[:size]
        self._mark(target, offset, size, True)

    def fill(self, memory: np.ndarray[Any, Any], size: int, word: int) -> None:
        memory[: -(-size // 4) * 4].view(np.uint32)[:] = word if self._filling is None else self._filling * 0x01010101
        self._mark(memory, 0, size, False)

    def part(self, memory: np.ndarray[Any, Any], offset: int) -> np.ndarray[Any, Any]:
        return memory[offset:]

    def address(self, memory: np.ndarray[Any, Any]) -> int:
        return memory.ctypes.data

    def texture(
        self,
        memory: np.ndarray[Any, Any],
        dtype: np.dtype[Any],
        sides: tuple[int, int],
        is_linear: bool,
        channels: int = 1,
    ) -> int:
        told = (memory.ctypes.data, *sides, is_linear, channels * dtype.itemsize)
        return self._textures.setdefault(told, np.array(told, np.uint64)).ctypes.data

    def tensor_map(
        self, memory: Memory, dtype: np.dtype[Any], sides: Sequence[int], box: Sequence[int], swizzle: int
    ) -> np.void:
        head = struct.pack("=QII", memory.ctypes.data, dtype.itemsize, len(sides))
        sizes = struct.pack(f"={len(sides)}Q", *sides).ljust(40, b"\0")
        of_tile = struct.pack(f"={len(box)}I", *box).ljust(20, b"\0") + struct.pack("=I", swizzle)
        return np.void((head + sizes + of_tile).ljust(128, b"\0"))

    def download(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
        array.view(np.uint8)[:] = memory[: array.nbytes]

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

    def restorations(self, variants: Iterable[str]) -> list[Callable[[], None]]:
        return [partial(np.copyto, variable, initial) for variable, initial in self._variables_of(variants)]

    def leaves_state(self, variants: Iterable[str]) -> bool:
        left = {v.ctypes.data for v, initial in self._variables_of(variants) if not np.array_equal(v, initial)}
        if left and is_untrusted():
            read = [name for unit in self._used for address, name in unit.read_before() if address in left]
            self._kept = [MemoryMistake("uninitialised", (), _KEPT.format(name), 1, name) for name in read]
        return bool(left)

    def _variables_of(self, variants: Iterable[str]) -> list[tuple[Bytes, Bytes]]:
        """The variables in global memory that a launch may change."""
        units = {self._entries[variant][0] for variant in variants}
        found = [pair for unit in sorted(units) for pair in self._units[unit].variables]
        return [pair for pair in found if pair[0].ctypes.data not in self._of_host]

    def parameter_types(self, variant: str) -> Sequence[str]:
        unit, entry = self._entries[variant]
        return self._units[unit].parameter_types(entry)

    def variable(self, variant: str, name: str) -> tuple[np.ndarray[Any, Any], int]:
        try:
            memory = self._units[self._entries[variant][0]].variable(name)
        except LaunchFailed as error:
            raise LaunchError(str(error), Reason(error.kind)) from error
        self._of_host.add(memory.ctypes.data)
        return memory, len(memory)

    def launcher(self, launch: Launch, arguments: Given) -> Callable[[], None]:
        return partial(self.launch, launch, arguments)

    def launch(self, launch: Launch, arguments: Given) -> None:
        """Launch now, as launcher() has it queued."""
        self.first = self.first or launch
        number, entry = self._entries[launch.function]
        unit = self._units[number]
        if unit not in self._used:
            self._use(unit)
        launched, _ = self._launched.setdefault(unit, {}), unit.variables
        launched[entry] = max(launch.shared_bytes, launched.get(entry, 0))
        arrays = [(array.offset, array.size) for array in unit.shared_arrays[entry] if array.size]
        unit.set_shared(arrays, unit.lines.guards)
        unit.set_schedule(self._order)
        together = EmulatedAttributes(**vars(launch.attributes))
        try:
            unit.launch(entry, launch.grid, launch.block, launch.shared_bytes, list(map(_passed, arguments)), together)
        except LaunchFailed as error:
            raise LaunchError(str(error), Reason(error.kind)) from error

    def time(self, sample: Any, count: int) -> list[float]:
        raise NotImplementedError("the emulator has no clock")

    def _use(self, unit: EmulatedUnit) -> None:
        """Have one of a kernel's many units know the buffers, with its variables as they were at first."""
        for address in unit.addresses.values():
            unit.unregister(address)
        unit.addresses.clear()
        for variable, initial in unit.variables:
            if variable.ctypes.data not in self._of_host and not np.array_equal(variable, initial):
                variable[:] = initial  # else it may be memory that no one can write
        unit.start(self._checks, self._filling)
        self._used.append(unit)
        for address in self._allocations:
            self._register(unit, address)

    def _register(self, unit: EmulatedUnit, address: int) -> None:
        allocation = self._allocations[address]
        unit.addresses[unit.register(address, allocation.size)] = address
        for offset, size, initialised in allocation.marks:
            unit.set_initialised(address, offset, size, initialised)

    def _mark(self, memory: np.ndarray[Any, Any], offset: int, size: int, initialised: bool) -> None:
        address = memory.ctypes.data
        if address in self._of_host:
            return
        allocation = self._allocations[address]
        if offset == 0 and size >= allocation.size:
            allocation.marks.clear()
        allocation.marks.append((offset, size, initialised))
        for unit in self._used:
            unit.set_initialised(address, offset, size, initialised)


def _passed(argument: Memory | np.generic) -> Any:
    """An argument as ctypes passes it: an address, or a scalar's bytes."""
    if isinstance(argument, np.generic):
        return (ctypes.c_char * argument.nbytes).from_buffer(bytearray(argument.tobytes()))  # at a multiple of 16
    return ctypes.c_void_p(argument.ctypes.data)
