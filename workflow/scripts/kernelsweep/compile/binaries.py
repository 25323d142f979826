"""Compiled units and the report on them: a kernel's binary file is one unit's cubin or library, or an archive.

Apart from builder.py, whose imports take long.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol

from kernelsweep.reasons import Reason

# The sections of a cubin with variables in global memory: those that begin as zeros, and the others.
_ZEROS = ".nv.global"
_VARIABLES = (_ZEROS, ".nv.global.init")
CONSTANT_MEMORY = ".nv.constant3"


def write_binary(binary: Path, units: Sequence[Path]) -> None:
    """Write the binary of these units; without any, an empty file.

    The file is a new one, so that a process that has the old one loaded keeps it; it is whole at once.
    """
    part = binary.with_name(f"{binary.name}.{os.getpid()}")
    if len(units) == 1:
        shutil.copyfile(units[0], part)
    elif not units:
        part.write_bytes(b"")
    else:
        with zipfile.ZipFile(part, "w") as archive:
            for number, unit in enumerate(units):
                archive.write(unit, str(number))
    part.replace(binary)


def unit_files(binary: Path, folder: Path) -> list[Path]:
    """The files of a binary's units by number; those of an archive are unpacked to `folder`."""
    if not zipfile.is_zipfile(binary):
        return [binary]
    with zipfile.ZipFile(binary) as archive:
        names = sorted(archive.namelist(), key=int)
        archive.extractall(folder)
    return [folder / name for name in names]


def global_variables(cubin: Path) -> dict[str, bool]:
    """The variables of a cubin in global memory, by name: whether they begin as zeros."""
    with cubin.open("rb") as file:
        found = [(one, section.name) for one, section in variables(ELFFile(file)) if section.name in _VARIABLES]
        return {one.name: section == _ZEROS for one, section in found}


def variables(elf: ELFFile) -> Iterator[tuple[Symbol, Section]]:
    """The variables of a cubin, each with the section that it is in."""
    table: Any = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if table else ():
        if symbol["st_info"]["type"] == "STT_OBJECT" and isinstance(symbol["st_shndx"], int):
            yield symbol, elf.get_section(symbol["st_shndx"])


# Its keys: status (ok, or build_failed where no variant compiles), message (the compiler's errors or warnings), reason,
# target, compiler, variants, which has each variant's resources by its C++ name, and failed, which has the message and
# the reason of each that doesn't compile, where others do.
Report = dict[str, Any]


def new_report(target: str, compiler: str) -> Report:
    """The report on a build that has gone well so far."""
    status = {"status": "ok", "message": "", "reason": Reason.NONE}
    return {**status, "target": target, "compiler": compiler, "variants": {}, "failed": {}}


def failure_of(report: Mapping[str, Any], variant: str) -> dict[str, Any] | None:
    """The message and the reason of a variant that doesn't compile; None for another one."""
    of_all = {name: report[name] for name in ("message", "reason")} if report["status"] != "ok" else None
    return of_all or report["failed"].get(variant)
