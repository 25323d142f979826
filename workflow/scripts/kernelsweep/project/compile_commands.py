"""The flags of a file in a project's compile_commands.json, which CMake, Bazel and others write."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.base.compilers import source_options
from kernelsweep.errors import UserError

_NAME = "compile_commands.json"
# Where it is, below a folder around the file: CMake leaves it in the folder of the build.
_FOLDERS = ("", "build", "out", "cmake-build-debug", "cmake-build-release")


def flags_of(file: Path) -> tuple[list[str], Path | None]:
    """What a file is compiled with of macros, headers, their folders and the language; and the file that says so.

    It is the nearest compile_commands.json in the folders around the file, or in a folder `build` there. Folders are
    absolute. Nothing and None where none names the file. Raises UserError for one that can't be read, and for no file.
    """
    if not file.exists():  # Or it is a loop of links.
        raise UserError(f"{file}: no such file.")
    for place in _places(file.resolve()):
        for entry in _entries(place):
            folder = place.parent / str(entry.get("directory", ""))
            if (folder / str(entry.get("file", ""))).resolve() == file.resolve():
                try:
                    words = entry.get("arguments") or shlex.split(str(entry.get("command", "")))
                    return source_options([*_with_response_files(words, folder)], folder), place
                except (OSError, TypeError, ValueError) as error:
                    raise UserError(f"{place}: the command of {file.name} can't be read: {error}.") from error
    return [], None


def _places(file: Path) -> Iterator[Path]:
    for around in file.parents:
        yield from (place for name in _FOLDERS if (place := around / name / _NAME).is_file())


def _entries(place: Path) -> Sequence[Mapping[str, Any]]:
    try:
        entries = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError) as error:
        raise UserError(f"{place}: no list of compile commands in JSON ({error}).") from error
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _with_response_files(words: Sequence[str], folder: Path) -> Iterator[str]:
    """The words of a command, with those of the files that it names for more of them (CMake does so for nvcc)."""
    after = False
    for word in words:
        named = word if after else word.removeprefix("--options-file=") if word.startswith("--options-file=") else ""
        after = word in ("--options-file", "-optf")
        if named and (folder / named).is_file():
            yield from shlex.split((folder / named).read_text(encoding="utf-8"))
        elif not after:
            yield word
