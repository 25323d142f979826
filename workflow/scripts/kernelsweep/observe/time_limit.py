"""A time limit for work in this process that can't be interrupted, such as a kernel on the emulator."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def within(seconds: float, function: Callable[[], Result]) -> Result:
    """The result of a function, called in a copy of this process.

    A copy would keep the locks that other Python threads hold, so that there must be none. Threads of NumPy's libraries
    hold none between calls.

    Raises TimeoutError if there is no result within the time limit, and RuntimeError if the copy ended without one, or
    this process has other Python threads.
    """
    if threading.active_count() > 1:
        raise RuntimeError(f"a process with {threading.active_count()} Python threads can't be copied")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    copy = context.Process(target=lambda: sender.send(function()))
    copy.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise TimeoutError(f"no result within {seconds:g} s")
        result: Result = receiver.recv()
        return result
    except EOFError as error:
        copy.join()
        raise RuntimeError(f"the process ended with exit status {copy.exitcode}") from error
    finally:
        copy.kill()
        copy.join()
