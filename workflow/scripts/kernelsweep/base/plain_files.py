"""Read a text that may come from anybody: a plain file of limited size."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
