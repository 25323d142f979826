"""The user's code that runs in this process: its name outlives a process that dies.

A process that is killed, or a reference in an endless loop, leaves nobody who could say what has happened. So a process
notes which function of the user's it calls, in a file that others read.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import TypeVar

from kernelsweep.errors import UserError

PROCESS_NAME = "kernelsweep"

# The environment variables by which a process's linear algebra has so many threads.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def environment() -> dict[str, str]:
    """The environment of a process that imports this library."""
    package = str(Path(__file__).resolve().parents[2])
    search_path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": search_path, "PYTHONUTF8": "1"}


def end_with_parent() -> None:
    """Have this process killed once the thread that has started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def outlive_parent() -> None:
    """Undo end_with_parent()."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0)


def name_this_process(name: str = PROCESS_NAME) -> None:
    """Name a process, by default as one that opens a device; Linux keeps 15 characters."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


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


# The environment variable with the folder of the notes; a process without it writes none.
FOLDER_OF_NOTES = "KERNELSWEEP_NOTES"

# The environment variable with the folder where workers wait for the next job of a run; without it, none does.
FOLDER_OF_WORKERS = "KERNELSWEEP_WORKERS"

# The user's code that only describes data ends after so many seconds.
_MOST_SECONDS = 60.0

# A note is looked at so often.
_SECONDS_BETWEEN_LOOKS = 0.5

Answer = TypeVar("Answer")


@contextmanager
def running(what: str) -> Iterator[None]:
    """Where the user's code runs: it is noted."""
    note = _note()
    if note is not None:
        os.pwrite(note, what.encode(), 0)
    try:
        yield
    finally:
        if note is not None:
            os.ftruncate(note, 0)


def _note() -> int | None:
    """This thread's note, an open file, which is empty while nothing runs: to make a file for each call is slow."""
    folder = os.environ.get(FOLDER_OF_NOTES)
    return _opened(f"{folder}/{os.getpid()}.{threading.get_native_id()}.running") if folder else None


@cache
def _opened(note: str) -> int:
    return os.open(note, os.O_CREAT | os.O_WRONLY)


class TooSlow(BaseException):
    """Is raised in code that should have ended long ago. No `except Exception` of the user's stops it."""


@contextmanager
def limited() -> Iterator[None]:
    """Where code gets TooSlow after a minute, and each second from then on; in a process' main thread only.

    An alarm that was set before is set again afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def alarm(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"still runs after {_MOST_SECONDS:.0f} s")

    before = signal.signal(signal.SIGALRM, alarm)
    earlier = signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *earlier)


def running_in(folder: str | None, process: int | None = None) -> list[tuple[str, float]]:
    """What runs in a process, or ran when it died, each with its seconds so far; without a number, in any process.

    folder  with the notes; None where there is none
    """
    found = []
    for note in sorted(Path(folder).glob(f"{process or '*'}.*.running")) if folder else ():
        with suppress(OSError):
            if what := note.read_text(encoding="utf-8"):
                found.append((what, time.time() - note.stat().st_mtime))
    return found


def how_it_ended(status: int) -> str:
    """A dead process' exit status in words; negative for a signal."""
    if status == -signal.SIGKILL:
        return "killed (signal 9), as Linux does where memory runs out"
    return f"ended by signal {-status}" if status < 0 else f"ended with exit status {status}"


def in_child(work: Callable[[], Answer], shown: str, seconds: float | None = None) -> Answer:
    """What work() returns in a fork of this process.

    shown    the file of the user's that it calls, for messages
    seconds  the longest time for one call of the user's

    Raises UserError and MemoryError as work() does, and UserError, naming the user's function, where the fork dies or
    a call takes longer.
    """
    with ExitStack() as notes:
        if not (folder := os.environ.get(FOLDER_OF_NOTES)):
            folder = os.environ[FOLDER_OF_NOTES] = notes.enter_context(tempfile.TemporaryDirectory())
            notes.callback(os.environ.pop, FOLDER_OF_NOTES)
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(work, theirs))
        process.start()
        theirs.close()
        try:
            while not ours.poll(_SECONDS_BETWEEN_LOOKS):
                slow = [what for what, age in running_in(folder, process.pid) if seconds is not None and age > seconds]
                if slow:
                    raise UserError(
                        f"{slow[0]} has run for {seconds:g} s (measuring.timeout_seconds), and was stopped."
                    )
            answer = ours.recv()
        except EOFError:
            process.join()
            what = next((what for what, _ in running_in(folder, process.pid)), shown)
            raise UserError(f"{what} was {how_it_ended(process.exitcode or 0)}.") from None
        finally:
            process.kill()
            process.join()
            ours.close()
    if isinstance(answer, UserError | MemoryError):
        raise answer
    return answer  # type: ignore[no-any-return]


def _work(work: Callable[[], object], answers: Connection) -> None:
    end_with_parent()
    try:
        answer = work()
    except (UserError, MemoryError) as error:
        answer = type(error)(str(error)) if type(error) is UserError else MemoryError(str(error))
    answers.send(answer)
