"""The last words of a run: the sentences of its failed jobs and its answer, or a target that doesn't exist.

A job's own lines stand in the middle of a run, so the answer is printed when the process ends. Events of Snakemake's
log, its interface to logger plugins, say what the run did; its wording decides nothing. A filter of its log works in
another repository's Snakefile, too, where it does not run a module's `onsuccess` and `onerror`.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import Any
from urllib.parse import unquote, urlsplit

from kernelsweep.base.logs import COLUMNS, ONE_LINE, Ending, fitted, in_minutes, read_ending, read_line
from kernelsweep.errors import nearest
from kernelsweep.home import HOME
from kernelsweep.project.files import path as path_of
from kernelsweep.project.time_left import PlannedJob, TimeLeft, planned_seconds

# Marks a message as ours: logger.info(message, extra=OURS).
OURS = {"is_of_kernelsweep": True}

# The target that lists the targets, and the rule that makes pages.
_HELP, _PAGES = "help", "make_page"

# What only the installed command kernelsweep does.
COMMANDS = ("apply", "capture", "check", "ci", "new", "watch")

# Of a dry run's plan, so many reasons, and so many jobs of a kind with one reason.
_SHOWN_REASONS, _NAMED_JOBS = 10, 3
# Why a job would run that nothing is out of date for.
_NEW, _AFTER = "not made yet", "because of these jobs"

# A run without an answer ends with so many of the files that were asked for.
_NAMED_FILES = 3

_NUMBER = re.compile(r"\d+")

# The first line of progress comes after so many seconds, and the others are so far apart; a line is nearer to the last
# once jobs do what none has done before.
_SECONDS_TO_FIRST_LINE, _SECONDS_BETWEEN_LINES, _SECONDS_TO_NEW_PHASE = 2.0, 30.0, 5.0
_SECONDS_BETWEEN_DRAWINGS = 1.0
_BAR = 8

# What a job of a rule does; others are named by their verb, as "judging".
_DOING = {"measure_on_emulator": "checking", "prove": "checking", "build": "compiling", "publish": "drawing"}
_DOING |= {"play": "reading", "end_figure": "drawing", "end_picture": "drawing", "end": "finishing", "leave": "leaving"}
_WILDCARDS = ("study", "kernel", "rival", "library")

# Events on Snakemake's own work, which --quiet does not know: the beginning and the end of each job.
_CHATTER_EVENTS = ("job_started", "job_finished", "resources_info", "progress")

_NOTHING = "Nothing to do: all that was asked for is there and up to date."


def without_stack(record: logging.LogRecord) -> bool:
    """A filter that leaves of Snakemake's own exceptions the last line; --verbose shows the stacks.

    One through a rule or the library is kernelsweep's mistake, and stays as it is.
    """
    text = record.getMessage()
    if getattr(record, "event", None) == "error" and "Traceback (" in text and str(HOME / "workflow") not in text:
        record.msg, record.args = re.split(r"(?m)^  File .*\n(?:[ \t].*\n|\n)*", text)[-1].strip(), ()
    return True


class LastWords(logging.Filter):
    """A filter of Snakemake's messages, which remembers the logs of failed jobs and of jobs with an answer.

    known       gives the names of the targets
    asked       gives the targets of the command line
    is_quiet    whether Snakemake's lines on its own work are left out
    is_dry      tells whether no job runs
    renew       makes the page again that leads to all others
    earlier     gives the logs of the jobs that gave the answer to these targets, in the order of the answer
    status      gives the exit status of a run whose answer is bad; None for Snakemake's
    starting    is called once Snakemake knows its settings, and before its scheduler reads them
    scheduling  is called once Snakemake's scheduler is made, and before it runs jobs
    help        gives the words of the target `help`
    has         how much the run has of each resource that is limited, its cores among them
    stopped     the only words of a run that the user has stopped
    """

    def __init__(
        self,
        known: Callable[[], Collection[str]],
        asked: Callable[[], Iterable[str]] = tuple,
        is_quiet: bool = False,
        is_dry: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__()
        self.renew: Callable[[], None] = lambda: None
        self.earlier: Callable[[], Iterable[str]] = tuple
        self.status: Callable[[], int] | None = None
        self.starting: Callable[[], None] = lambda: None
        self.scheduling: Callable[[], None] = lambda: None
        self.help: Callable[[], str] = str
        self.has: Mapping[str, int] = {}
        self.stopped = ""
        self._known = known
        self._asked = asked
        self._is_quiet = is_quiet
        self._is_dry = is_dry
        self._next_line = 0.0  # until the first job begins
        self._next_phase = math.inf
        self._phases: set[str] = set()
        self._done = self._total = 0
        # The jobs that run now, since when, and their logs, by number.
        self._running: dict[int | None, tuple[str, float, str]] = {}
        self._draws = is_quiet and sys.stderr.isatty()
        if self._draws:  # Jobs don't, which inherit this.
            os.environ[ONE_LINE] = "1"
        self._drawn = ""
        self._time_left = TimeLeft()
        self._over = threading.Event()
        self._has_jobs = self._has_error = False
        self._folder: Path | None = None  # of the run, once it has started
        self._before: dict[str, int | None] = {}  # when a job's log had been written before the job started
        self._logs: list[str] = []
        self._failed: dict[int | None, str] = {}  # the sentence of each failed job, by its number; "" for none
        self._crashed: dict[int | None, str] = {}  # what these jobs did
        self._pages = 0  # that are still to be made
        self._wanted: list[str] = []
        self._points: dict[str, None] = {}
        self._held: dict[int | None, logging.LogRecord] = {}  # by thread
        self._before_jobs: list[str] = []
        self._reasons: dict[tuple[str, str], str] = {}  # by rule and place
        self._planned: dict[str, dict[str, list[str]]] = {}  # by reason and what jobs do, for what they do it
        self._planned_jobs: list[PlannedJob] = []

    def explain(self, rule: str, wildcards: Mapping[str, str], reason: str) -> None:
        """Note why a job runs again: a dry run tells it."""
        self._reasons[rule, _place(wildcards)] = reason

    def filter(self, record: logging.LogRecord) -> bool:
        """Note what happens; leave out what say() says better, and in a quiet run Snakemake's own work."""
        passes = self._passes(record)
        if passes:
            self._draw("")
        return passes

    def _passes(self, record: logging.LogRecord) -> bool:
        self._has_error |= record.levelno >= logging.ERROR
        if hasattr(record, *OURS):
            if self._draws:
                record.msg, record.args = fitted(record.getMessage(), get_terminal_size().columns), ()
            return True
        event, exception = getattr(record, "event", None), getattr(record, "exception", None)
        self._note(record, event)
        without_stack(record)
        if event == "error":
            if exception == "MissingRuleException" and (unknown := self._unknown()):
                record.msg, record.args = unknown, ()
            if exception == "RuleException":  # Its thread's next event names the failed job's log.
                self._held[record.thread] = record
                return False
        is_summary = exception == "WorkflowError" or (event is None and record.levelno >= logging.ERROR)
        if self._failed and is_summary:
            return not all(self._failed.values())
        if not self._is_quiet:
            return True
        if event == "progress":
            self._done, self._total = getattr(record, "done", 0), getattr(record, "total", 0)
            self._show_progress()
        if event == "run_info":
            if [*self._asked()] != [_HELP] and not self._is_dry():
                self._show_jobs(getattr(record, "stats", {}))
            return False
        if event is None and record.levelno <= logging.INFO:
            if self._folder is None:
                self._before_jobs.append(record.getMessage())
            return False
        return event not in _CHATTER_EVENTS

    def say(self) -> None:
        """Print the sentences of the run's jobs that failed, and then the answers. The last call of all."""
        self._over.set()
        self._draw("")
        if self.stopped:
            with chdir(self._folder or Path.cwd()):
                self._time_left.keep(Path(path_of("seconds")))
                self.renew()
            _print([self.stopped])
            return
        for thread in list(self._held):
            self._release(thread)
        if self._folder is None and not self._has_error:  # A command without jobs, as --unlock: these are its words.
            _print(self._before_jobs)
        if self._folder is None:
            return
        if [*self._asked()] == [_HELP]:
            print(self.help(), flush=True)
            return
        if self._is_dry():
            _print(fitted(line) for line in self._plan())
            return
        with chdir(self._folder):  # With -d, Snakemake has gone back to where it was started.
            self._time_left.keep(Path(path_of("seconds")))
            self.renew()
            has_index = Path(path_of("index")).is_file()
            answers = self._answers()
            if not self._has_jobs and not self._has_error:
                answers = [*_texts(map(read_ending, self.earlier())), _NOTHING]
                answers += [_all_pages()] if has_index else []
            elif has_index and (len(answers) > 1 or (answers and any(self._failed.values()))):
                answers.append(_all_pages())
            status = self.status() if self.status and self._has_error else 1
        failed = [*map(_red, [*_once(self._failed.values()), *self._without_pages()])]
        said = "\n\n".join(_paragraphs(answers))
        _print([*([""] if failed else []), *failed, *([f"\n{said}\n"] if said else [])])
        if status > 1:  # Snakemake's own is 1.
            os._exit(status)

    def _plan(self) -> Iterator[str]:
        """What a run would do, and why: a paragraph for each reason."""
        if not self._planned:
            yield from () if self._has_error else (f"\n{_NOTHING}\n",)
            return
        count = sum(len(places) for jobs in self._planned.values() for places in jobs.values())
        seconds = planned_seconds(self._planned_jobs, self.has, Path(path_of("seconds")))
        takes = f"about {in_minutes(seconds)}" if seconds else "nothing tells how long, since most never ran here"
        yield f"\n{count} job{'s' * (count > 1)} would run: {takes}. Nothing was run now.\n"
        order = sorted(self._planned.items(), key=lambda item: (item[0] == _AFTER, item[0] == _NEW))
        for reason, jobs in order[:_SHOWN_REASONS]:
            yield f"  {reason}:"
            yield f"    {', '.join(_jobs(doing, places) for doing, places in jobs.items())}"
        if others := order[_SHOWN_REASONS:]:
            yield f"  {len(others)} more reasons"
        yield "\n  The same command with --quiet host lists each job.\n"

    def _without_pages(self) -> Iterator[str]:
        """The sentence on pages that were not made for jobs that crashed."""
        if self._crashed and self._pages:
            number = f"{self._pages} pages were" if self._pages > 1 else "1 page was"
            where = ", ".join(dict.fromkeys(self._crashed.values()))
            yield f"{number} not made, because of jobs that ended early: {where}."

    def _note(self, record: logging.LogRecord, event: str | None) -> None:
        logs: list[str] = getattr(record, "log", None) or []
        job: int | None = getattr(record, "jobid", None)
        if event == "workflow_started":
            self._folder, self._logger = Path.cwd(), record.name
            self.starting()
        if event in ("resources_info", "run_info"):
            self.scheduling()
        if event in ("job_finished", "job_error"):
            name, _, _ = self._running.pop(getattr(record, "job_id", job), ("", 0.0, ""))
            self._pages -= event == "job_finished" and name == _doing(_PAGES)
            self._time_left.end(getattr(record, "job_id", job), time.monotonic())
        if event == "job_info" and self._is_dry():
            outputs: list[str] = getattr(record, "output", None) or []
            rule, where = getattr(record, "rule_name", ""), _place(getattr(record, "wildcards", None) or {})
            reason = self._reasons.get((rule, where)) or (_AFTER if all(map(os.path.exists, outputs)) else _NEW)
            if outputs:
                self._planned.setdefault(reason, {}).setdefault(_doing(rule, where and " "), []).append(where)
                takes = {"cores": getattr(record, "threads", 1), **dict(getattr(record, "resources", {}).items())}
                inputs: list[str] = getattr(record, "input", None) or []
                self._planned_jobs.append(PlannedJob(rule, next(iter(logs), ""), inputs, outputs, takes))
            return
        if event == "job_info":
            self._has_jobs = True
            self._begin(record, job)
            self._failed.pop(job, None)  # It is tried again.
            self._crashed.pop(job, None)
            self._before.update((log, _written(log)) for log in logs)
            self._logs += logs
            files = [*(getattr(record, "input", None) or []), *(getattr(record, "output", None) or [])]
            self._points |= {file: None for file in files if "/points/" in file}
            if not getattr(record, "output", None):  # A target, whose input is what it asks for.
                self._wanted += getattr(record, "input", None) or []
        if event == "job_error":
            ending = next((said for one in logs if (said := read_ending(one)).sentence and self._is_new(one)), Ending())
            self._failed[job] = ending.sentence
            if ending.crashed:
                self._crashed[job] = name
            if ending.sentence:
                self._held.pop(record.thread, None)
            else:
                self._release(record.thread)

    def _release(self, thread: int | None) -> None:
        """Let a thread's error through that was held back."""
        if record := self._held.pop(thread, None):
            record.__dict__.update(OURS)
            logging.getLogger(record.name).handle(record)

    def _unknown(self) -> str:
        """The sentence on a target that doesn't exist; "" where all that was asked for may be a file."""
        known = sorted([*self._known(), *(COMMANDS if sys.argv[0] == "kernelsweep" else ())])
        unknown = [one for one in self._asked() if one not in known and "/" not in one and not Path(one).is_file()]
        others = f". Targets are {', '.join(known)}, and the path of every result."
        return fitted("\n".join(f"There is no target {one!r}{nearest(one, known) or others}" for one in unknown))

    def _begin(self, record: logging.LogRecord, job: int | None) -> None:
        where = _place(getattr(record, "wildcards", None) or {})
        rule: str = getattr(record, "rule_name", "")
        now = time.monotonic()
        log = next(iter(getattr(record, "log", None) or []), "")
        self._running[job] = _doing("end" if rule in self._known() else rule, where), now, log
        self._time_left.begin(job, rule, log, now)
        if self._next_line == 0.0 and self._is_quiet and not self._is_dry():
            self._next_line = now + _SECONDS_TO_FIRST_LINE
            threading.Thread(target=self._watch, daemon=True).start()
        if (phase := _doing(rule, " ")) not in self._phases:
            self._phases.add(phase)
            self._next_line = min(self._next_line, self._next_phase)

    def _show_jobs(self, stats: Mapping[str, int]) -> None:
        """Log how many jobs there are, instead of Snakemake's table."""
        jobs = {rule: count for rule, count in stats.items() if rule != "total"}
        self._time_left.plan(jobs, Path(path_of("seconds")))
        self._pages, self._total = stats.get(_PAGES, 0), stats.get("total", 0)
        logging.getLogger(self._logger).info(f"{self._total} jobs", extra=OURS)

    def _watch(self) -> None:
        """Show the progress also while no job ends."""
        while not self._over.wait(1.0):
            self._show_progress()

    def _show_progress(self) -> None:
        """Log how many jobs are done, the time left, and which jobs run now; unless the last such line is new.

        On a terminal, that is one line, which is drawn again.

        Where the time left is not known, because a job takes long, the line begins with that job and its time so far.
        """
        now = time.monotonic()
        if now < self._next_line or not self._running:
            return
        self._next_line = now + (_SECONDS_BETWEEN_DRAWINGS if self._draws else _SECONDS_BETWEEN_LINES)
        self._next_phase = now + _SECONDS_TO_NEW_PHASE
        running, left = list(self._running.values()), self._time_left.in_words(now)  # Another thread may change it.
        if self._draws:
            share = self._done / max(1, self._total)
            bar = "█" * round(_BAR * share) + "─" * (_BAR - round(_BAR * share))
            parts = [f"{share:.0%}", f"{self._done}/{self._total}", *([left] if left else []), ""]
            doing = dict.fromkeys(read_line(log) or name for name, _, log in running)
            self._draw(_joined(f"▕{bar}▏ {' · '.join(parts)}", doing, " · ", get_terminal_size().columns - 1))
            return
        (longest, since, _), *shorter = sorted(running, key=lambda job: job[1])
        if not left and self._done and now - since >= 1:
            longest += f" for {in_minutes(now - since)}"
        # The newest, which may do what none did before.
        names = [name for name, *_ in reversed(shorter)]
        names = [*names, longest] if left else [longest, *names]
        head = f"{self._done} of {self._total} jobs{f', {left}' if left else ''}: "
        line = _joined(head, names, ", ", COLUMNS)
        logging.getLogger(self._logger).info(line, extra=OURS)

    def _draw(self, line: str) -> None:
        """Draw the line of progress in the place of the last one; "" erases it."""
        if line or self._drawn:
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()
        self._drawn = line

    def _is_new(self, log: str) -> bool:
        """Whether a job's log is of this run: a job that dies at once leaves the log of the last."""
        return _written(log) != self._before.get(log)

    def _answers(self) -> list[str]:
        """The answers, in the order in which a run with nothing to do has them.

        After a failure, the failed ones come first, and of the others the first paragraph is left: the failure stays in
        sight.

        A target whose files are no part of an answer ends with their names, or with the page of all pages, unless a job
        failed.
        """
        ordered = {log: place for place, log in enumerate(self.earlier() if self._logs else ())}
        logs = sorted(dict.fromkeys(self._logs), key=lambda log: ordered.get(log, len(ordered)))
        endings = [*map(read_ending, filter(self._is_new, logs))]
        found = _texts(endings)
        if any(self._failed.values()):
            right = [ending.answer.partition("\n\n")[0] for ending in endings if not ending.sentence]
            return [*_texts(ending for ending in endings if ending.sentence), *filter(None, right)]
        # The marks of jobs that have ended are hidden.
        wanted = [path for path in self._wanted if not Path(path).name.startswith(".")]
        is_told = any(path in text for text in found for path in wanted)
        if self._points and not found and not self._failed:
            found = [_not_judged(self._points)]
        if (found and is_told) or self._failed or not wanted:
            return found
        more = len(wanted) - _NAMED_FILES
        return [*found, "  Results  " + ", ".join(wanted[:_NAMED_FILES]) + (f" and {more} more" if more > 0 else "")]


