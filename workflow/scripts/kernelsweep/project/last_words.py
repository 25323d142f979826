"""The last words of a run: its answer, or the sentences of its failed jobs, or a target that doesn't exist.

A job's own lines stand in the middle of a run, and Snakemake's lines would come after them. A filter of Snakemake's
messages works in another repository's Snakefile, too, where it does not run a module's `onsuccess` and `onerror`.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from kernelsweep.errors import nearest
from kernelsweep.logs import SAID, read_answer, read_sentence
from kernelsweep.project import files

# The jobs with an answer: end_run, end_comparison, ...
_ENDS = "end_"

# Snakemake's last line of every run, and the line that follows it after a failed job.
_ELAPSED = "Elapsed time: "
_FAILED = "At least one job did not complete successfully."
# Its line where a run has no job, which ends with the pages of the runs before.
_NOTHING = "Nothing to be done"
_NO_RULE = re.compile(r"No rule to produce (.+) \(if you use input functions")

# A run without an answer ends with so many of the files that were asked for.
_NAMED_FILES = 3

# Lines of progress are so far apart.
_SECONDS_BETWEEN_LINES = 5.0

# Snakemake's lines on its own work, which --quiet does not know. The events are the beginning and the end of each job.
_CHATTER_EVENTS = ("job_started", "job_finished", "resources_info")
_CHATTER = re.compile(
    r"Select jobs to execute|Touching output file|Assuming unrestricted shared filesystem|Building DAG of jobs"
    r"|Using shell: |Conda environments: ignored|Config file .* is extended|Complete log\(s\): "
    r"|Shutting down, this might take|Exiting because a job execution failed"
)


class LastWords(logging.Filter):
    """A filter of Snakemake's messages, which remembers the logs of failed jobs and of jobs with an answer.

    targets   gives the names of the targets that need no further words
    renew     makes the pages again that tell of several runs
    is_quiet  whether Snakemake's lines on its own work are left out
    """

    def __init__(
        self,
        targets: Callable[[], Iterable[str]],
        is_quiet: bool = False,
        renew: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self._renew = renew
        self._targets = targets
        self._is_quiet = is_quiet
        self._shown = 0.0
        self._ends: list[str] = []
        self._failed: list[str] = []
        self._wanted: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave out the command of a job that said what is wrong; say which target may have been meant.

        A run ends with the answers of its jobs, and then with the sentences of those that failed, which replace the
        exception with which Snakemake ends.
        """
        message, event, logs = record.getMessage(), getattr(record, "event", None), getattr(record, "log", None) or []
        match getattr(record, "exception", None):
            case "RuleException":
                return f"returned non-zero exit status {SAID}." not in message
            case "MissingRuleException" if found := _NO_RULE.search(message):
                known = sorted(self._targets())
                others = f". Targets are {', '.join(known)}, and the path of every result."
                record.msg, record.args = f"There is no target {found[1]!r}{nearest(found[1], known) or others}", ()
        if event == "job_info":
            self._ends += [log for log in logs if Path(log).name.startswith(_ENDS)]
            if not getattr(record, "output", None):  # A target, whose input is what it asks for.
                self._wanted += getattr(record, "input", None) or []
        if event == "job_error":
            self._failed += logs
        if _FAILED in message and (sentences := self._sentences()):
            record.msg, record.args = "\n".join(sentences), ()
        if message.startswith((_ELAPSED, _NOTHING)):
            self._renew()
        has_index = Path(files.index()).is_file()
        if message.startswith(_NOTHING) and has_index:
            record.msg, record.args = f"{message}\n\n{_all_pages()}\n", ()
        if message.startswith(_ELAPSED) and (answers := self._answers()):
            if len(answers) > 1 and has_index:
                answers.append(_all_pages())
            print("\n" + "\n\n".join(answers) + "\n", file=sys.stderr, flush=True)
            return False
        return not (self._is_quiet and (_CHATTER.match(message) or event in _CHATTER_EVENTS or self._is_early(record)))

    def _is_early(self, record: logging.LogRecord) -> bool:
        """Whether this is a line of progress soon after another, and not the last."""
        if getattr(record, "event", None) != "progress":
            return False
        done, total = getattr(record, "done", 0), getattr(record, "total", 0)
        if done < total and record.created < self._shown + _SECONDS_BETWEEN_LINES:
            return True
        self._shown = record.created
        return False

    def _sentences(self) -> list[str]:
        """What the failed jobs said, each sentence once; empty if a failed job said nothing."""
        said = [read_sentence(log) for log in dict.fromkeys(self._failed)]
        return list(dict.fromkeys(filter(None, said))) if all(said) else []

    def _answers(self) -> list[str]:
        """The answers, the longest last: a platform with times has more to say than the emulator.

        A target whose files are no part of an answer ends with their names, or with the page of all pages, unless a job
        failed.
        """
        found = sorted(filter(None, map(read_answer, dict.fromkeys(self._ends))), key=lambda text: text.count("\n"))
        # The marks of jobs that have ended are hidden.
        wanted = [path for path in self._wanted if not Path(path).name.startswith(".")]
        is_told = len(wanted) < len(self._wanted) or any(path in text for text in found for path in wanted)
        if (found and is_told) or self._failed or not wanted:
            return found
        more = len(wanted) - _NAMED_FILES
        return [*found, "  Results  " + ", ".join(wanted[:_NAMED_FILES]) + (f" and {more} more" if more > 0 else "")]


def _all_pages() -> str:
    """The line with the address of the page that leads to all pages."""
    return f"  All pages  {Path(files.index()).resolve().as_uri()}"
