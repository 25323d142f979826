"""The symbols of a compiled file. Each build and each load asks for them, and pyelftools takes 30 times as long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

# Of ELF-64, least significant byte first: where the sections' headers begin and how many there are; a section's header;
# a symbol (elf.h).
_FILE, _SECTION, _SYMBOL = Struct("<40xQ12xH"), Struct("<IIQQQQIIQQ"), Struct("<IBBHQQ")
_IS_SYMBOLS, _IS_WRITABLE = 2, 0x1

OBJECT, FUNCTION, THREAD_LOCAL = 1, 2, 6


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol: its kind is one of those above, if any.

    is_writable  whether its section can be written to
    is_defined   whether this file has it
    """

    name: str
    kind: int
    value: int
    size: int
    is_writable: bool
    is_defined: bool


def symbols(content: bytes) -> Iterator[Symbol]:
    """The symbols of an object file or a shared library, by its content."""
    start, count = _FILE.unpack_from(content)
    sections = [_SECTION.unpack_from(content, start + number * _SECTION.size) for number in range(count)]
    writable = {number for number, section in enumerate(sections) if section[2] & _IS_WRITABLE}
    _, _, _, _, begin, size, names_section, *_ = next(one for one in sections if one[1] == _IS_SYMBOLS)
    names = sections[names_section][4]
    for name, kind, _, section, value, length in _SYMBOL.iter_unpack(content[begin : begin + size]):
        text = content[names + name : content.index(0, names + name)].decode()
        yield Symbol(text, kind & 0xF, value, length, section in writable, section != 0)