def _place(wildcards: Mapping[str, str]) -> str:
    """What a job is for, such as "matmul/naive"; "" for no study."""
    return "/".join(wildcards[name] for name in _WILDCARDS if name in wildcards)


def _not_judged(points: Iterable[str]) -> str:
    """The sentence on files with points that no job of the run judges, as with --until and --omit-from."""
    from kernelsweep.results import each_row  # It needs NumPy, whose threads keep a check's workers from being forks.

    counts = {file: Counter(row["status"] for row in each_row(file)) for file in points if Path(file).is_file()}
    wrong = {file: count.total() - count["ok"] - count["skipped"] for file, count in counts.items()}
    where = "".join(f"; {file}: {number} not right" for file, number in wrong.items() if number)
    return f"Not judged in this run: {sum(count.total() for count in counts.values())} points{where}."


def _doing(rule: str, where: str = "") -> str:
    """What a job of a rule does, such as "measuring matmul/naive" or "comparing the sweeps"."""
    verb, _, what = rule.partition("_")
    doing = _DOING.get(rule) or _DOING.get(verb) or f"{verb.removesuffix('e')}ing"
    return f"{doing} {where or (what and f'the {what}')}".strip()


def _jobs(doing: str, places: Sequence[str]) -> str:
    """Jobs that do the same, such as "checking unrolling/neighbored and 11 more"."""
    named = [*dict.fromkeys(filter(None, places))]
    more = f" and {len(named) - _NAMED_JOBS} more" if named[_NAMED_JOBS:] else ""
    return f"{doing} {' and '.join(named[:_NAMED_JOBS]) if not more else ', '.join(named[:_NAMED_JOBS])}{more}".strip()


