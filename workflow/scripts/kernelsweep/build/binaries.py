"""A kernel's binary file: one unit's cubin or library, or an archive of several."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path


def write_binary(binary: Path, units: Sequence[Path]) -> None:
    """Write the binary of these units; without any, an empty file.

    The file is a new one, so that a process that has the old one loaded keeps it.
    """
    if list(units) == [binary]:
        return
    binary.unlink(missing_ok=True)
    if not units:
        binary.write_bytes(b"")
        return
    with zipfile.ZipFile(binary, "w") as archive:
        for number, unit in enumerate(units):
            archive.write(unit, str(number))


def unit_files(binary: Path, folder: Path) -> list[Path]:
    """The files of a binary's units by number; those of an archive are unpacked to `folder`."""
    if not zipfile.is_zipfile(binary):
        return [binary]
    with zipfile.ZipFile(binary) as archive:
        names = sorted(archive.namelist(), key=int)
        archive.extractall(folder)
    return [folder / name for name in names]
