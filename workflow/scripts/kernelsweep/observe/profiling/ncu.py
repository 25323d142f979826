"""Run a kernel's points under Nsight Compute, and say in words why there are no counters where it can't give any."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.analysis.step_metrics import PROFILE_COMMAND
from kernelsweep.build.nvcc import DEFAULT_TOOLKIT
from kernelsweep.build.toolkit import START_SECONDS, find_tool
from kernelsweep.errors import UserError
from kernelsweep.measure.runner import KernelTask
from kernelsweep.measure.worker.process import environment
from kernelsweep.observe.profiling import worker
from kernelsweep.observe.profiling.capture import Capture, parse_capture
from kernelsweep.sweep.points import Point

AGAIN = f"then `{PROFILE_COMMAND} --forcerun profile_kernel`"

MISSING = (
    f"Nsight Compute (ncu) was not found on the PATH, nor under CUDA_HOME or {DEFAULT_TOOLKIT}. It is part of the CUDA "
    "toolkit; alone, it is the package nsight-compute of NVIDIA's apt repository and of conda-forge. Install it, "
    f"{AGAIN}."
)

# What ncu prints where it can't read the counters, and what the user can do.
_FAILURES = {
    "ERR_NVGPUCTRPERM": (
        "This user has no permission to read the GPU's performance counters (ERR_NVGPUCTRPERM). An administrator gives "
        "it to all users by a file in /etc/modprobe.d/ with the line `options nvidia "
        "NVreg_RestrictProfilingToAdminUsers=0` and a restart, or to a container by --cap-add=SYS_ADMIN; see "
        "https://developer.nvidia.com/ERR_NVGPUCTRPERM. "
        f"Then {AGAIN.removeprefix('then ')}."
    ),
    "driver is not compatible with Nsight Compute": (
        "This ncu doesn't fit NVIDIA's driver. Take the release of Nsight Compute that came with the driver's CUDA "
        f"version (nvidia-smi shows it), first on the PATH, or renew the driver, {AGAIN}."
    ),
    "driver resource was unavailable": (
        "Another profiler holds the GPU's counters, such as NVIDIA's DCGM in a data centre. Pause it (dcgmi profile "
        f"--pause), {AGAIN}."
    ),
    "Profiling is not supported on": (
        "This release of Nsight Compute can't profile this GPU (ncu --list-chips names those that it can). Take one "
        f"that can, first on the PATH, {AGAIN}."
    ),
}

_ERROR = re.compile(r"^==ERROR== (.*)$", re.MULTILINE)
# What only says that the watched process failed, which its manifest says better.
_APPLICATION = "The application "

_SUFFIX = ".ncu-rep"
_IMPORT_SECONDS = 120


@dataclass(frozen=True)
class Profile:
    """What came of profiling some points.

    manifest  an entry for each point that was come to
    capture   what was captured, or None where nothing was to be
    failure   why there are no counters, in words for the user; else empty
    """

    manifest: tuple[worker.Entry, ...]
    capture: Capture | None
    failure: str = ""


def find() -> str | None:
    """The path of ncu, where there is one."""
    return find_tool("ncu")


def command(
    ncu: str, metrics: Sequence[str], settings: Mapping[str, Any], cache: str, report: Path, watched: Sequence[str]
) -> list[str]:
    """The command line that profiles a worker.

    metrics   ncu's names
    settings  the configuration's `profiling`
    cache     the points' cache state: ncu flushes the caches only for cold ones, and then before each of its passes
    """
    sections = [word for section in settings["sections"] for word in ("--section", section)]
    sets = [word for name in settings["sets"] for word in ("--set", name)]
    return [
        ncu,
        "--profile-from-start=off",
        "--target-processes=application-only",
        f"--clock-control={settings['clock_control']}",
        f"--cache-control={settings['cache_control'] if cache == 'cold' else 'none'}",
        f"--metrics={','.join(metrics)}",
        *sections,
        *sets,
        "--force-overwrite",
        f"--export={report.with_suffix('')}",
        *watched,
    ]


def profile(
    ncu: str,
    metrics: Sequence[str],
    settings: Mapping[str, Any],
    task: KernelTask,
    requests: Sequence[tuple[Point, str]],
    folder: Path,
    log: Path,
) -> Profile:
    """Profile points of one cache state, each with its variant's C++ name, in one process.

    folder  where the report for Nsight Compute's window is kept, as cold.ncu-rep or hot.ncu-rep
    log     where all that is printed meanwhile goes

    Raises UserError for a failure that isn't the machine's: an unknown section, a report that can't be written.
    """
    cache = requests[0][0].cache
    report, asked, manifest = folder / f"{cache}{_SUFFIX}", folder / "requests.json", folder / "manifest.jsonl"
    seconds = settings["timeout_seconds"]
    worker.write_requests(asked, task, requests, seconds)
    watched = [sys.executable, "-m", worker.__name__, str(asked), str(manifest)]
    arguments = command(ncu, metrics, settings, cache, report, watched)
    print(" ".join(arguments), flush=True)
    with log.open("w", encoding="utf-8") as file:
        try:
            subprocess.run(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment(),
                timeout=2 * START_SECONDS + seconds * len(requests),
            )
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
    said = log.read_text(encoding="utf-8", errors="replace")
    entries = tuple(worker.read_manifest(manifest))
    for used in (asked, manifest):
        used.unlink(missing_ok=True)
    if ended and not entries and not any(text in said for text in _FAILURES):
        raise UserError(
            f"{task.kernel}: the process under Nsight Compute came to no point. It ended with: {said[-1000:]}"
        )
    failure = (
        why_no_counters(said, task.kernel)
        if ended
        else "Nsight Compute took longer than profiling.timeout_seconds allows."
    )
    if failure or not any(entry.launches for entry in entries):
        return Profile(entries, None, failure)
    if not report.exists():
        raise UserError(f"{task.kernel}: Nsight Compute wrote no report. It said: {_shortened(said)}")
    return Profile(entries, parse_capture(import_report(ncu, report)))


def import_report(ncu: str, report: Path) -> str:
    """A report's launches as CSV, with the digits of the locale C whatever the user's. Raises UserError."""
    run = subprocess.run(
        [ncu, "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        timeout=_IMPORT_SECONDS,
    )
    if run.returncode != 0:
        raise UserError(f"Nsight Compute can't read its own report {report}: {_shortened(run.stdout + run.stderr)}")
    return run.stdout


def why_no_counters(said: str, kernel: str) -> str:
    """What ncu's messages say of why the machine gives no counters; empty where it does.

    Raises UserError for any other error of ncu's.
    """
    for text, advice in _FAILURES.items():
        if text in said:
            return advice
    errors = [error for error in _ERROR.findall(said) if not error.startswith(_APPLICATION)]
    if errors:
        raise UserError(f"{kernel}: Nsight Compute failed: {_shortened(' '.join(errors))}")
    return ""


def _shortened(text: str) -> str:
    return " ".join(text.split())[:500] or "nothing"
