"""The last words of a run that failed are sentences of ours, whatever Snakemake says around them."""

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


def test_a_failed_jobs_sentence_is_repeated_and_its_command_is_not(tmp_path: Path) -> None:
    words = LastWords(list)
    command = "CalledProcessError in file x.smk:\nCommand 'python x' returned non-zero exit status {}."
    assert passes(words, command.format(SAID), exception="RuleException") is None
    assert passes(words, command.format(1), exception="RuleException") == command.format(1)
    logs = [str(tmp_path / f"{name}.log") for name in ("one", "two", "bug")]
    for log, error in zip(logs, ("UserError", "UserError", "ValueError"), strict=True):
        code = "import sys; from kernelsweep.logs import logged; from kernelsweep.errors import UserError\n"
        code += f"with logged(sys.argv[1]):\n    print('x' * 100_000)\n    raise {error}('Mend this.')\n"
        job = subprocess.run([sys.executable, "-c", code, log], env={"PYTHONPATH": str(ROOT / "workflow/scripts")})
        assert job.returncode == (SAID if error == "UserError" else 1)
    for log in logs[:2]:
        passes(words, "Error in rule one", event="job_error", log=[log])
    assert passes(words, f"WorkflowError:\n{_END}") == "Mend this."
    # A job without a sentence leaves the end to Snakemake.
    passes(words, "Error in rule bug", event="job_error", log=[logs[2]])
    assert passes(words, _END) == _END
