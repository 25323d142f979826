"""A job's log: it gets the output of the job and its child processes; user errors go to the terminal as well."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from kernelsweep.errors import FULL, UserError, gpu_failed, is_of_gpu, unwritable
from kernelsweep.made_from import PARAMETER, keep, sources_of_job
from kernelsweep.running import how_it_ended, running_in

# The exit status of a job whose last words are a sentence for the user; and the line above it in the log.
SAID = 3
_HEADING = "\nWhat to mend:\n"
_KEPT = "Every finished point is kept; the same command goes on from there."
# More of a log's end than an answer has, bytes.
_TAIL = 1 << 20


@contextmanager
def logged(job: Any, is_answer: bool = False) -> Iterator[TextIO]:
    """Send standard output and error to a job's log; yields the terminal's stream, for progress.

    Errors are written to the log and the terminal, and end the process: with status `SAID` for a UserError, a full
    disk and a lost GPU, which are shown without a traceback, else with status 1. Without one, the job's last act is to
    note what its outputs were made from (made_from.py).

    job        the `snakemake` of the job's script
    is_answer  whether the output is an answer of the run, which shows it at its end, and a UserError after it
    """
    path = job.log[0]
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
        sys.exit(SAID)
    try:
        sources = sources_of_job(job)  # Before the job: it may take minutes, in which its user edits them.
        yield terminal
        keep(job.params[PARAMETER]["file"], sources, job.output)
        sys.stdout.flush()
        return
    except UserError as error:
        sentence, shown = str(error), not is_answer
    except MemoryError as error:
        sentence, shown = f"This machine's memory ran out: {error or 'it tells no more'}. {_KEPT}", True
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            sentence, shown = str(unwritable(error.filename or path, error)), True
        elif is_of_gpu(error):
            sentence, shown = str(gpu_failed(error)), True
        else:
            _say([terminal], traceback.format_exc(), "")
            sys.exit(1)
    _say([terminal] if shown else [], f"\n{sentence}\n", _HEADING)
    sys.exit(SAID)


def _say(terminals: Iterable[TextIO], message: str, heading: str) -> None:
    for terminal in terminals:
        print(message, file=terminal)
    with suppress(OSError):  # The log may be on the full disk, too.
        sys.stdout.flush()
        print(heading + message, file=sys.stderr, flush=True)


def end_log(path: str | Path, job: str, status: int, notes: str) -> None:
    """Say at the end of a log that its job's process was killed, and what of the user's code ran in it.

    status  its exit status
    notes   the folder of its notes (running.py)
    """
    inside = "".join(f", while it ran {what}" for what, _ in running_in(notes)[:1])
    with suppress(OSError), open(path, "a", encoding="utf-8") as log:
        log.write(f"\n{_HEADING}The job {job} was {how_it_ended(status)}{inside}. {_KEPT}\n")


def read_sentence(path: str | Path) -> str | None:
    """The sentence that ends a job's log; None where the log is missing, or the job didn't end by a user's mistake."""
    _, heading, sentence = _end(path).rpartition(_HEADING)
    return sentence.strip() if heading else None


def read_answer(path: str | Path) -> str:
    """The output of a job that answers, without the sentence that may end it; empty where the log is missing."""
    return _end(path).partition(_HEADING)[0].strip("\n")


def _end(path: str | Path) -> str:
    with suppress(OSError), open(path, "rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        return log.read().decode("utf-8", errors="replace")
    return ""


def time_left(done: int, total: int, seconds: float) -> str:
    """Minutes and seconds until all of some like things are done, as in ", 0:12 left"; "" as long as none is.

    seconds  in which `done` of them were done
    """
    if not done:
        return ""
    left = round(seconds / done * (total - done))
    return f", {left // 60}:{left % 60:02} left"


def notifier(terminal: TextIO, name: str) -> Callable[[str], None]:
    """A function that prints a line to the log, and to the terminal after the job's name."""

    def notify(line: str) -> None:
        print(line, flush=True)
        terminal.write(f"{name}: {line}\n")

    return notify
