"""From addresses in a counting library to lines of source, and from places in shared memory to variables."""

from __future__ import annotations

import os
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

DYNAMIC_SHARED = "emulator_dynamic_shared"


@dataclass(frozen=True)
class Variable:
    """A `__shared__` array: where it lies in the thread-local storage, in bytes, and the mangled name."""

    offset: int
    size: int
    mangled: str

    @property
    def name(self) -> str:
        """The name in the source: the last part of a mangled one such as _ZZ4treeIiEvPT_E6shared."""
        return _last_part(self.mangled) if self.mangled.startswith("_Z") else self.mangled


class Lines:
    """The debugging information of the library at `path`, whose paths are relative to the folder it was compiled in."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            elf = ELFFile(file)
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            symbols = [(symbol.name, symbol["st_info"]["type"], symbol["st_value"], symbol["st_size"])
                       for symbol in table.iter_symbols()]
            self._rows = sorted(_rows(elf))
        self._starts = [address for address, _, _ in self._rows]
        self._variables = sorted(
            (Variable(value, size, name) for name, kind, value, size in symbols if kind == "STT_TLS"),
            key=lambda variable: variable.offset,
        )
        self._functions = [name for name, kind, _, _ in symbols if kind == "STT_FUNC"]

    def line(self, address: int) -> str:
        """The file:line of the access before a return address."""
        # The return address may already belong to the next line; the byte before it is the call's.
        found = bisect_right(self._starts, address - 1) - 1
        if found < 0:
            return "an unknown line"
        _, file, number = self._rows[found]
        return f"{file}:{number}"

    def shared_variables(self) -> list[Variable]:
        """All `__shared__` arrays of the library, in order, the dynamic one included."""
        return self._variables


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
    """The last name of a mangled local variable, which is a length and that many characters at its end."""
    for start in range(len(mangled) - 1, 0, -1):
        digits = mangled[start:]
        length = "".join(character for character in digits[:4] if character.isdigit())
        if length and mangled[start - 1] == "E" and len(digits) >= len(length) + int(length):
            return digits[len(length) : len(length) + int(length)]
    return mangled
