"""Compiled units, kept by their content: a unit is compiled once for the same sources, macros, options and compiler.

So a build that a new axis value, another study or an interruption causes compiles only what is new. A unit that a power
cut or a hand has damaged is compiled again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from kernelsweep.errors import unwritable

# What compiling a unit to a file returns: the compiler's warnings, and what the report says of each function.
Compiled = tuple[str, dict[str, Any]]


def text_name(study: str, name: str, source: str, what: str = "source") -> str:
    """The name of a text on a kernel or a step, by the hash of the source: "source", "registers" or "accesses"."""
    return f"{study}.{name}.{what}.{source}"


class UnitStore:
    """A folder of compiled units. Several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compiling: defaultdict[str, Lock] = defaultdict(Lock)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error

    def compiled(self, content: Mapping[str, Any], file: Path, compile_unit: Callable[[], Compiled]) -> Compiled:
        """The unit in `file`: a copy of the one that is kept, or what compile_unit() leaves there, which is then kept.

        content  all that determines the unit, as JSON's types

        Raises what compile_unit() raises; then nothing is kept.
        """
        kept = self._place(content)
        with self._compiling[kept.name]:  # Another thread may compile the same content.
            if found := _copied(kept, file):
                return found
            warnings, functions = compile_unit()
            unit, report = file.read_bytes(), [warnings, functions]
            _write(kept, unit)
            _write(kept.with_suffix(".json"), json.dumps([*report, _digest(unit, report)]).encode())
            return warnings, functions

    def kept(self, content: Mapping[str, Any], file: Path) -> Compiled | None:
        """The unit in `file`, if it is kept: a copy."""
        return _copied(self._place(content), file)

    def keep_text(self, name: str, text: str) -> None:
        """Keep a text under a name, in place of another one: a picture as it is drawn now."""
        path = self._folder / f"{name}.cu"
        if self.text(name) != text:
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(text, encoding="utf-8")
            part.replace(path)

    def text(self, name: str) -> str:
        """The text of this name; "" where none was kept."""
        path = self._folder / f"{name}.cu"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def units(self, is_wanted: Callable[[Mapping[str, Any]], bool]) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The files of the kept units that are wanted, each with what the report says of its functions.

        is_wanted  tells by the report: only these units' files are read
        """
        for report in sorted(self._folder.glob("*.json")):
            if found := _read(report.with_suffix(""), is_wanted):  # Another process may be replacing it.
                yield report.with_suffix(""), found[0][1]

    def functions(self, binaries: Set[str]) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The kept functions with these hashes of their machine code: each one's file, and what its report says."""
        units = self.units(lambda every: any(one.get("binary_sha256") in binaries for one in every.values()))
        found = [(file, one) for file, every in units for one in every.values()]
        return {one["binary_sha256"]: (file, one) for file, one in found if one.get("binary_sha256") in binaries}

    def _place(self, content: Mapping[str, Any]) -> Path:
        return self._folder / hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole, also after a power cut, or does not exist."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _digest(unit: bytes, report: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(report).encode() + unit).hexdigest()


def _read(kept: Path, is_wanted: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> tuple[Compiled, bytes] | None:
    """What the report says, and the unit; None where either is not there, not wanted or was cut.

    The report is written last.
    """
    with suppress(AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        *report, digest = json.loads(kept.with_suffix(".json").read_text(encoding="utf-8"))
        if is_wanted(report[1]) and digest == _digest(unit := kept.read_bytes(), report):
            return (report[0], report[1]), unit
    return None


def _copied(kept: Path, file: Path) -> Compiled | None:
    if found := _read(kept):
        file.write_bytes(found[1])
        return found[0]
    return None
