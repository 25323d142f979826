"""A job's log: all that it and its child processes print goes there, and a user's mistake to the terminal as well."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from kernelsweep.errors import UserError


@contextmanager
def logged(path: str | Path) -> Iterator[TextIO]:
    """Send standard output and error to the file `path`; yields the terminal's stream, for progress and summaries.

    A UserError is shown on the terminal without a traceback, any other error with it, and both are in the log; either
    ends the process with status 1.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
    with open(path, "w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        yield terminal
    except UserError as error:
        message = f"\n{error}\n"
    except Exception:
        message = traceback.format_exc()
    else:
        return
    finally:
        sys.stdout.flush()
    print(message, file=sys.stderr, flush=True)
    print(message, file=terminal)
    sys.exit(1)
