"""The last words of a run are its answer, then the sentences of failed jobs, whatever Snakemake says around them."""

from __future__ import annotations

import io
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from workflow_runs import shrink, snakemake

from kernelsweep.base.logs import SAID, fitted, read_ending
from kernelsweep.project import command
from kernelsweep.project.last_words import LastWords
from kernelsweep.project.time_left import TimeLeft

LOGGER = logging.getLogger("tests of last words")
LOGGER.propagate = False


class Passed(logging.Handler):
    """Keeps the messages that the filter lets through."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The messages that passed; results lie in an empty folder."""
    monkeypatch.chdir(tmp_path)
    handler = Passed()
    LOGGER.addHandler(handler)
    yield handler.messages
    LOGGER.removeHandler(handler)
    for one in list(LOGGER.filters):
        LOGGER.removeFilter(one)


def words(**settings: Any) -> LastWords:
    made = LastWords(lambda: ["unrolling", "all"], **settings)
    LOGGER.addFilter(made)
    tell("", event="workflow_started")
    return made


def tell(message: str = "in words of its own", level: int = logging.INFO, **extra: Any) -> None:
    LOGGER.handle(logging.makeLogRecord({"name": LOGGER.name, "msg": message, "levelno": level, **extra}))


def end_of_job(log: Path, code: str, is_answer: bool = False) -> int:
    """The status of a job with this log, which runs `code`."""
    start = "import sys; from kernelsweep.base.logs import logged; from kernelsweep.errors import UserError\n"
    start += "from types import SimpleNamespace; from snakemake.iocontainers import InputFiles, Params\n"
    made_from = {"file": str(log.with_suffix(".json")), "planned": {}}
    job = f"log=[{str(log)!r}], input=InputFiles(fromdict={{'out_of_date': ''}}), output=[]"
    script = f"{start}job = SimpleNamespace({job}, params=Params(fromdict={{'made_from': {made_from}}}))\n"
    script += f"with logged(job, is_answer={is_answer}):\n    {code}\n"
    environment = {"PYTHONPATH": str(ROOT / "workflow/scripts")}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True).returncode


