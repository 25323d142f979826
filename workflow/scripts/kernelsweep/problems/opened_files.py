"""The files that a piece of code opens to read them, as Python's audit events tell."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

# Other threads of the process open files of their own.
_watched = threading.local()


@contextmanager
def opened_files() -> Iterator[list[Path]]:
    """The list of the files that this thread opens for reading inside the context, without those that it wrote before.

    A file that a library opens without Python, as HDF5 does, is not seen.
    """
    _install()
    outer = getattr(_watched, "read", None)
    read: list[Path] = []
    _watched.read, _watched.written = read, set()
    try:
        yield read
    finally:
        _watched.read = outer


# Python has no way to take an audit hook away again.
@cache
def _install() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or getattr(_watched, "read", None) is None:
        return
    file, mode, flags = arguments
    if not isinstance(file, str | bytes | os.PathLike):
        return
    path = Path(os.path.abspath(os.fsdecode(file)))
    writes = flags & (os.O_WRONLY | os.O_RDWR) if mode is None else not {*"wxa+"}.isdisjoint(mode)
    if writes:
        _watched.written.add(path)
    elif path not in _watched.written:
        _watched.read.append(path)
