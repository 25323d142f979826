"""One measurement on a device at a time, whatever the number of jobs: a lock that dies with its process."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def lease(device: str) -> Iterator[None]:
    """Wait until no other process of this machine measures on `device` (a GPU's UUID), and keep others away."""
    path = Path(tempfile.gettempdir()) / f"kernelsweep-{device}.lock"
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        path.chmod(0o666)
    # To read only: in /tmp, another user's file may not be opened in a way that would change or create it.
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
