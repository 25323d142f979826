"""The source files that a cubin's line table names, as nvcc writes it with -lineinfo: DWARF's, version 2."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

_VERSION = 2
_HEAD = struct.Struct("<IHIBBbBB")  # length, version, length of the head, ..., the first opcode that is no standard one


def source_files(image: bytes) -> list[Path]:
    """The files that there are on this machine, in the table's order; none without a table."""
    section = ELFFile(io.BytesIO(image)).get_section_by_name(".debug_line")
    data = section.data() if section else b""
    found, start = [], 0
    while start + _HEAD.size < len(data):
        length, version, *_, first_opcode = _HEAD.unpack_from(data, start)
        if version != _VERSION:
            break
        stream = io.BytesIO(data[start + _HEAD.size + first_opcode - 1 : start + 4 + length])
        folders = [Path(), *map(Path, _names(stream))]
        for name in _names(stream):
            folder, _, _ = (_number(stream) for _ in range(3))
            found.append(folders[folder] / name)
        start += 4 + length
    return [file for file in dict.fromkeys(found) if file.is_file()]


def _names(stream: io.BytesIO) -> Iterator[str]:
    """Texts up to an empty one."""
    while name := b"".join(iter(lambda: stream.read(1).strip(b"\0"), b"")):
        yield name.decode()


def _number(stream: io.BytesIO) -> int:
    """An unsigned number in LEB128."""
    value = shift = 0
    while (byte := stream.read(1)[0]) & 0x80:
        value |= (byte & 0x7F) << shift
        shift += 7
    return value | byte << shift
