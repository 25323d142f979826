"""The journal of a kernel's finished points, so that nothing measured is lost or measured twice.

Each finished visit is one line of JSON, under the hash of its identity (identity.py), appended at once. A line that a
crash left half-written is dropped when the journal is next opened. Each line starts with the format version; those of
other versions count for nothing. One process at a time uses a journal. If a kernel is measured in chunks, each
job adds to its own journal and reads all journals of the kernel. So points are not measured again if they are cut into
other chunks later.

Memory has each record's key and its place in a file. A journal may have a gigabyte, most of it samples.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic_core import from_json

from kernelsweep.base.locks import lock_first
from kernelsweep.errors import UserError, unwritable
from kernelsweep.results import STATUSES

# Raise it when the form of a line, or the meaning of its value, changes.
VERSION = 4

# The key in the value of a line that notes when a version of a point was there again, after an edit was taken back.
AGAIN = "again"

# The key in the value of a line that says whether the checks of a source failed.
CHECKED_SOURCE = "checks"

# The key in the value of a line of a point that a search has proposed.
SEARCHED = "searched"

_OF_ANY_VERSION = b'{"journal": '
_BEGINNING = _OF_ANY_VERSION + f'{VERSION}, "key": "'.encode()

# The errors of a file system without locks, such as Lustre mounted without them.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


# More than a visit with a million samples has.
_LONGEST_LINE = 2**26
# What reading a line raises that was cut or edited.
_UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)


class _Place(NamedTuple):
    """Where a line is: the descriptor of its file, its first byte, and its bytes."""

    file: int
    start: int
    length: int


class Journal:
    """Finished points by key. A context manager that keeps its file open and locked.

    notify  gets a line for the user if the journal has to wait, or can't read a line
    others  further journals to read; other processes may be adding to them

    Raises UserError if the file can't be written.
    """

    def __init__(self, path: Path, notify: Callable[[str], None] = print, others: Sequence[Path] = ()) -> None:
        self.path = path
        self.paths = [path, *others]
        self._notify = notify
        self._records: dict[str, _Place] = {}  # the newest by key
        self._others: list[int] = []
        self._size, self._is_locked = 0, True
        self._adding = threading.Lock()  # Several devices' visits end side by side.
        if os.path.lexists(path) and not path.is_file():
            raise UserError(f"{path}: no plain file, but the place of a journal. Move it away.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._locked()
            self._load()
            for other in filter(Path.is_file, others):
                self._others.append(os.open(other, os.O_RDONLY | os.O_CLOEXEC))
                self._find_records(self._others[-1], other)
        except OSError as error:
            raise unwritable(path, error) from error

    def get(self, key: str) -> Any | None:
        """The value recorded under a key, or None."""
        place = self._records.get(key)
        return None if place is None else self._value(place)

    def values(self) -> Iterator[Any]:
        """The newest value of each key, read one at a time."""
        return map(self._value, [*self._records.values()])

    def in_order(self) -> list[Any]:
        """The values of all lines, in the order in which they were added."""
        return ordered([value for path in self.paths for value in readable_values(path)], len(self.paths))

    def beside(self, most: int) -> Iterator[Any]:
        """The first values, at most so many, of each other journal in the folder: those of the study's kernels."""
        for path in self.path.parent.glob("*.jsonl"):
            if path != self.path:
                with suppress(OSError, UserError):  # One that was cut or edited has no more than is read before that.
                    yield from (value for _, value in itertools.islice(read_lines(path), most))

    def add(self, key: str, value: Any) -> None:
        """Record a finished point. It survives this process at once, and a crash of the machine once it is on the disk.

        Only the end waits for the disk. Raises UserError if there is no room; earlier records stay.
        """
        line = json.dumps({"journal": VERSION, "key": key, "value": value}).encode() + b"\n"
        with self._adding:
            try:
                unwritten = memoryview(line)
                while unwritten:
                    unwritten = unwritten[os.write(self._file, unwritten) :]
            except OSError as error:
                with suppress(OSError):
                    self._leave_half_line()
                raise unwritable(self.path, error) from error
            self._size += len(line)
            # Where there are no locks, another process may have added lines.
            end = os.lseek(self._file, 0, os.SEEK_CUR)
            self._records[key] = _Place(self._file, end - len(line), len(line))

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.fsync(self._file)
        except OSError as failure:
            raise unwritable(self.path, failure) from failure
        finally:
            for file in (self._file, *self._others):
                os.close(file)

    def _locked(self) -> int:
        """Open the file once no other process uses it."""
        try:
            waiting = f"waiting for {self.path}, to which another process adds points"
            return lock_first([self.path], _opened, lambda: self._notify(waiting))[1]
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        self._is_locked = False
        self._notify(f"{self.path}: this file system has no locks. Two runs at once would measure the same points.")
        return _opened(self.path)

    def _load(self) -> None:
        """Find the records, and drop a half-written last line. Lines that can't be read stay."""
        read, unreadable, self._size = self._find_records(self._file, self.path)
        if os.pread(self._file, 1, self._size):
            # It may be a whole record, but the next record would follow on the same line.
            self._leave_half_line()
        if unreadable:
            self._notify(f"{self.path}: {unreadable} of {read} lines can't be read; their points are run again")

    def _leave_half_line(self) -> None:
        """Have the next record begin on a line of its own."""
        if self._is_locked:
            os.ftruncate(self._file, self._size)
        else:  # Another process may be writing that line, or have written lines behind it.
            os.write(self._file, b"\n")

    def _find_records(self, descriptor: int, path: Path) -> tuple[int, int, int]:
        """Note where a file's records are. Returns its whole lines, those that can't be read, and the bytes of all."""
        read = unreadable = start = 0
        with open(descriptor, "rb", closefd=False) as file:
            for read, line in _lines(file, path):
                if not line.endswith(b"\n"):
                    return read - 1, unreadable, start
                try:
                    self._records[_read_line(line)[0]] = _Place(descriptor, start, len(line))
                except _UNREADABLE:
                    unreadable += line != b"\n"
                start += len(line)
        return read, unreadable, start

    def _value(self, place: _Place) -> Any:
        return _read_line(os.pread(place.file, place.length, place.start))[1]