def _joined(head: str, parts: Iterable[str], between: str, columns: int) -> str:
    """A line of as many parts as these columns have place for."""
    joined, room = between.join(parts), columns - len(head)
    cut = joined if len(joined) <= room else joined[: room - 3]
    return head + (cut if cut == joined else f"{cut.rpartition(between)[0] or cut}...")


def _texts(endings: Iterable[Ending]) -> list[str]:
    return [ending.answer for ending in endings if ending.answer]


def _paragraphs(answers: Iterable[str]) -> Iterator[str]:
    """The paragraphs of the answers; one that explains several of them stands once, in the first."""
    said: set[str] = set()
    for answer in answers:
        first, *others = answer.split("\n\n")
        yield from (first, *(paragraph for paragraph in others if paragraph not in said))
        said.update(others)


def _once(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences, each once, without the lines that repeat another one, of another point."""
    unlike = [*dict.fromkeys(filter(None, sentences))]
    for sentence in unlike:
        others = [_NUMBER.sub("", one) for one in unlike if one != sentence]
        lines = [line for line in sentence.splitlines() if not any(one in _NUMBER.sub("", line) for one in others)]
        if lines:
            yield "\n".join(lines)


def _written(path: str | Path) -> int | None:
    """When a file was written, ns; None where there is none."""
    with suppress(OSError):
        return os.stat(path).st_mtime_ns
    return None


def _print(lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if sys.stderr.isatty():
        text = re.sub(r"file://\S+", _linked, fitted(text, get_terminal_size().columns))
    with suppress(BrokenPipeError):
        print(text, end="", file=sys.stderr, flush=True)


def _linked(found: re.Match[str]) -> str:
    """An address as a terminal's link (OSC 8) with the file's path as its text: one that is cut into lines leads on."""
    path = Path(unquote(urlsplit(found[0]).path))
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"\033]8;;{found[0]}\033\\{shown}\033]8;;\033\\"


def _red(sentence: str) -> str:
    return sentence if os.environ.get("NO_COLOR") or not sys.stderr.isatty() else f"\033[31m{sentence}\033[0m"


def _all_pages() -> str:
    return f"  All pages  {Path(path_of('index')).resolve().as_uri()}"


def targets_of(workflow: Any) -> list[str]:
    """The targets of the command line; none where Snakemake keeps them elsewhere."""
    return sorted(map(str, getattr(getattr(workflow, "dag_settings", None), "targets", None) or ()))
