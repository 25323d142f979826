"""Addresses in a counting library to lines of source, and offsets in shared memory to variables."""

from __future__ import annotations

import itertools
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from io import BytesIO

from elftools.elf.elffile import ELFFile

from cuda_emulator.shapes import Shape, Shapes, shapes_of
from cuda_emulator.symbols import FUNCTION, OBJECT, THREAD_LOCAL, symbols

# The symbol of dynamic shared memory. Each `extern __shared__` array of the source has another symbol for it.
_DYNAMIC_SHARED = "emulator_dynamic_shared"

OF_EMULATOR = re.compile(r"(?:^|/)emulator/cpp/[\w/.]+$")

# The names of variables that are the emulator's or the linker's.
_NO_KERNELS = re.compile(r"__|_ZGV|_ZT|completed\.|_ZL7entries|.*8emulator")


@dataclass(frozen=True)
class Variable:
    """A `__shared__` array: its offset in thread-local storage and its size in bytes; dynamic memory has size 0."""

    name: str
    offset: int
    size: int


class Lines:
    """The symbols and line tables of a library, by its content; file names are as the compiler recorded them.

    guards     the offsets of g++'s marks that `__shared__` variables have been constructed
    variables  the addresses and sizes of variables in global and constant memory
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._arrays: dict[str, Variable] = {}
        self._functions: dict[str, int] = {}
        self.guards: list[int] = []
        self.variables: list[tuple[int, int]] = []
        for symbol in symbols(content):
            if symbol.kind == THREAD_LOCAL and symbol.name.startswith("_ZGV"):
                self.guards.append(symbol.value)
            elif symbol.kind == THREAD_LOCAL:
                name = "dynamic shared memory" if symbol.name == _DYNAMIC_SHARED else _last_part(symbol.name)
                self._arrays[symbol.name] = Variable(name, symbol.value, symbol.size)
            elif symbol.kind == FUNCTION:
                self._functions[symbol.name] = symbol.value
            elif symbol.kind == OBJECT and symbol.is_writable and not _NO_KERNELS.match(symbol.name):
                self.variables.append((symbol.value, symbol.size))

    @cached_property
    def _table(self) -> tuple[list[int], list[tuple[int, str, int]]]:
        """The rows of the line tables in order, and their addresses."""
        rows = sorted(_rows(ELFFile(BytesIO(self._content))), key=lambda row: (row[0], bool(row[1])))
        return [address for address, _, _ in rows], rows

    @cached_property
    def _shapes(self) -> Shapes:
        return shapes_of(self._content)

    def shape(self, array: Variable) -> tuple[str, Shape | None]:
        """An array's name and shape; of dynamic memory, those that all declarations give it; None where they differ."""
        dynamic = self._shapes.dynamic
        if not array.size and len(dynamic) == 1:
            return next(iter(dynamic.items()))
        return array.name, self._shapes.shared.get(array.offset) if array.size else None

    def variable(self, address: int) -> tuple[str, Shape]:
        """The name and the shape of a variable in global memory."""
        return self._shapes.variables.get(address, ("a variable", Shape((0,), 1)))

    def line(self, address: int) -> str:
        """The file:line of the call that returns to `address`: the kernel's, where a header's function is in line."""
        # The return address may belong to the next line already; the byte before it belongs to the call.
        starts, rows = self._table
        found = bisect_right(starts, address - 1) - 1
        if found < 0:
            return "an unknown line"
        _, file, number = rows[found]
        if OF_EMULATOR.search(file):  # The compiler has placed a header's function here.
            start = max((one for one in self._functions.values() if one < address), default=0)
            before = itertools.takewhile(lambda row: row[0] >= start, rows[found::-1])
            _, file, number = next((row for row in before if row[1] and not OF_EMULATOR.search(row[1])), rows[found])
        return f"{file}:{number}"

    def function(self, name: str) -> int:
        """The address of the function with this symbol."""
        return self._functions[name]

    def end_of_function(self, address: int) -> int:
        """Where the next function begins after the one at an address."""
        return min((start for start in self._functions.values() if start > address), default=address)

    def shared_arrays(self, kernel: int, kernels: Iterable[int]) -> list[Variable]:
        """The `__shared__` arrays that a kernel can use, by offset; the arrays of other kernels are left out.

        Dynamic memory is among them where the source declares it; else an access past the last array would be there.

        kernel, kernels  the addresses of this kernel and of all kernels
        """
        others = {address for address in kernels if address != kernel}
        # A function's static variable is named _ZZ<function>E<variable>, the function without its own _Z.
        prefixes = tuple(f"_ZZ{name[2:]}E" for name, address in self._functions.items() if address in others)
        arrays = [variable for name, variable in self._arrays.items() if not name.startswith(prefixes)]
        dynamic = self._arrays[_DYNAMIC_SHARED]
        static = [array for array in arrays if array.offset != dynamic.offset]
        is_declared = len(arrays) > len(static) + 1
        return sorted([*static, dynamic] if is_declared or not static else static, key=lambda array: array.offset)


def shared_array(arrays: Sequence[Variable], offset: int) -> Variable:
    """The array that contains an offset in shared memory: the last one that begins at or before it."""
    return max((array for array in arrays if array.offset <= offset), key=lambda array: array.offset, default=arrays[0])


def _rows(elf: ELFFile) -> list[tuple[int, str, int]]:
    """Every row of the line tables: address, file, line."""
    rows = []
    debugging = elf.get_dwarf_info(relocate_dwarf_sections=False)  # A library's are; to look takes half of the time.
    for unit in debugging.iter_CUs():
        program = debugging.line_program_for_CU(unit)
        if program is None:
            continue
        file_name = cache(partial(_file_name, program, version=program["version"]))
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append((state.address, "", 0))
                continue
            rows.append((state.address, file_name(state.file), state.line))
    return rows


def _file_name(program: object, index: int, version: int) -> str:
    """A file name of the line table. DWARF 5 numbers files and directories from 0, earlier versions from 1."""
    header = program.header  # type: ignore[attr-defined]
    entry = header["file_entry"][index if version >= 5 else index - 1]
    directories = [directory.decode() for directory in header["include_directory"]]
    directory = entry.dir_index if version >= 5 else entry.dir_index - 1
    folder = directories[directory] if 0 <= directory < len(directories) else ""
    # The compiler takes that for its folder (compiling.py).
    return os.path.normpath(os.path.join(folder, entry.name.decode())).removeprefix("/proc/self/cwd/")


def _last_part(mangled: str) -> str:
    """The last component of a mangled name, such as shared of _ZZ4treeIiEvPT_E6shared; any other name as it is.

    A component is its length and its characters; a number may follow that distinguishes variables of one name.
    """
    if not mangled.startswith("_Z"):
        return mangled
    for start in range(len(mangled) - 1, 0, -1):
        digits = mangled[start:]
        length = "".join(character for character in digits[:4] if character.isdigit())
        if length and mangled[start - 1] == "E" and len(digits) >= len(length) + int(length):
            return digits[len(length) : len(length) + int(length)]
    return mangled