def chunk_journal(journal: Path, chunk: int) -> Path:
    """The journal of one of a kernel's chunks, by the kernel's own: journal/<study>/<kernel>/<chunk>.jsonl."""
    return journal.with_suffix("") / f"{chunk}.jsonl"


def journals_of(journal: Path) -> list[Path]:
    """All existing journals of a kernel: its own and its chunks' journals."""
    of_chunks = [path for path in journal.with_suffix("").glob("*.jsonl") if path.stem.isdecimal()]
    return [path for path in (journal, *sorted(of_chunks)) if path.is_file()]


def ordered(values: list[Any], journals: int) -> list[Any]:
    """The values of several journals' lines by the clock: jobs of several chunks write at the same time."""
    return sorted(values, key=lambda one: str(one.get(AGAIN) or one.get("measured"))) if journals > 1 else values


def readable_values(path: Path) -> Iterator[dict[str, Any]]:
    """The values of a journal's lines in the order in which they were added, less those that can't be read."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for _, line in _lines(file, path):
            with suppress(*_UNREADABLE):
                if isinstance(value := _read_line(line)[1], dict):
                    yield value


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """A journal's lines in the order in which they were added: their numbers, from 1, and their values.

    A line of another version and a last line without its end are none. Raises UserError, naming file and line, for one
    that can't be read.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in _lines(file, path):
            is_of_another = line.startswith(_OF_ANY_VERSION) and not line.startswith(_BEGINNING)
            if is_of_another or not line.endswith(b"\n"):
                continue
            try:
                yield number, _read_line(line)[1]
            except _UNREADABLE as error:
                raise refused_line(path, number, error) from error


def refused_line(path: Path, number: int, why: object) -> UserError:
    """The error of a line that no run of kernelsweep has written."""
    return UserError(
        f"{path}, line {number}: no line of a journal: {why}. It was cut or edited: delete this line, and type the "
        "same command again; its point is measured again."
    )


def _lines(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """A journal's lines with their numbers. Raises UserError for one that is longer than any run's."""
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
        if len(line) == _LONGEST_LINE:
            raise refused_line(path, number, f"it has {_LONGEST_LINE:,} bytes or more")
        yield number, line


def _read_line(line: bytes) -> tuple[str, Any]:
    """A line's key and value. Raises one of _UNREADABLE if it isn't a line of this version."""
    record = from_json(line)  # twice as fast as json.loads()
    if record["journal"] != VERSION:
        raise ValueError(record["journal"])
    key, value = record["key"], record["value"]
    if isinstance(value, dict) and value.get("status", STATUSES[0]) not in STATUSES:
        raise ValueError(value["status"])
    return key, value


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
