"""The last words of a run are its answer, then the sentences of failed jobs, whatever Snakemake says around them."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

from kernelsweep.logs import SAID
from kernelsweep.project.last_words import LastWords

# With this, Snakemake's exception ends a run with a failed job.
_END = "At least one job did not complete successfully."


def passes(words: LastWords, message: str, **extra: Any) -> str | None:
    """What is left of a message of Snakemake's; None if nothing is."""
    record = logging.makeLogRecord({"msg": message, **extra})
    return record.getMessage() if words.filter(record) else None


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("unroling", "There is no target 'unroling'; did you mean 'unrolling'?"),
        ("x y", "There is no target 'x y'. Targets are all, unrolling, and the path of every result."),
    ],
)
def test_a_misspelt_target(target: str, answer: str) -> None:
    said = f"MissingRuleException:\nNo rule to produce {target} (if you use input functions make sure that ...)."
    assert passes(LastWords(lambda: ["unrolling", "all"]), said, exception="MissingRuleException") == answer


def test_the_answer_comes_last_and_then_each_failed_jobs_sentence_without_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = LastWords(list)
    command = "CalledProcessError in file x.smk:\nCommand 'python x' returned non-zero exit status {}."
    assert passes(words, command.format(SAID), exception="RuleException") is None
    assert passes(words, command.format(1), exception="RuleException") == command.format(1)
    answer = tmp_path / "end_run.log"
    code = "import sys; from kernelsweep.logs import logged; from kernelsweep.errors import UserError\n"
    code += (
        f"with logged({str(answer)!r}, is_answer=True):\n    print('The answer.')\n    raise UserError('Mend it.')\n"
    )
    environment = {"PYTHONPATH": str(ROOT / "workflow/scripts")}
    job = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (job.returncode, job.stderr) == (SAID, ""), "said at the end, not twice"
    passes(words, "rule end_run", event="job_info", log=[str(answer)])
    passes(words, "Error in rule end_run", event="job_error", log=[str(answer)])
    assert passes(words, "Elapsed time: 0:00:01") is None
    assert capsys.readouterr().err == "\nThe answer.\n\n"
    assert passes(words, _END) == "Mend it."

    logs = [str(tmp_path / f"{name}.log") for name in ("one", "two", "bug")]
    for log, error in zip(logs, ("UserError", "UserError", "ValueError"), strict=True):
        code = "import sys; from kernelsweep.logs import logged; from kernelsweep.errors import UserError\n"
        code += f"with logged(sys.argv[1]):\n    print('x' * 100_000)\n    raise {error}('Mend this.')\n"
        job = subprocess.run([sys.executable, "-c", code, log], env=environment)
        assert job.returncode == (SAID if error == "UserError" else 1)
    for log in logs[:2]:
        passes(words, "Error in rule one", event="job_error", log=[log])
    assert passes(words, f"WorkflowError:\n{_END}") == "Mend it.\nMend this."
    # A job without a sentence leaves the end to Snakemake.
    passes(words, "Error in rule bug", event="job_error", log=[logs[2]])
    assert passes(words, _END) == _END


def test_the_longest_answer_is_last_and_the_page_of_all_pages_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = LastWords(list)
    for platform, text in {"gpu": "Two\nlines.\n", "emulator": "One line.\n"}.items():
        (tmp_path / f"results/{platform}").mkdir(parents=True)
        (tmp_path / f"results/{platform}/end_run.log").write_text(text)
        passes(words, "rule end_run", event="job_info", log=[f"results/{platform}/end_run.log"])
    (tmp_path / "results/index.html").write_text("")
    assert passes(words, "Elapsed time: 0:00:01") is None
    page = (tmp_path / "results/index.html").as_uri()
    assert capsys.readouterr().err == f"\nOne line.\n\nTwo\nlines.\n\n  All pages  {page}\n\n"
    nothing = "Nothing to be done (all requested files are present and up to date)."
    assert passes(words, nothing) == f"{nothing}\n\n  All pages  {page}\n"


def test_a_run_without_an_answer_names_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    words = LastWords(list)
    passes(words, "rule archive_results", event="job_info", input=["x.csv"], output=["a.md"], log=["x.log"])
    passes(words, "rule archive", event="job_info", input=[".end", "a.md", "b.csv", "c.csv", "d.svg"], output=[])
    assert passes(words, "Elapsed time: 0:00:01") is None
    assert capsys.readouterr().err == "\n  Results  a.md, b.csv, c.csv and 1 more\n\n"
    passes(words, "Error in rule archive_results", event="job_error", log=["x.log"])
    assert passes(words, "Elapsed time: 0:00:01") == "Elapsed time: 0:00:01"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        pytest.param(
            ["gpu.tar.gz"], "Fast.\nAll of it  a.md\n\n  Results  gpu.tar.gz", id="an archive of what is told"
        ),
        pytest.param(["a.md", "a.csv"], "Fast.\nAll of it  a.md", id="what the answer names"),
        pytest.param([".end", "b.csv"], "Fast.\nAll of it  a.md", id="what the answer's mark stands for"),
    ],
)
def test_files_that_no_answer_names_are_named_after_it(
    wanted: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # The page of all pages is named where there is one.
    words = LastWords(list)
    (tmp_path / "end_run.log").write_text("Fast.\nAll of it  a.md\n")
    passes(words, "rule end_run", event="job_info", log=[str(tmp_path / "end_run.log")], output=[".end"])
    passes(words, "rule target", event="job_info", input=wanted, output=[])
    assert passes(words, "Elapsed time: 0:00:01") is None
    assert capsys.readouterr().err == f"\n{told}\n\n"


def test_a_quiet_run_shows_progress_now_and_then_and_nothing_of_snakemakes_own_work() -> None:
    words = LastWords(list, is_quiet=True)
    own = [("Select jobs to execute...", {}), ("Execute 1 jobs...", {"event": "job_started"})]
    own += [("Finished jobid: 1", {"event": "job_finished"}), ("Complete log(s): x.log", {})]
    # What is wrong stands below, not above.
    own += [("Exiting because a job execution failed. Look above for error messages", {})]
    assert [passes(words, message, **extra) for message, extra in own] == [None] * len(own)
    assert passes(LastWords(list), own[0][0]) == own[0][0]
    shown = [
        passes(words, f"{done} of 4", event="progress", done=done, total=4, created=created)
        for done, created in ((1, 100.0), (2, 101.0), (3, 106.0), (4, 106.5))
    ]
    assert shown == ["1 of 4", None, "3 of 4", "4 of 4"]
