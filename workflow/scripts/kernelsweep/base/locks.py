"""File locks that end with their process."""

from __future__ import annotations

import fcntl
import os
import platform as host
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from kernelsweep.errors import UserError

# Print a notice only after waiting this long, so that short waits stay silent.
NOTICE_SECONDS = 1.0

# flock waits for one file only, but a job may use any of several GPUs; so it polls. A job starts this late at most.
_POLL_SECONDS = 0.05

# The descriptors that must stay open until this process ends.
_LOCKS_OF_THIS_RUN: list[int] = []


def lock_first(
    paths: Sequence[Path],
    opened: Callable[[Path], int],
    waiting: Callable[[], None],
    *,
    patience: float = NOTICE_SECONDS,
    shared: bool = False,
) -> tuple[Path, int]:
    """Wait until one of the files can be locked; returns its path and its descriptor, whose closing unlocks it.

    opened   opens or creates a file; called for each attempt, because a lock on a deleted or renamed file is useless
    waiting  called once after the seconds of `patience`
    shared   lock it beside others that share it
    """
    impatient = time.monotonic() + patience
    told = False
    while True:
        for path in paths:
            if (file := lock_now(path, opened, shared)) is not None:
                return path, file
        if not told and time.monotonic() > impatient:
            waiting()
            told = True
        time.sleep(_POLL_SECONDS)


def open_or_make(path: Path) -> int:
    """Open a file to lock, which is made where it is not there."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def lock_now(path: Path, opened: Callable[[Path], int], shared: bool = False) -> int | None:
    """A file's descriptor, whose closing unlocks it; None if it can't be locked now."""
    file = opened(path)
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), path.stat(follow_symlinks=False)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def clear_locks_of_killed_run(folder: Path) -> bool:
    """Delete the locks in `folder`/locks if the run of Snakemake that made them has ended; True if there were any.

    Snakemake's own locks outlive a killed run, and then stop every later run. So from this call on, each run shares a
    lock that ends with its process; only a run that has it alone deletes. A run on another machine may be one whose
    lock is not seen here, because NFS can be mounted so.
    """
    locks = folder / "locks"
    try:
        folder.mkdir(exist_ok=True)
        file = open_or_make(folder / "kernelsweep.run")
        _LOCKS_OF_THIS_RUN.append(file)
        stale: list[Path] = []
        with suppress(BlockingIOError):  # Another run is active.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            here, last = host.node().encode(), os.pread(file, 255, 0)
            if last in (here, b"") or not any(locks.glob("*.lock")):
                os.truncate(file, os.pwrite(file, here, 0))
                stale = [*locks.glob("*.lock")]
        for path in stale:
            path.unlink(missing_ok=True)
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError:  # This file system has no such locks: Snakemake reports what is locked.
        return False
    return bool(stale)


def hold_results(folder: Path) -> None:
    """Hold a folder of results until this process ends: checkouts may share one by a link, each with own locks.

    Raises UserError where another run holds it. A file system without such locks holds nothing.
    """

    def refuse() -> None:
        holder = (folder / ".run").read_bytes()[:1000].decode(errors="replace")
        raise UserError(
            f"{folder.resolve()} is in use by another run: {holder}. One run at a time writes to a folder of results. "
            "Wait for its end; a checkout whose results are a link can have a folder of its own."
        )

    here = f"process {os.getpid()} on {host.node()}, in {Path.cwd()}"
    with suppress(OSError):
        # It waits a moment, for which processes of a killed run may live on.
        _, file = lock_first([folder / ".run"], open_or_make, refuse)
        _LOCKS_OF_THIS_RUN.append(file)
        os.truncate(file, os.pwrite(file, here.encode(), 0))