def test_each_failed_jobs_sentence_comes_first_and_then_answers_those_that_are_right_in_short(
    tmp_path: Path, passed: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = words(is_quiet=True)
    logs = ["end_run.log", "one.log", "bug.log", "right.log"]
    tell("a table", event="run_info", stats={"make_page": 2})
    for job, log in enumerate(logs):
        of = {"rule_name": "publish_study", "wildcards": {"study": "matmul"}}
        tell("a job", event="job_info", jobid=job, log=[log], output=["x"], **of)
    tell("a job", event="job_info", jobid=8, rule_name="make_page")
    tell("its end", event="job_finished", job_id=8)
    said = [
        "print('Long.' * 9_999); raise UserError('Mend it.')",
        "print('x' * 100_000); raise UserError('Mend this.\\none, 3 points not run: Mend it.')",
    ]
    assert end_of_job(tmp_path / logs[0], said[0], is_answer=True) == SAID
    assert end_of_job(tmp_path / logs[1], said[1]) == SAID
    lost = "raise type('LogicError', (Exception,), {'__module__': 'pycuda._driver'})('unknown error')"
    assert end_of_job(tmp_path / "lost.log", lost) == SAID
    assert "The GPU or its driver failed: unknown error. " in read_ending(tmp_path / "lost.log").sentence
    # Pins: Snakemake's stack where the disk was full, as the sentence had no room. It has that of a file made before.
    full = tmp_path / "full.log"
    code = f"import os; room = os.stat({str(full.with_suffix('.end.json'))!r}); assert room.st_size > 4_000; "
    assert end_of_job(full, f"{code}raise OSError(28, str(room.st_ino), 'x.csv')") == SAID
    number = full.with_suffix(".end.json").stat().st_ino
    assert read_ending(full).sentence.startswith(f"x.csv can't be written: {number}. Mend that")
    assert end_of_job(tmp_path / logs[2], "raise ValueError('a bug')") == 1
    end_of_job(tmp_path / logs[3], "print('All is right.\\n\\nA long table.')", is_answer=True)
    passed.clear()
    for job, log in enumerate(logs[:2]):
        tell("the command failed", logging.ERROR, event="error", exception="RuleException")
        tell("a job failed", logging.ERROR, event="job_error", jobid=job, log=[log, "of_slurm.log"])
    tell("look above", logging.ERROR)
    tell("not all jobs ended well", logging.ERROR, event="error", exception="WorkflowError")
    assert passed == ["a job failed", "a job failed"]
    # A crash ends the run with its error, its log, and what there is no page of.
    tell("the command crashed", logging.ERROR, event="error", exception="RuleException")
    tell("a job crashed", logging.ERROR, event="job_error", jobid=2, log=logs[2:])
    tell("not all jobs ended well", logging.ERROR, event="error", exception="WorkflowError")
    assert passed[2:] == ["a job crashed"]
    # A job without a sentence: Snakemake's error is all that there is, and is no other job's.
    tell("the command died", logging.ERROR, event="error", exception="RuleException")
    tell("a job died", logging.ERROR, event="job_error", jobid=3, log=[])
    tell("not all jobs ended well", logging.ERROR, event="error", exception="WorkflowError")
    assert passed[3:] == ["the command died", "a job died", "not all jobs ended well"]
    monkeypatch.chdir(tmp_path.parent)  # As Snakemake does at its end, with -d.
    ending.say()
    *first, bug, pages, _, answer, _, right = capsys.readouterr().err.strip().split("\n")
    assert first == ["Mend it.", "Mend this."] and (answer, right) == ("Long." * 9_999, "All is right.")
    assert bug == f"kernelsweep made a mistake: ValueError: a bug (<string>:5). Its stack: {tmp_path / 'bug.log'}"
    assert pages == "1 page was not made, because of jobs that ended early: drawing matmul."
    assert "Traceback" in (tmp_path / "bug.log").read_text()


def test_points_that_no_job_of_the_run_judges_are_counted(
    tmp_path: Path, passed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    # Pins: nothing but status 0 after `--until measure_on_emulator`, with wrong points.
    ending, points = words(), "results/emulator/points/own/one.csv"
    (tmp_path / points).parent.mkdir(parents=True)
    (tmp_path / points).write_text("status\nok\nwrong_result\nskipped\n")
    tell("a job", event="job_info", jobid=1, log=["one.log"], output=[points])
    ending.say()
    assert capsys.readouterr().err == f"\nNot judged in this run: 3 points; {points}: 1 not right.\n\n"


def test_answers_come_in_their_order_and_the_page_of_all_pages_follows(
    tmp_path: Path, passed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = (tmp_path / "results/index.html").as_uri()
    (tmp_path / "results").mkdir()
    (tmp_path / "results/index.html").write_text("")
    same = words()
    end_of_job(tmp_path / "last.log", "print('As last time.')", is_answer=True)
    same.earlier = lambda: ["last.log", "never_run.log"]
    same.say()
    nothing = "Nothing to do: all that was asked for is there and up to date."
    assert capsys.readouterr().err == f"\nAs last time.\n\n{nothing}\n\n  All pages  {page}\n\n"
    ending = words()
    ending.earlier = lambda: [f"results/{platform}/end_run.log" for platform in ("gpu", "emulator")]
    for platform, text in {"emulator": "One line.\\n\\nFor both.", "gpu": "Two\\nlines.\\n\\nFor both."}.items():
        (tmp_path / f"results/{platform}").mkdir(parents=True)
        tell(event="job_info", log=[f"results/{platform}/end_run.log"], output=["x"])
        end_of_job(tmp_path / f"results/{platform}/end_run.log", f"print('{text}')", is_answer=True)
    ending.say()
    assert capsys.readouterr().err == f"\nTwo\nlines.\n\nFor both.\n\nOne line.\n\n  All pages  {page}\n\n"
    refused = words()
    refused.earlier = lambda: [str(1 / 0)]  # Without a job, the targets may be what is wrong.
    tell("The target needs a GPU.", logging.ERROR, is_of_kernelsweep=True)
    refused.say()
    assert capsys.readouterr().err == ""


def test_a_dry_run_says_once_what_would_run_why_and_how_long(
    passed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results/build").mkdir(parents=True)
    (tmp_path / "results/build/seconds.json").write_text('{"prove_kernel": {"a": 40}, "make_page": {"b": 5}}')
    (tmp_path / "page").touch()
    dry = words(is_quiet=True, is_dry=lambda: True)
    dry.has = {"cores": 8, "measuring": 2}  # Pins: the sum of all jobs' seconds, whatever ran at once.
    dry.explain("prove_kernel", {"study": "matmul", "kernel": "k1"}, "kernels/matmul/k1.cu changed")
    for _ in range(2):  # As Snakemake does.
        tell("a table", event="run_info", stats={"prove_kernel": 5, "make_page": 1, "all": 1, "total": 7})
    for number in range(1, 6):
        kernel = {"study": "matmul", "kernel": f"k{number}"}
        of = {"wildcards": kernel, "resources": {"measuring": 1}, "output": [f"proof{number}"]}
        tell("a job", event="job_info", jobid=number, rule_name="prove_kernel", **of)
    tell("a job", event="job_info", jobid=6, rule_name="make_page", input=["proof5"], output=["page"])
    tell("a job", event="job_info", jobid=7, rule_name="all", input=["page"])
    dry.say()
    said = capsys.readouterr().err
    assert "\n6 jobs would run: about 2:05. Nothing was run now.\n" in said, "two prove at once, and then one draws"
    assert "  kernels/matmul/k1.cu changed:\n    checking matmul/k1\n" in said
    assert "  not made yet:\n    checking matmul/k2, matmul/k3, matmul/k4 and 1 more\n" in said
    assert "  because of these jobs:\n    making the page\n" in said
    assert not any("table" in message for message in passed)


def test_a_quiet_run_shows_progress_now_and_then_and_nothing_of_snakemakes_own_work(
    passed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    LOGGER.setLevel(logging.INFO)
    now = [100.0]
    monkeypatch.setattr("kernelsweep.project.last_words.time.monotonic", lambda: now[0])
    ending = words(is_quiet=True)
    passed.clear()
    for own in ({}, {"event": "job_started"}, {"event": "job_finished"}):
        tell("own work", **own)
    tell("ours", is_of_kernelsweep=True)
    tell("a warning", logging.WARNING)
    tell("a table", event="run_info", stats={"prove_kernel": 30, "other": 14, "total": 44})
    kernel = {"study": "matmul", "kernel": "naive"}
    for job, rule in enumerate(("build_kernel", "measure_kernel", "publish_study", *["prove_kernel"] * 5)):
        tell("a job", event="job_info", jobid=job, rule_name=rule, wildcards=kernel if job < 2 else {"study": "matmul"})
    for done, seconds in ((1, 1.0), (2, 3.0), (3, 6.0), (4, 8.5), (5, 34.0), (6, 39.0), (7, 110.0)):
        now[0] = 100 + seconds
        if done == 3:  # What none has done before.
            tell("a job", event="job_info", jobid=8, rule_name="judge")
            tell("a job", event="job_info", jobid=9, rule_name="unrolling")  # a study's target
        tell("finished", event="job_finished", job_id=done - 1)
        tell("a step", event="progress", done=done, total=44)
    ending.say()
    assert [one for one in passed if one != "a job"] == [
        "ours",
        "a warning",
        "44 jobs",
        "2 of 44 jobs: drawing matmul for 0:03, checking matmul, checking matmul...",
        "4 of 44 jobs, under a minute left: finishing, judging, checking matmul...",
        # More than a third above what was told: pins the time left that rose by a third each time, 0:08 to 2:32.
        "6 of 44 jobs: checking matmul for 0:39, finishing, judging, checking matmul",
        "7 of 44 jobs: checking matmul for 1:50, finishing, judging",
    ]


def test_the_time_left_is_that_of_each_jobs_last_run(tmp_path: Path) -> None:
    def started(jobs: int) -> TimeLeft:
        left = TimeLeft()
        left.plan({"measure": jobs}, tmp_path / "seconds.json")
        return left

    first, now = started(4), 1.0
    for log, seconds in {"a": 10.0, "b": 2.0, "c": 30.0, "d": 2.0}.items():
        first.begin(log, "measure", log, now)
        first.end(log, now := now + seconds)
    first.keep(tmp_path / "seconds.json")
    again = started(4)
    assert again.seconds(1.0) == 44
    again.begin(1, "measure", "c", 1.0)
    assert again.seconds(11.0) == 34
    again.end(1, 66.0)  # A machine that is half as fast.
    again.begin(2, "measure", "a", 66.0)
    assert again.seconds(66.0) == 28
    assert started(1).seconds(0.0) == 11, "an edit runs one of the four"
    # Pins: a run with nothing to do, which plans nothing, left {} and "nothing tells how long, since most never ran".
    TimeLeft().keep(tmp_path / "seconds.json")
    assert started(1).seconds(0.0) == 11
    for damaged in ("[" * 99_999, "[1]", '{"measure": null}', '{"measure": {"a": NaN}}'):
        (tmp_path / "seconds.json").write_text(damaged)
        assert started(1).seconds(0.0) is None


def test_a_first_run_is_told_a_time_that_is_near(tmp_path: Path) -> None:
    # Pins: a first run of `all`, whose checks were taken for the length of every job to come: 5:22 at 12%.
    left, now = TimeLeft(), 1.0
    left.plan({"measure_on_emulator": 12, "publish_study": 2, "write_steps": 4, "make_page": 1}, tmp_path / "none.json")
    for job in range(3):
        left.begin(job, "measure_on_emulator", str(job), now)
        left.end(job, now := now + 8.0)
    seconds = left.seconds(now)
    assert seconds and 60 < seconds < 90, "9 checks, 2 drawings, 4 short jobs and a page"


def test_a_line_in_colour_has_its_columns_and_no_more() -> None:
    # Pins: "such as\n    array\n  size 1,000": the codes of the colour were counted on a terminal of 80 columns.
    red = f"\033[31m{'four ' * 15}words\033[0m"
    assert fitted(red) == red


def test_a_run_needs_nothing_that_is_changed_in_snakemake(project: Path) -> None:
    shrink(project)
    checked, bare = "results/build/warp_shuffle.checked.txt", {**os.environ, "KERNELSWEEP_FORKS": "none"}
    run = snakemake(project, checked, environment=bare, shares_builds=False)
    assert run.returncode == 0 and (project / checked).is_file(), run.stdout
    listed = snakemake(project, "help", shares_builds=False)
    assert listed.returncode == 0 and re.search(r"\n  compare +what an edit did", listed.stdout), listed.stdout
    assert "\n  warp_shuffle" in listed.stdout and "jobs:" not in listed.stdout
    misspelt = snakemake(project, "warp_shufle", shares_builds=False)
    assert misspelt.returncode == 1 and "did you mean 'warp_shuffle'?" in misspelt.stdout


def test_a_misspelt_command_is_named_where_no_study_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kernelsweep", "chek", "x.cu"])
    with pytest.raises(SystemExit):
        command.main()
    assert capsys.readouterr().err == "There is no target 'chek'; did you mean 'check'?\n"


def test_another_major_release_of_snakemake_is_a_warning(project: Path) -> None:
    shrink(project)
    snakefile = project / "Snakefile"
    snakefile.write_text(f'import snakemake\nsnakemake.__version__ = "10.0.0"\n{snakefile.read_text()}')
    run = snakemake(project, "--dry-run")
    assert run.returncode == 0
    assert "kernelsweep was tested with Snakemake 9, and this is 10.0.0: " in run.stdout


def test_on_a_terminal_progress_is_one_line_that_others_erase(
    passed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, terminal = [100.0], io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("kernelsweep.project.last_words.time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("KERNELSWEEP_ONE_LINE", "")
    ending = words(is_quiet=True)
    (tmp_path / "job.line").write_text("matmul/naive 40/80")
    tell("a table", event="run_info", stats={"measure": 2, "total": 2})
    for job, log in enumerate((tmp_path / "job.log", tmp_path / "none.log")):
        tell("a job", event="job_info", jobid=job, rule_name="measure", log=[str(log)], wildcards={"study": "matmul"})
    now[0] += 3
    tell("a step", event="progress", done=1, total=4)
    tell("ours", is_of_kernelsweep=True)
    ending.say()
    line = "▕██──────▏ 25% · 1/4 · matmul/naive 40/80 · measuring matmul"
    assert terminal.getvalue() == f"\r\033[K{line}\r\033[K"
