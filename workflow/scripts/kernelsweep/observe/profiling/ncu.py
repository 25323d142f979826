"""Run a kernel's points under Nsight Compute, and say in words why there are no counters."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.compile.toolkit import not_found
from kernelsweep.errors import UserError
from kernelsweep.home import GPU_COMMAND
from kernelsweep.observe.profiling.ncu_report import Profile, parse_capture
from kernelsweep.observe.requests import Requests, observe
from kernelsweep.observe.worker import PROFILED

PROFILE_COMMAND = f"{GPU_COMMAND} --cores 1 profile"
TRY_AGAIN = f"then `{PROFILE_COMMAND} --forcerun profile_kernel`"

MISSING = (
    f"{not_found('Nsight Compute (ncu)')}. It is part of the CUDA toolkit; alone, it is the package nsight-compute of "
    f"NVIDIA's apt repository and of conda-forge. Install it, {TRY_AGAIN}."
)

# Parts of the messages of an ncu that can't read the counters; docs/profiling.md has the cures.
_FAILURES = (
    "ERR_NVGPUCTRPERM",
    "driver is not compatible with Nsight Compute",
    "driver resource was unavailable",
    "Profiling is not supported on",
)

_ERROR = re.compile(r"^==ERROR== (.*)$", re.MULTILINE)
# An error of the profiled process, of which its answers say more.
_APPLICATION = "The application "

_IMPORT_SECONDS = 120


def command(ncu: str, metrics: Sequence[str], settings: Mapping[str, Any], cache: str, report: Path) -> list[str]:
    """The command line that profiles a process, up to that process.

    metrics   ncu's names
    settings  the configuration's `profiling`
    cache     the points' cache state: ncu flushes the caches only for cold points, before each of its passes
    """
    options = settings["options"]
    # ncu would lock the clocks to their base frequency, but times are measured with free clocks.
    free_clocks = [] if any(word.startswith("--clock-control") for word in options) else ["--clock-control=none"]
    return [
        ncu,
        "--profile-from-start=off",
        "--target-processes=application-only",
        *free_clocks,
        f"--cache-control={'all' if cache == 'cold' else 'none'}",
        f"--metrics={','.join(metrics)}",
        *options,
        "--force-overwrite",
        f"--export={report.with_suffix('')}",
    ]


def profile(
    ncu: str, metrics: Sequence[str], settings: Mapping[str, Any], requests: Requests, folder: Path, log: Path
) -> Profile:
    """Profile points of one cache state in one process.

    folder  where the report for Nsight Compute's window is kept, as cold.ncu-rep or hot.ncu-rep

    Raises UserError for a failure that isn't the machine's: an unknown section, a report that can't be written.
    """
    kernel, cache = requests.task.kernel, requests.points[0][0]["cache"]
    report = folder / f"{cache}.ncu-rep"
    observed = observe(command(ncu, metrics, settings, cache, report), PROFILED, requests, log)
    answers, ended = observed.answers, observed.exit_status is not None
    output = log.read_text(encoding="utf-8", errors="replace")
    if ended and not answers and not any(text in output for text in _FAILURES):
        raise UserError(f"{kernel}: the process under Nsight Compute ran no point. It ended with: {output[-1000:]}")
    too_long = "Nsight Compute took longer than profiling.timeout_seconds allows."
    failure = why_no_counters(output, kernel) if ended else too_long
    if failure or not any(answer.launches for answer in answers):
        return Profile(answers, None, failure)
    if not report.exists():
        raise UserError(f"{kernel}: Nsight Compute wrote no report. It said: {_shortened(output)}")
    return Profile(answers, parse_capture(import_report(ncu, report)))


def import_report(ncu: str, report: Path) -> str:
    """A report's launches as CSV, with the digits of the locale C whatever the user's. Raises UserError."""
    run = subprocess.run(
        [ncu, "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        timeout=_IMPORT_SECONDS,
    )
    if run.returncode != 0:
        raise UserError(f"Nsight Compute can't read its own report {report}: {_shortened(run.stdout + run.stderr)}")
    return run.stdout


def why_no_counters(output: str, kernel: str) -> str:
    """Why the machine gives no counters, from the output of ncu; empty if it does.

    Raises UserError for any other error of ncu.
    """
    for line in output.splitlines():
        if any(text in line for text in _FAILURES):
            return f"{line.removeprefix('==ERROR== ').strip()} Do what docs/profiling.md says of it, {TRY_AGAIN}."
    errors = [error for error in _ERROR.findall(output) if not error.startswith(_APPLICATION)]
    if errors:
        raise UserError(f"{kernel}: Nsight Compute failed: {_shortened(' '.join(errors))}")
    return ""


def _shortened(text: str) -> str:
    return " ".join(text.split())[:500] or "nothing"
