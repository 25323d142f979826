"""A job's log: it gets the output of the job and its child processes; user errors go to the terminal as well."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from kernelsweep.errors import FULL, UserError, unwritable


@contextmanager
def logged(path: str | Path) -> Iterator[TextIO]:
    """Send standard output and error to the file `path`; yields the terminal's stream, for progress and summaries.

    Errors are written to the log and the terminal, and end the process with status 1. A UserError and a full disk are
    shown without a traceback.
    """
    terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        for stream in (sys.stdout, sys.stderr):  # As UTF-8, too, whatever the locale.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        print(f"\n{unwritable(path, error)}\n", file=terminal)
        sys.exit(1)
    try:
        yield terminal
        sys.stdout.flush()
        return
    except UserError as error:
        message = f"\n{error}\n"
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            message = f"\n{unwritable(error.filename or path, error)}\n"
        else:
            message = traceback.format_exc()
    print(message, file=terminal)
    with suppress(OSError):  # The log may be on the full disk, too.
        sys.stdout.flush()
        print(message, file=sys.stderr, flush=True)
    sys.exit(1)


def notifier(terminal: TextIO, name: str) -> Callable[[str], None]:
    """A function that prints a line to the log, and to the terminal after the job's name."""

    def notify(line: str) -> None:
        print(line, flush=True)
        terminal.write(f"{name}: {line}\n")

    return notify
