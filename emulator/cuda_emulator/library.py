"""A kernel's shared library, compiled for the emulator: its launches, and what it tells of accesses to memory."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cuda_emulator.errors import LaunchFailed
from cuda_emulator.lines import Lines, Variable
from cuda_emulator.mistakes import HEAP, Buffer, Finding, in_words
from cuda_emulator.shapes import Shape

LANES = 32  # of a warp
RED_ZONE = 256 * 1024  # bytes on each side of a device buffer, as red_zone in spaces.hpp
ALIGNMENT = 256  # of a GPU's allocations, so that a request touches the same sectors
SPACES = ("global", "shared")
ACCESSES = ("load", "store", "atomic", "atomic", "atomic", "atomic")
OF_BLOCK = (3, 5)  # among them
MOST_MISTAKES = 256  # as most_findings in races.hpp
MOST_RECORDED_STEPS = 65_536  # as most_steps in hooks.hpp
MOST_STEPS = 6  # that are told
BARRIERS = ("other_barrier", "partial_barrier", "unfenced_barrier")
MISTAKES = ("race", "uninitialised", "out_of_bounds", "inactive_lane", *BARRIERS)

# What ends a launch, as Failure in block.hpp; both of the first have no name.
FAILURES = ("", "", "barrier", "misaligned", "out_of_bounds", "illegal_access", "not_supplied")

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# Sizes in x, or in x, y and z.
Size = int | tuple[int, int, int]


@dataclass(frozen=True)
class Attributes:
    """What a launch is besides its sizes.

    cluster      the sides of a cluster of blocks; empty for what the kernel says of itself
    cooperative  whether all blocks are resident at once, so that the grid's threads can wait for one another
    programmatic  whether it may begin before the launch before it has ended (programmatic dependent launch)
    """

    cluster: tuple[int, ...] = ()
    cooperative: bool = False
    programmatic: bool = False


PLAIN = Attributes()


class Site(ctypes.Structure):
    """The counted accesses of one place in the code to one space of memory.

    address                the code's, from the library's start
    operation_number       as Operation in requests.hpp
    is_of_range            whether values that start()'s filling has for its reads may have come too late
    size                   bytes that a lane accesses
    requests               of warps
    lanes                  the sum of the requests' active lanes
    partial                requests in which a lane of the warp was inactive
    sectors                in global memory
    wavefronts, conflicts  in shared memory
    """

    _fields_ = [
        ("address", ctypes.c_size_t),
        ("size", ctypes.c_uint32),
        ("space_number", ctypes.c_uint8),
        ("operation_number", ctypes.c_uint8),
        ("is_doubted", ctypes.c_bool),
        ("is_of_range", ctypes.c_bool),
        *((name, ctypes.c_uint64) for name in ("requests", "lanes", "partial", "bytes", "sectors")),
        *((name, ctypes.c_uint64) for name in ("wavefronts", "conflicts")),
    ]

    @property
    def space(self) -> str:
        """Global or shared."""
        return SPACES[self.space_number]

    @property
    def operation(self) -> str:
        """One of ACCESSES."""
        return ACCESSES[self.operation_number]

    @property
    def is_of_block(self) -> bool:
        """Whether it is atomic for the threads of a block alone."""
        return self.operation_number in OF_BLOCK


class Mistake(ctypes.Structure):
    """A kind of mistake between two places in the code, its first instance, and the number of instances.

    buffer            its number from register(); 0 in shared memory
    site, other_site  indices in sites(); the second is the other access of a race
    block, thread     their numbers, x fastest; so of the other access
    grid, block_size  the launch's, in x, y and z
    differs           of a race of two writes, where start() got a filling: whether some stored different values
    fenced            of a race: whether the launch has fences that could order the two accesses
    cause             of a race, as in races.hpp: 1 an asynchronous copy that is not waited for, 2 a bulk copy without a
                      fence for the asynchronous proxy; 3 of an access to memory that the other thread has freed
    launches_before   of a race: how many launches earlier the other access was; other_name (of its kernel),
                      other_grid and other_block_size are that launch's
    has_waited        of a race of two launches: whether the later one's thread had waited for the launch before it
    offset            bytes from the buffer's start, or from the start of all shared memory; an inactive lane's number
    file, line        in place of a site: of the shuffle from an inactive lane; of a barrier, where others of its block
                      have ended, or wait at that at line `offset` of the file other_name
    allocated, allocated_site  in the kernels' heap: the bytes of the nearest allocation, from whose start the offset
                      is, and the index of its call in sites(), plus one; 0 where there is none
    """

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("mistake_number", "space_number", "buffer", "block", "thread")),
        *((name, ctypes.c_uint32) for name in ("other_block", "other_thread", "site", "other_site")),
        ("grid", ctypes.c_uint32 * 3),
        ("block_size", ctypes.c_uint32 * 3),
        *((name, ctypes.c_uint32) for name in ("differs", "fenced", "cause", "launches_before")),
        ("other_grid", ctypes.c_uint32 * 3),
        ("other_block_size", ctypes.c_uint32 * 3),
        ("has_waited", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("count", ctypes.c_uint64),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        ("other_name", ctypes.c_char_p),
        ("allocated", ctypes.c_uint32),
        ("allocated_site", ctypes.c_uint32),
    ]

    @property
    def mistake(self) -> str:
        """One of MISTAKES."""
        return MISTAKES[self.mistake_number]

    @property
    def space(self) -> str:
        """Global or shared."""
        return SPACES[self.space_number]


class Request(ctypes.Structure):
    """One request of the traced warp.

    run       the number of blocks that ran before its block
    moment    the number of synchronisations of its block before it
    """

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("lanes", "run", "site", "moment", "buffer", "sectors")),
        *((name, ctypes.c_uint32) for name in ("wavefronts", "conflicts")),
        ("every_offset", ctypes.c_int64 * LANES),
    ]

    @property
    def offsets(self) -> list[int | None]:
        """One a lane, as in Mistake; None for an inactive lane."""
        return [offset if self.lanes >> lane & 1 else None for lane, offset in enumerate(self.every_offset)]


class _Step(ctypes.Structure):
    """An atomic function that has run: its address, its place in the code, and its thread."""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("address", "place")),
        *((name, ctypes.c_uint32) for name in ("block", "thread")),
    ]


class Synchronisations(NamedTuple):
    """Counts, one a warp and execution: barriers, __syncwarp, the other warp-level operations; and the warps."""

    barriers: int
    warp_synchronisations: int
    warp_exchanges: int
    warps: int


@dataclass(frozen=True)
class Report:
    """What was seen since the first watch(): mistakes in words, accesses a place in the code, and synchronisations."""

    mistakes: list[Finding]
    sites: list[Site]
    synchronisations: Synchronisations


_MESSAGE_CAPACITY = 1024

# A line of the emulator's C++.
_OF_HEADERS = re.compile(r"(?:^|/)emulator/cpp/[\w/]+\.hpp:|^:0$|^an unknown line$")

# One launch at a time, because a launch installs signal handlers for the whole process. One library at a time keeps its
# stacks, because the number of a process's memory maps is limited.
_launching = threading.Lock()
_last_launched: Library | None = None


class Library:
    """The library at `path`, made by compile(). Its entries are numbered as in the translation unit.

    unregister       forgets a device buffer, by its address
    set_initialised  of a buffer's address, an offset, a size and a flag: marks a part of it as initialised, so that a
                     kernel may read it, or as uninitialised
    set_schedule     of a number: the order in which blocks, warps and lanes run from now on (schedule_name())
    touched          of a buffer's address: its bytes up to the end of the last word that a launch has accessed
    """

    def __init__(self, path: Path) -> None:
        # Without a slash, the path would be searched for among the system's libraries.
        self._library = ctypes.CDLL(str(path.resolve()))
        self._content = path.read_bytes()
        self._library.emulator_entry_name.restype = ctypes.c_char_p
        self._library.emulator_parameter_kinds.restype = ctypes.c_char_p
        self._library.emulator_parameter_size.restype = ctypes.c_size_t
        self._library.emulator_symbol.restype = ctypes.c_void_p
        self._library.emulator_symbol.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]
        self._library.emulator_watch.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._library.emulator_watch_static.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._library.emulator_unwatch.argtypes = [ctypes.c_void_p]
        self._library.emulator_set_initialised.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 2, ctypes.c_int]
        self._library.emulator_reads_what_it_left.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._library.emulator_touched.argtypes = [ctypes.c_void_p]
        self._library.emulator_touched.restype = ctypes.c_size_t
        self._library.emulator_entry_kernel.restype = ctypes.c_void_p
        self._library.emulator_fault_place.restype = ctypes.c_size_t
        self.unregister = self._library.emulator_unwatch
        self.set_initialised = self._library.emulator_set_initialised
        self.touched = self._library.emulator_touched
        self.set_schedule = self._library.emulator_set_schedule
        self._trace_capacity = 0
        self._buffers: dict[int, Buffer] = {}  # by the library's numbers
        self._shared: list[Variable] = []  # of the entry launched last
        self._dynamic_bytes = 0
        self._library.emulator_launch.argtypes = [
            ctypes.c_uint,
            *[ctypes.c_size_t * 3] * 3,
            ctypes.c_size_t,
            *[ctypes.c_int] * 2,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self.entries: tuple[str, ...] = tuple(
            self._library.emulator_entry_name(entry).decode() for entry in range(self._library.emulator_entry_count())
        )

    @cached_property
    def lines(self) -> Lines:
        """The symbols and the source lines. To read them takes a fraction of a second."""
        return Lines(self._content)

    @cached_property
    def _start(self) -> int:
        address = ctypes.cast(self._library.emulator_entry_kernel, ctypes.c_void_p).value or 0
        return address - self.lines.function("emulator_entry_kernel")

    @cached_property
    def variables(self) -> list[tuple[Bytes, Bytes]]:
        """The variables in global and constant memory, and what they held when this was asked first."""
        found = [as_bytes(self._start + place, size) for place, size in self.lines.variables]
        return [(variable, variable.copy()) for variable in found]

    def read_before(self) -> Iterator[tuple[int, str]]:
        """Address and name of each variable of which launches since start() have changed a byte that they had read."""
        for (place, _), (variable, initial) in zip(self.lines.variables, self.variables, strict=True):
            if self._library.emulator_reads_what_it_left(variable.ctypes.data, initial.ctypes.data):
                yield variable.ctypes.data, self.lines.variable(place)[0]

    @cached_property
    def _statics(self) -> dict[int, tuple[int, int]]:
        """The place and the size of each variable in global memory, by the number that it is watched by."""
        watch = self._library.emulator_watch_static
        return {watch(self._start + place, size): (place, size) for place, size in self.lines.variables if size}

    def static(self, number: int) -> Buffer | None:
        """A variable that is watched by this number, or None."""
        if number not in self._statics:
            return None
        place, size = self._statics[number]
        name, shape = self.lines.variable(place)
        return Buffer(name, size, shape, "variable")

    @cached_property
    def shared_arrays(self) -> list[list[Variable]]:
        """The `__shared__` arrays of each entry."""
        kernels = [self._library.emulator_entry_kernel(one) - self._start for one in range(len(self.entries))]
        return [self.lines.shared_arrays(kernel, kernels) for kernel in kernels]

    def launch(
        self,
        entry: int,
        grid: Size,
        block: Size,
        shared_bytes: int = 0,
        arguments: Sequence[Any] = (),
        attributes: Attributes = PLAIN,
    ) -> None:
        """Run a kernel to its end. Other Python threads continue meanwhile.

        entry         index of the variant in the translation unit
        grid, block   number of blocks, and of threads in each: in x, or in x, y and z
        arguments     the kernel's arguments in order: ctypes values, or addresses as plain integers
        attributes    clusters of blocks, and how the launch runs beside others

        Raises LaunchFailed for exceeded limits, threads that wait at a barrier while others of their block wait
        elsewhere, a stack overflow, and an illegal memory access. The process and the library stay usable.
        """
        global _last_launched
        if self._buffers:
            self._shared, self._dynamic_bytes = self.shared_arrays[entry], shared_bytes
            self.set_shared([(one.offset, one.size) for one in self._shared if one.size], self.lines.guards)
        blocks, threads = ((size, 1, 1) if isinstance(size, int) else size for size in (grid, block))
        passed = [ctypes.c_void_p(argument) if isinstance(argument, int) else argument for argument in arguments]
        pointers = (ctypes.c_void_p * len(passed))(*(ctypes.addressof(value) for value in passed))
        sides = [(ctypes.c_size_t * 3)(*size) for size in (blocks, threads, attributes.cluster or (1, 1, 1))]
        message = ctypes.create_string_buffer(_MESSAGE_CAPACITY)
        with _launching:
            if _last_launched is not None and _last_launched is not self:
                _last_launched._library.emulator_release()
            _last_launched = self
            how = (attributes.cooperative, attributes.programmatic)
            failed = self._library.emulator_launch(entry, *sides, shared_bytes, *how, pointers, message, len(message))
        if failed:
            text = message.value.decode(errors="replace")
            raise LaunchFailed(", at ".join([text, *self._failed_at(entry)[:1]]), FAILURES[failed])

    def _failed_at(self, entry: int) -> list[str]:
        """Lines of the source where the thread was that has ended the launch, the likeliest first; perhaps none."""
        found = (ctypes.c_size_t * 32)()
        places = found[: self._library.emulator_running_places(found)] or [self._library.emulator_fault_place()]
        kernel = self._library.emulator_entry_kernel(entry) - self._start
        end = self.lines.end_of_function(kernel)
        # Other words on the stack may be left from functions that have returned.
        likely = sorted(places[1:], key=lambda place: not kernel < place <= end)
        return [
            line for line in map(self.lines.line, filter(None, [*places[:1], *likely])) if not _OF_HEADERS.search(line)
        ]

    def parameter_types(self, entry: int) -> list[str]:
        """What an entry's parameters hold, each a kind and its bytes, such as f4; of a pointer to numbers "p8 f4".

        Kinds are p a pointer, f a float of IEEE 754, b a bfloat16, i and u a whole number with and without a sign, s a
        structure, and ? what nothing tells.
        """
        kinds, size_of = self._library.emulator_parameter_kinds(entry).decode(), self._library.emulator_parameter_size
        held = [f"{kind}{size_of(entry, place)}" for place, kind in enumerate(kinds)]
        own, pointed = held[: len(held) // 2], held[len(held) // 2 :]
        return [f"{of} {at}" if of[0] == "p" and at[1:] != "0" else of for of, at in zip(own, pointed, strict=True)]

    def variable(self, name: str) -> Bytes:
        """The bytes of a variable that the unit names for the host. Raises LaunchFailed where it names none."""
        size = ctypes.c_size_t()
        address = self._library.emulator_symbol(name.encode(), ctypes.byref(size))
        if not address:
            raise LaunchFailed(f"the kernel has no variable {name}")
        return as_bytes(address, size.value)

    def watch(
        self, address: int, size: int, name: str = "memory", itemsize: int = 1, is_initialised: bool = True
    ) -> None:
        """Know a device buffer of `size` bytes, in memory of allocate(). The first one begins to count and check.

        name, itemsize  the buffer's name and its elements' size in bytes, for report()
        is_initialised  whether a kernel may read it before it writes it
        """
        if not self._buffers:
            self.start(check=True)
        self._buffers[self.register(address, size)] = Buffer(name, size, Shape((size // itemsize,), itemsize))
        if is_initialised:
            self.set_initialised(address, 0, size, True)

    def report(self) -> Report:
        """What was seen since the first watch()."""
        sites = self.sites()
        lines = self.lines

        def buffer(number: int) -> Buffer:
            return self.static(number) or self._buffers[number]

        found = in_words(self.mistakes(), sites, lines.line, buffer, self._shared, lines.shape, self._dynamic_bytes)
        return Report(found, sites, self.synchronisations())

    def register(self, address: int, size: int) -> int:
        """Register a device buffer as uninitialised; returns its number. RED_ZONE bytes on each side must be unused.

        Raises MemoryError if there is no memory for the state of each word, or if there are too many buffers.
        """
        number: int = self._library.emulator_watch(address, size)
        if number < 0:
            raise MemoryError(f"no memory to watch a buffer of {size} bytes")
        return number

    def set_shared(self, variables: Sequence[tuple[int, int]], guards: Sequence[int]) -> None:
        """Set the `__shared__` arrays of the kernel that is launched next.

        variables  the offset and size of each array
        guards     the offsets of variables that g++ adds; accesses to them don't count
        """
        offsets, sizes = zip(*variables, strict=True) if variables else ((), ())
        array, of_guards = ctypes.c_size_t * len(variables), (ctypes.c_size_t * len(guards))(*guards)
        if self._library.emulator_set_shared(array(*offsets), array(*sizes), len(variables), of_guards, len(guards)):
            raise MemoryError(f"{len(variables)} shared arrays are more than can be counted")

    def start(self, check: bool, filling: int | None = None) -> None:
        """Reset all counts and mistakes. `check`: look for mistakes as well; then buffers must be filled after this.

        filling  a byte that shared memory is full of when a block starts, and that plain reads get which were in a race
                 with atomic functions in the run before. Writes' values are compared, too
        """
        if check:
            _ = self._statics  # are watched from now on
        self._library.emulator_start_counting(int(check), -1 if filling is None else filling)

    def sites(self) -> list[Site]:
        """The accesses of each place in the code since start()."""
        count = self._library.emulator_sites(None, 0)
        sites = (Site * count)()
        self._library.emulator_sites(sites, count)
        return list(sites)

    def mistakes(self) -> list[Mistake]:
        """The mistakes since start(), at most MOST_MISTAKES."""
        found = (Mistake * MOST_MISTAKES)()
        return found[: self._library.emulator_findings(found, MOST_MISTAKES)]

    def synchronisations(self) -> Synchronisations:
        """The number of synchronisations since start()."""
        counts = (ctypes.c_uint64 * 4)()
        self._library.emulator_synchronisations(counts)
        return Synchronisations(*counts)

    def steps(self, start: int = 0, size: int = 0) -> list[str]:
        """The atomic functions of the last launches in words, in their order, without repetitions in loops.

        start, size  of memory: those of two threads there, of which one comes between two of the other; of all memory
                     without these, the last ones

        At most MOST_STEPS, of the first 65,536 since a kernel ran again, or since start(). None of the order 0.
        """
        taken = (_Step * MOST_RECORDED_STEPS)()
        count = self._library.emulator_steps(taken)
        ran = [one for one in taken[:count] if not size or start <= one.address < start + size]
        if size:
            pair = _interrupted([(one.block, one.thread) for one in ran])
            ran = [one for one in ran if (one.block, one.thread) in pair]
        unlike = {(one.block, one.thread, one.place, one.address): one for one in reversed(ran)}.values()
        shown = [*reversed(unlike)][:MOST_STEPS] if size else [*unlike][:MOST_STEPS][::-1]
        return [f"thread {one.thread} of block {one.block} at {self.lines.line(one.place)}" for one in shown]

    def trace(self, block: int, warp: int, capacity: int) -> None:
        """Record the first `capacity` requests of a warp from now on, in any launch; 0 ends the recording."""
        if self._library.emulator_trace(block, warp, capacity) != 0:
            raise MemoryError(f"no memory to trace {capacity} requests")
        self._trace_capacity = capacity

    def traced(self) -> list[Request]:
        """The recorded requests, in order, but for those of the kernels' heap."""
        entries = (Request * self._trace_capacity)()
        return [one for one in entries[: self._library.emulator_traced(entries)] if one.buffer != HEAP]


