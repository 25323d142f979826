"""A kernel's shared library, compiled so that the emulator counts its memory accesses, and what it reports."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from kernelsweep.platforms.emulated_library import EmulatedLibrary

LANES = 32
SPACES = ("global", "shared")
OPERATIONS = ("load", "store", "atomic")
MISTAKES = ("race", "uninitialised", "out_of_bounds")


@dataclass(frozen=True)
class Site:
    """What one place in the code did to one space of memory.

    address     of the code, from the library's start
    size        bytes that a lane accesses
    requests    by a warp; lanes are those active in them, partial the requests in which not all of a warp's lanes were
    sectors     of global memory; wavefronts and conflicts are of shared memory
    """

    address: int
    size: int
    space: str
    operation: str
    requests: int
    lanes: int
    partial: int
    bytes: int
    sectors: int
    wavefronts: int
    conflicts: int


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake between two places in the code, its first instance, and how often it happened.

    buffer  as watch() numbered it; 0 in shared memory
    site    index in sites(); so is other_site, which is the other access of a race
    offset  bytes from the buffer's start, or from the start of all shared memory
    """

    mistake: str
    space: str
    buffer: int
    block: int
    thread: int
    other_block: int
    other_thread: int
    site: int
    other_site: int
    offset: int
    count: int


@dataclass(frozen=True)
class Request:
    """One request of the traced warp.

    run      counts the blocks that were run before its own
    moment   counts the synchronisations of the block before it
    offsets  of each lane, as in Mistake; None for a lane that was not active
    """

    run: int
    site: int
    moment: int
    buffer: int
    sectors: int
    wavefronts: int
    conflicts: int
    offsets: tuple[int | None, ...]


@dataclass(frozen=True)
class Synchronisations:
    """By each warp: barriers, __syncwarp, and other warp-level operations."""

    barriers: int
    warp_synchronisations: int
    warp_exchanges: int


class _Site(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_size_t),
        ("size", ctypes.c_uint32),
        ("space", ctypes.c_uint8),
        ("operation", ctypes.c_uint8),
        ("requests", ctypes.c_uint64),
        ("lanes", ctypes.c_uint64),
        ("partial", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("sectors", ctypes.c_uint64),
        ("wavefronts", ctypes.c_uint64),
        ("conflicts", ctypes.c_uint64),
    ]


class _Mistake(ctypes.Structure):
    _fields_ = [
        ("mistake", ctypes.c_uint32),
        ("space", ctypes.c_uint32),
        ("buffer", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("other_block", ctypes.c_uint32),
        ("other_thread", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("other_site", ctypes.c_uint32),
        ("padding", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("count", ctypes.c_uint64),
    ]


class _Request(ctypes.Structure):
    _fields_ = [
        ("run", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("lanes", ctypes.c_uint32),
        ("moment", ctypes.c_uint32),
        ("buffer", ctypes.c_uint32),
        ("sectors", ctypes.c_uint32),
        ("wavefronts", ctypes.c_uint32),
        ("conflicts", ctypes.c_uint32),
        ("offsets", ctypes.c_int64 * LANES),
    ]


def _numbers(record: type[Site] | type[Mistake]) -> list[str]:
    """The names of a record's fields that are numbers, whatever they are in the library's structure."""
    return [field.name for field in fields(record) if field.type == "int" and field.name not in ("address", "size")]


class CountingLibrary(EmulatedLibrary):
    """As EmulatedLibrary, for a library compiled with compilers.gcc's `counting`. Blocks run one after another."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._library.emulator_red_zone.restype = ctypes.c_size_t
        self._library.emulator_watch.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._library.emulator_unwatch.argtypes = [ctypes.c_void_p]
        self._library.emulator_set_initialised.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_size_t,
            ctypes.c_int,
        ]
        self._library.emulator_entry_kernel.restype = ctypes.c_void_p
        self.red_zone: int = self._library.emulator_red_zone()
        self._trace_capacity = 0

    def kernel_address(self, entry: int, export: int) -> int:
        """Where an entry's kernel lies, from the library's start; `export` is that of emulator_entry_kernel."""
        in_memory = ctypes.cast(self._library.emulator_entry_kernel, ctypes.c_void_p).value
        assert in_memory is not None
        kernel: int = self._library.emulator_entry_kernel(entry)
        return kernel - in_memory + export

    def watch(self, address: int, size: int) -> int:
        """Register a device buffer, as uninitialised; returns its number. `red_zone` bytes on each side must be unused.

        Raises MemoryError where there is no memory for what is remembered of each word, or there are too many buffers.
        """
        number: int = self._library.emulator_watch(address, size)
        if number < 0:
            raise MemoryError(f"no memory to watch a buffer of {size} bytes")
        return number

    def unwatch(self, address: int) -> None:
        """Forget a device buffer."""
        self._library.emulator_unwatch(address)

    def set_initialised(self, address: int, offset: int, size: int, initialised: bool) -> None:
        """Say whether the host has filled a part of a buffer with what a kernel may read."""
        self._library.emulator_set_initialised(address, offset, size, int(initialised))

    def set_shared(self, variables: Sequence[tuple[int, int]]) -> None:
        """Name the places (offset, size) of the `__shared__` arrays of the kernel that is launched next."""
        offsets, sizes = zip(*variables, strict=True) if variables else ((), ())
        array = ctypes.c_size_t * len(variables)
        if self._library.emulator_set_shared(array(*offsets), array(*sizes), len(variables)) != 0:
            raise MemoryError(f"{len(variables)} shared arrays are more than can be counted")

    def start(self, check: bool) -> None:
        """Forget what was counted and found. `check`: look for mistakes too; then buffers must be filled after this."""
        self._library.emulator_start_counting(int(check))

    def sites(self) -> list[Site]:
        """What each place in the code did since start()."""
        count = self._library.emulator_sites(None, 0)
        sites = (_Site * count)()
        self._library.emulator_sites(sites, count)
        return [
            Site(
                site.address,
                site.size,
                SPACES[site.space],
                OPERATIONS[site.operation],
                *(getattr(site, name) for name in _numbers(Site)),
            )
            for site in sites
        ]

    def mistakes(self) -> list[Mistake]:
        """What was found since start()."""
        capacity = 256  # as most_findings in races.hpp
        found = (_Mistake * capacity)()
        count = self._library.emulator_findings(found, capacity)
        return [
            Mistake(
                MISTAKES[one.mistake],
                SPACES[one.space],
                *(getattr(one, name) for name in _numbers(Mistake)),
            )
            for one in found[:count]
        ]

    def synchronisations(self) -> Synchronisations:
        """How often warps synchronised since start()."""
        counts = (ctypes.c_uint64 * 3)()
        self._library.emulator_synchronisations(counts)
        return Synchronisations(*counts)

    def trace(self, block: int, warp: int, capacity: int) -> None:
        """Keep the first `capacity` requests of a warp from now on, of whichever launch; 0 ends that."""
        if self._library.emulator_trace(block, warp, capacity) != 0:
            raise MemoryError(f"no memory to trace {capacity} requests")
        self._trace_capacity = capacity

    def traced(self) -> list[Request]:
        """The requests that were kept, in order."""
        entries = (_Request * self._trace_capacity)()
        count = self._library.emulator_traced(entries)
        return [
            Request(
                entry.run,
                entry.site,
                entry.moment,
                entry.buffer,
                entry.sectors,
                entry.wavefronts,
                entry.conflicts,
                tuple(offset if entry.lanes >> lane & 1 else None for lane, offset in enumerate(entry.offsets)),
            )
            for entry in entries[:count]
        ]
