"""The journal of a kernel's finished points, so that nothing measured is lost or measured twice.

One line of JSON a point, appended and flushed to the disk as soon as the point is done, under a key of what determines
it. A line that a crash left half-written is dropped when the journal is next opened. Every line begins with the
format's version, so that a journal that some other version wrote is known from its first line: it is set aside.
A journal belongs to one process at a time. Where a kernel is measured in chunks, a job each, every job adds to a
journal of its own, and reads all of the kernel's: so what is cut into other chunks another time is not measured again.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from kernelsweep.errors import UserError, unwritable
from kernelsweep.locks import lock_first, process

# To be raised when a line's form or the meaning of its value changes.
VERSION = 1

_BEGINNING = f'{{"journal": {VERSION}, "key": "'.encode()

# What a file system without locks answers, such as Lustre's where it is mounted without them.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


def journal_key(parts: Mapping[str, Any]) -> str:
    """The key of what determines a point: equal for equal parts, whatever their order."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Journal:
    """Finished points by key; a context manager that keeps its file open and other processes away from it.

    notify  told, in a line for the user, whom the journal waits for and what it couldn't read
    others  journals whose points are known here, too; other processes may be adding to them

    Raises UserError where the file can't be written.
    """

    def __init__(self, path: Path, notify: Callable[[str], None] = print, others: Iterable[Path] = ()) -> None:
        self._path = path
        self._notify = notify
        self._records: dict[str, Any] = {}
        self._size = 0
        self._disk = ThreadPoolExecutor(1)  # It waits for the disk while the next point runs.
        self._synced: Future[None] | None = None
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is no file. Move it away, and type the same command again.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._locked()
            while not self._load():
                self._set_aside()
                self._file = self._locked()
            for other in others:
                self._records.update(_read_records(other))
        except OSError as error:
            raise unwritable(path, error) from error

    def get(self, key: str) -> Any | None:
        """What was recorded under a key, or None."""
        return self._records.get(key)

    def add(self, key: str, value: Any) -> None:
        """Record a finished point: it survives this process from now on, and a fall of the machine as soon as it is on
        the disk, for which the next one waits.

        Raises UserError where there is no room for it; what was recorded before stays.
        """
        line = json.dumps({"journal": VERSION, "key": key, "value": value}).encode() + b"\n"
        try:
            unwritten = memoryview(line)
            while unwritten:
                unwritten = unwritten[os.write(self._file, unwritten) :]
            self._synchronize()
            self._synced = self._disk.submit(os.fsync, self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise unwritable(self._path, error) from error
        self._size += len(line)
        self._records[key] = value

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._synchronize()
        except OSError as failure:
            raise unwritable(self._path, failure) from failure
        finally:
            self._disk.shutdown()
            os.close(self._file)

    def _synchronize(self) -> None:
        """Wait until what was added last is on the disk."""
        if self._synced:
            synced, self._synced = self._synced, None
            synced.result()

    def _locked(self) -> int:
        """The file, opened, as soon as no other process has it."""
        try:
            return lock_first([self._path], _opened, self._waiting)[1]
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        self._notify(f"{self._path}: this file system has no locks. Two runs at once would measure the same points.")
        return _opened(self._path)

    def _waiting(self, holder: int | None) -> None:
        self._notify(f"waiting for {self._path}, to which {process(holder)} adds points")

    def _load(self) -> bool:
        """Read the records, and drop a half-written last line; False where another program wrote the file."""
        read = unreadable = 0
        unended = b""
        # Line by line: a long kernel's journal has hundreds of megabytes.
        with open(self._file, "rb", closefd=False) as file:
            for line in file:
                ended = line.endswith(b"\n")
                # Of a first line that was being written when its process died, there may be less than the beginning.
                if not read and not line.startswith(_BEGINNING) and (ended or not _BEGINNING.startswith(line)):
                    return False
                if not ended:
                    # It may be a whole record, but the next one would be written on the same line.
                    unended = line
                    break
                read += 1
                self._size += len(line)
                try:
                    key, value = _read_line(line)
                    self._records[key] = value
                except (ValueError, KeyError, TypeError):
                    unreadable += 1
        if unreadable:
            self._notify(f"{self._path}: {unreadable} of {read} lines can't be read; their points are run again")
        if unended:
            os.ftruncate(self._file, self._size)
        return True

    def _set_aside(self) -> None:
        """Rename the file, which no other process has now, and close it."""
        names = (f"{self._path.stem}.set-aside-{n}{self._path.suffix}" for n in itertools.count(1))
        kept = next(path for path in map(self._path.with_name, names) if not path.exists())
        self._path.rename(kept)
        os.close(self._file)
        self._notify(
            f"{self._path} is not a journal of this version of kernelsweep. It is kept as {kept.name}, and the points "
            "are run again."
        )


def chunk_journal(journal: Path, chunk: int) -> Path:
    """The journal of one of a kernel's chunks, by the kernel's own: journal/<study>/<kernel>/<chunk>.jsonl."""
    return journal.with_suffix("") / f"{chunk}.jsonl"


def journals_of(journal: Path) -> list[Path]:
    """All journals there are of a kernel, by its own: that one, and those of chunks."""
    of_chunks = [path for path in journal.with_suffix("").glob("*.jsonl") if path.stem.isdecimal()]
    return [path for path in (journal, *sorted(of_chunks)) if path.is_file()]


def read_values(path: Path) -> list[Any]:
    """What was recorded, in the order in which it was added, to be looked at while no process adds to it.

    Lines that can't be read are left out; where there is no journal, there is nothing in it.
    """
    return [value for _, value in _read_records(path)]


def _read_records(path: Path) -> Iterator[tuple[str, Any]]:
    """The keys and values of a journal that is left as it is, without those lines that can't be read."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            with suppress(ValueError, KeyError, TypeError):
                yield _read_line(line)


def _read_line(line: bytes) -> tuple[str, Any]:
    """A line's key and value. Raises ValueError, KeyError or TypeError for what is no line of this version."""
    record = json.loads(line)
    if record["journal"] != VERSION:
        raise ValueError(record["journal"])
    return record["key"], record["value"]


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