def _interrupted(threads: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The first thread that comes again after others, and the first one of these."""
    first: dict[tuple[int, int], int] = {}
    for place, thread in enumerate(threads):
        between = next((one for one in threads[first.get(thread, place) : place] if one != thread), None)
        if between:
            return {thread, between}
        first.setdefault(thread, place)
    return {*threads[:2]}


def schedule_name(number: int) -> str:
    """What an order of blocks, warps and lanes is, in words: as Schedule in block.hpp numbers them."""
    names = (
        "the first blocks, warps and lanes first",
        "the last blocks, warps and lanes first",
        "the first blocks, warps and lanes first, each until its next atomic function",
        "the last blocks, warps and lanes first, each until its next atomic function",
    )
    return names[number] if number < len(names) else f"blocks, warps and lanes by chance, of seed {number}"


def allocate(size: int) -> Bytes:
    """Memory for a device buffer: aligned as on a GPU, with RED_ZONE unused bytes on each side.

    It has room for whole words, as copies and fills take.
    """
    memory = np.empty(size + 2 * RED_ZONE + ALIGNMENT, np.uint8)
    start = RED_ZONE + -(memory.ctypes.data + RED_ZONE) % ALIGNMENT
    return memory[start : start - (-size // 4) * 4]


def as_bytes(address: int, size: int) -> Bytes:
    """The bytes of this process's memory at an address."""
    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)
