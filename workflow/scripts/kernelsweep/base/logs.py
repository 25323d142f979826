"""A job's log: it gets the output of the job and its child processes; user errors go to the terminal as well.

What the run says of the job at its end is in a file beside the log.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, TextIO

from kernelsweep.base.made_from import PARAMETER, keep, sources_of_job
from kernelsweep.base.running import how_it_ended, running_in
from kernelsweep.errors import FULL, UserError, gpu_failed, in_a_line, is_of_gpu, unwritable

# Variables of a run on a terminal, which draws one line of all jobs: that it does, and the file for a job's own part.
ONE_LINE, LINE_FILE = "KERNELSWEEP_ONE_LINE", "KERNELSWEEP_LINE_FILE"

# Of a terminal, or of what stands in its place.
COLUMNS = 80
_fill = partial(fill, break_long_words=False, break_on_hyphens=False)
_COLOUR = re.compile(r"\033\[\d+m")  # It has no column.

# The exit status of a job whose last words are a sentence for the user.
SAID = 3
# The bytes that are kept for its last words.
_ROOM = 4096
_KEPT = "Every finished point is kept; the same command goes on from there."


@dataclass(frozen=True)
class Ending:
    """What a run says of a job at its end.

    answer    the job's output, if that is an answer of the run
    sentence  why the job failed; empty if it didn't, or its process just ended
    crashed   whether that was no mistake of the user's
    """

    answer: str = ""
    sentence: str = ""
    crashed: bool = False


@contextmanager
def logged(job: Any, is_answer: bool = False) -> Iterator[TextIO]:
    """Send standard output and error to a job's log; yields the terminal's stream, for progress.

    An error ends the process, with a sentence that the run shows at its end, each once: with status `SAID` for a
    UserError, a full disk and a lost GPU; else with status 1, and the stack in the log. Without an error, the job's
    last act is to note what its outputs were made from (made_from.py).

    job        the `snakemake` of the job's script
    is_answer  whether the output is an answer of the run, which shows it at its end
    """
    path = job.log[0]
    if os.environ.get(ONE_LINE):
        os.environ[LINE_FILE] = str(_line_of(path))
    terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # Room for the job's last words, for the case that it fills the disk.
        _file_of(path).write_bytes(b" " * _ROOM)
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
        _keep_ending(path, "", is_answer)
        return
    except UserError as error:
        status, sentence = SAID, str(error)
    except MemoryError as error:
        status, sentence = SAID, f"This machine's memory ran out: {error or 'it tells no more'}. {_KEPT}"
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            status, sentence = SAID, str(unwritable(error.filename or path, error))
        elif is_of_gpu(error):
            status, sentence = SAID, str(gpu_failed(error))
        else:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            status, sentence = 1, f"kernelsweep made a mistake: {in_a_line(error)} ({where}). Its stack: {path}"
            _say(traceback.format_exc())
    with suppress(OSError):
        sys.stdout.flush()
    _keep_ending(path, sentence, is_answer, status)
    _say(f"\n{sentence}\n")
    sys.exit(status)


def _say(message: str) -> None:
    with suppress(OSError):  # The log may be on the full disk, too.
        sys.stdout.flush()
        print(message, file=sys.stderr, flush=True)


def _file_of(log: str | Path) -> Path:
    return Path(log).with_suffix(".end.json")


def _keep_ending(log: str | Path, sentence: str, is_answer: bool = False, status: int = 0) -> None:
    """Keep what the run says of a job whose log is written."""
    with suppress(OSError):
        answer = Path(log).read_text(encoding="utf-8", errors="replace").strip("\n") if is_answer else ""
        if not answer and not sentence:
            _file_of(log).unlink(missing_ok=True)
            return
        with open(os.open(_file_of(log), os.O_WRONLY | os.O_CREAT, 0o666), "wb") as file:
            file.truncate(file.write(json.dumps(asdict(Ending(answer, sentence, status == 1))).encode()))


def end_log(path: str | Path, job: str, status: int, notes: str) -> None:
    """Say at the end of a log that its job's process was killed, and what of the user's code ran in it.

    notes   the folder of its notes (running.py)
    """
    inside = "".join(f", while it ran {what}" for what, _ in running_in(notes)[:1])
    sentence = f"The job {job} was {how_it_ended(status)}{inside}. {_KEPT}"
    with suppress(OSError), open(path, "a", encoding="utf-8") as log:
        log.write(f"\n{sentence}\n")
    _keep_ending(path, sentence, status=1)


def read_ending(log: str | Path) -> Ending:
    """What the run says of the job with this log; nothing where the job has left nothing to say."""
    with suppress(OSError, ValueError, TypeError):
        return Ending(**json.loads(_file_of(log).read_text(encoding="utf-8")))
    return Ending()


def _line_of(log: str | Path) -> Path:
    return Path(log).with_suffix(".line")


def read_line(log: str | Path) -> str:
    """What the job with this log says of its progress; "" for nothing."""
    with suppress(OSError, ValueError):
        return _line_of(log).read_text(encoding="utf-8")
    return ""


def in_minutes(seconds: float) -> str:
    """Minutes and seconds, such as 0:12."""
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def fitted(text: str, columns: int = COLUMNS) -> str:
    """A text with lines of at most so many columns; no word is broken, and no address.

    What a line has no room for stands below its last part behind two spaces, else below its indentation.
    """

    def fit(line: str) -> str:
        parts = [gap.end() for gap in re.finditer(r"(?<=\S) {2,}", line[: columns // 2])]
        own = len(line) - len(line.lstrip())
        below = " " * max([4, own + 2, *parts])
        return _fill(line.lstrip(), columns, initial_indent=" " * own, subsequent_indent=below)

    lines = text.split("\n")
    return "\n".join(line if len(_COLOUR.sub("", line)) <= columns or "://" in line else fit(line) for line in lines)


def notifier(terminal: TextIO, name: str) -> Callable[[str], None]:
    """A function that prints a line to the log, and to the terminal after the job's name."""

    def notify(line: str) -> None:
        print(line, flush=True)
        erase = "\r\033[K" if terminal.isatty() else ""
        terminal.write(f"{erase}{name}: {line}\n")

    return notify
