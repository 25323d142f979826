"""The processes that have a device open: kernelsweep's own are known by their name."""

from __future__ import annotations

import ctypes
import signal
from pathlib import Path

PROCESS_NAME = "kernelsweep"

# The environment variables by which a process's linear algebra has so many threads.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def end_with_parent() -> None:
    """Have this process killed once the thread that has started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def outlive_parent() -> None:
    """Undo end_with_parent()."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0)


def name_this_process() -> None:
    """Name the process that opens a device."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, PROCESS_NAME.encode(), 0, 0, 0)


def process_name(number: int) -> str | None:
    """A process's name, as Linux has it; None if it has ended."""
    try:
        return Path(f"/proc/{number}/comm").read_text(encoding="utf-8", errors="replace").removesuffix("\n")
    except OSError:
        return None


def own_processes() -> list[int]:
    """The ids of all processes of that name."""
    numbers = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    return [number for number in numbers if process_name(number) == PROCESS_NAME]
