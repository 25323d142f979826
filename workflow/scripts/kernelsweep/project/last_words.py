"""The last words of a run that failed: the sentences of its failed jobs, or a target that doesn't exist.

Snakemake's own lines, with the job's command and its place in a rule, would come after them. A filter of its messages
works in another repository's Snakefile, too, where Snakemake does not run a module's `onerror`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable

from kernelsweep.errors import nearest
from kernelsweep.logs import SAID, read_sentence

# Snakemake's last line after a failed job.
_FAILED = "At least one job did not complete successfully."
_NO_RULE = re.compile(r"No rule to produce (.+) \(if you use input functions")


class LastWords(logging.Filter):
    """A filter of Snakemake's messages, which remembers the logs of failed jobs.

    targets  gives the names of the targets that need no further words
    """

    def __init__(self, targets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._targets = targets
        self._logs: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave out the command of a job that said what is wrong; say which target may have been meant.

        The sentences of failed jobs, once more, replace the exception with which Snakemake ends.
        """
        message = record.getMessage()
        match getattr(record, "exception", None):
            case "RuleException":
                return f"returned non-zero exit status {SAID}." not in message
            case "MissingRuleException" if found := _NO_RULE.search(message):
                known = sorted(self._targets())
                others = f". Targets are {', '.join(known)}, and the path of every result."
                record.msg, record.args = f"There is no target {found[1]!r}{nearest(found[1], known) or others}", ()
        if getattr(record, "event", None) == "job_error":
            self._logs += getattr(record, "log", [])
        if _FAILED in message and (sentences := self._sentences()):
            record.msg, record.args = "\n".join(sentences), ()
        return True

    def _sentences(self) -> list[str]:
        """What the failed jobs said, each sentence once; empty if a failed job said nothing."""
        said = [read_sentence(log) for log in dict.fromkeys(self._logs)]
        return list(dict.fromkeys(filter(None, said))) if all(said) else []
