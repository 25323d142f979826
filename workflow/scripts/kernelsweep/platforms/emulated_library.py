"""A kernel's shared library, compiled for the emulator, and its launches."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import LaunchError
from kernelsweep.sandbox import check_inside

_MESSAGE_CAPACITY = 1024

# One launch at a time, because a launch installs signal handlers for the whole process. One library at a time keeps its
# stacks, because the number of a process's memory maps is limited.
_launching = threading.Lock()
_last_launched: EmulatedLibrary | None = None


class EmulatedLibrary:
    """The library at `path`, built by build.gcc. Its entries are numbered as in the translation unit.

    entries          their names
    partial_barrier  file and line of a barrier that threads of the last launch passed only because others of their
                     block had ended, in the lowest such block; empty if there is none
    """

    def __init__(self, path: Path) -> None:
        check_inside()
        # Without a slash, the path would be searched for among the system's libraries.
        self._library = ctypes.CDLL(str(path.resolve()))
        self._library.emulator_entry_name.restype = ctypes.c_char_p
        self._library.emulator_parameter_kinds.restype = ctypes.c_char_p
        self._library.emulator_parameter_size.restype = ctypes.c_size_t
        self._library.emulator_symbol.restype = ctypes.c_void_p
        self._library.emulator_symbol.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]
        self._library.emulator_partial_barrier.restype = ctypes.c_char_p
        self.partial_barrier = ""
        self._library.emulator_launch.argtypes = [
            ctypes.c_uint,
            ctypes.c_size_t * 3,
            ctypes.c_size_t * 3,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self.entries: tuple[str, ...] = tuple(
            self._library.emulator_entry_name(entry).decode() for entry in range(self._library.emulator_entry_count())
        )

    def launch(
        self,
        entry: int,
        grid: int | tuple[int, int, int],
        block: int | tuple[int, int, int],
        shared_bytes: int,
        arguments: Sequence[Any],
        cooperative: bool = False,
    ) -> None:
        """Run a kernel to its end. Other Python threads continue meanwhile.

        entry         index of the variant in the translation unit
        grid, block   number of blocks, and of threads in each: in x, or in x, y and z
        shared_bytes  size of the dynamic shared memory
        arguments     the kernel's arguments in order: ctypes values, or addresses as plain integers
        cooperative   whether the grid's threads can wait for one another

        Raises LaunchError for exceeded limits, arguments that do not fit the kernel's parameters, threads that wait at
        a barrier while others of their block wait elsewhere, and a stack overflow; IllegalAccess for an illegal
        memory access. The process and the library stay usable.
        """
        global _last_launched
        if not 0 <= entry < len(self.entries):
            raise LaunchError(f"there is no entry {entry}: the library has {len(self.entries)}")
        name = self.entries[entry]
        blocks, threads = ((size, 1, 1) if isinstance(size, int) else size for size in (grid, block))
        for quantity, values in (("grid", blocks), ("block", threads), ("shared_bytes", (shared_bytes,))):
            if min(values) < 0:
                raise LaunchError(f"{name}: {quantity} is {min(values)}; it cannot be negative")
        passed = [ctypes.c_void_p(argument) if isinstance(argument, int) else argument for argument in arguments]
        self._check_sizes(entry, passed)
        pointers = (ctypes.c_void_p * len(passed))(*(ctypes.addressof(value) for value in passed))
        sides = ctypes.c_size_t * 3
        message = ctypes.create_string_buffer(_MESSAGE_CAPACITY)
        with _launching:
            if _last_launched is not None and _last_launched is not self:
                _last_launched._library.emulator_release()
            _last_launched = self
            failed = self._library.emulator_launch(
                entry, sides(*blocks), sides(*threads), shared_bytes, cooperative, pointers, message, len(message)
            )
            self.partial_barrier = self._library.emulator_partial_barrier().decode(errors="replace")
        if failed:
            reason = message.value.decode(errors="replace")
            raise LaunchError(reason)

    def parameter_types(self, entry: int) -> list[str]:
        """What an entry's parameters hold, as in platforms.platform.Platform."""
        kinds = self._library.emulator_parameter_kinds(entry).decode()
        return [f"{kind}{self._library.emulator_parameter_size(entry, place)}" for place, kind in enumerate(kinds)]

    def variable(self, name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of a variable that the unit names for the host. Raises LaunchError where it names none."""
        size = ctypes.c_size_t()
        address = self._library.emulator_symbol(name.encode(), ctypes.byref(size))
        if not address:
            raise LaunchError(f"the kernel has no variable {name} in constant memory")
        return as_bytes(address, size.value)

    def _check_sizes(self, entry: int, values: Sequence[Any]) -> None:
        expected = [int(parameter[1:]) for parameter in self.parameter_types(entry)]
        given = [ctypes.sizeof(value) for value in values]
        if given != expected:
            raise LaunchError(
                f"{self.entries[entry]}: the kernel's parameters have {expected} bytes, the arguments {given}"
            )


def as_bytes(address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The bytes of this process's memory at an address."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
