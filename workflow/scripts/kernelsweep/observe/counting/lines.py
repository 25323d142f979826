"""From addresses in a counting library to lines of source, and from places in shared memory to variables."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

# Under its own name, and that of each `extern __shared__` array of the source, which are all one memory.
_DYNAMIC_SHARED = "emulator_dynamic_shared"


@dataclass(frozen=True)
class Variable:
    """A `__shared__` array: its name and its place in thread-local storage, in bytes; the dynamic one has no size."""

    name: str
    offset: int
    size: int


class Lines:
    """The symbols and line tables of the library at `path`; files are as the compiler was told to record them."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            elf = ELFFile(file)
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            self._arrays: dict[str, Variable] = {}
            self._functions: dict[str, int] = {}
            for symbol in table.iter_symbols():
                kind, value = symbol["st_info"]["type"], symbol["st_value"]
                if kind == "STT_TLS":
                    name = "dynamic shared memory" if symbol.name == _DYNAMIC_SHARED else _last_part(symbol.name)
                    self._arrays[symbol.name] = Variable(name, value, symbol["st_size"])
                elif kind == "STT_FUNC":
                    self._functions[symbol.name] = value
            self._rows = sorted(_rows(elf), key=lambda row: row[0])
        self._starts = [address for address, _, _ in self._rows]

    def line(self, address: int) -> str:
        """The file:line of the access before a return address."""
        # The return address may already belong to the next line; the byte before it is the call's.
        found = bisect_right(self._starts, address - 1) - 1
        if found < 0:
            return "an unknown line"
        _, file, number = self._rows[found]
        return f"{file}:{number}"

    def function(self, name: str) -> int:
        """The address of a function, by its symbol's name."""
        return self._functions[name]

    def shared_arrays(self, kernel: int, kernels: Iterable[int]) -> list[Variable]:
        """The `__shared__` arrays that a kernel can use, in order; those of other kernels lie among them.

        kernel, kernels  the addresses of this kernel and of all
        """
        others = {address for address in kernels if address != kernel}
        # A function's static variable is named _ZZ<function>E<variable>, the function without its own _Z.
        prefixes = tuple(f"_ZZ{name[2:]}E" for name, address in self._functions.items() if address in others)
        arrays = [variable for name, variable in self._arrays.items() if not name.startswith(prefixes)]
        dynamic = self._arrays[_DYNAMIC_SHARED]
        named = [array for array in arrays if array.offset != dynamic.offset or array == dynamic]
        return sorted(named, key=lambda array: array.offset)


def shared_array(arrays: Sequence[Variable], offset: int) -> Variable:
    """The array that a place of shared memory belongs to: the one that begins last before it."""
    return max((array for array in arrays if array.offset <= offset), key=lambda array: array.offset, default=arrays[0])


def _rows(elf: ELFFile) -> list[tuple[int, str, int]]:
    """Every row of the line tables: address, file, line."""
    rows = []
    debugging = elf.get_dwarf_info()
    for unit in debugging.iter_CUs():
        program = debugging.line_program_for_CU(unit)
        if program is None:
            continue
        version = program["version"]
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append((state.address, "", 0))
                continue
            rows.append((state.address, _file_name(program, state.file, version), state.line))
    return rows


def _file_name(program: object, index: int, version: int) -> str:
    """A file of the line table; from DWARF 5 on, files and directories are numbered from 0, before that from 1."""
    header = program.header  # type: ignore[attr-defined]
    entry = header["file_entry"][index if version >= 5 else index - 1]
    directories = [directory.decode() for directory in header["include_directory"]]
    directory = entry.dir_index if version >= 5 else entry.dir_index - 1
    folder = directories[directory] if 0 <= directory < len(directories) else ""
    return os.path.normpath(os.path.join(folder, entry.name.decode()))


def _last_part(mangled: str) -> str:
    """The last name of a mangled one, which is a length and that many characters; a name that is not mangled as it is.

    Such as shared of _ZZ4treeIiEvPT_E6shared, where a number may follow that tells two of the name apart.
    """
    if not mangled.startswith("_Z"):
        return mangled
    for start in range(len(mangled) - 1, 0, -1):
        digits = mangled[start:]
        length = "".join(character for character in digits[:4] if character.isdigit())
        if length and mangled[start - 1] == "E" and len(digits) >= len(length) + int(length):
            return digits[len(length) : len(length) + int(length)]
    return mangled
