"""Read a text that may come from anybody, in a plain file of limited size; write texts."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from kernelsweep.errors import UserError, unwritable

# More than any text of ours has: the JSON of a comparison of some 100,000 points.
LARGEST = 2**27


def read_text(path: str | Path, encoding: str = "utf-8", most: int = LARGEST) -> str:
    """The text of a plain file of at most `most` bytes. Raises OSError for another one, and UnicodeDecodeError.

    A pipe or a device is not opened, since reading it may have no end.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "no plain file", str(path))
    if status.st_size > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes", str(path))
    with open(path, "rb") as file:
        return file.read(most).decode(encoding)


def write_texts(files: Mapping[Path, str], are_new: bool = False) -> None:
    """Write texts into files, whose folders are made. Raises UserError where one can't be written.

    are_new  whether no file may exist, a link among them; then all are written, or none
    """
    written: list[Path] = []
    try:
        for path, text in files.items():
            if are_new and os.path.lexists(path):
                raise UserError(f"{path} exists already. Choose another name, or move it away.")
            path.parent.mkdir(parents=True, exist_ok=True)
            written.append(path)
            path.write_text(text, encoding="utf-8")
    except (OSError, UserError) as error:
        for begun in written if are_new else ():
            begun.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise
