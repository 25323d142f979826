"""Run a kernel's points under one of compute-sanitizer's tools, judge how the run went, and say so in proofs.csv."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.compile.toolkit import not_found
from kernelsweep.errors import UserError
from kernelsweep.observe.requests import Observed, Requests, observe
from kernelsweep.observe.sanitizer import TOOLS, find_sanitizer
from kernelsweep.observe.sanitizer.log import Finding, Log
from kernelsweep.observe.worker import CHECKED, UNFILLED
from kernelsweep.reasons import Reason
from kernelsweep.results import NOT_CHECKED, Row
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.sweep.proof_rows import known_why

# compute-sanitizer's exit status after a finding: a number that neither it nor Python returns for another reason.
FOUND = 86

# A line of the source in a report.
_PLACE = re.compile(r"[^\s/:()]+\.\w+:\d+")

# Reports beyond this many are counted but not printed: a kernel whose every thread errs would fill the disk.
_PRINT_LIMIT = 10_000

_OPTIONS = (
    "--target-processes=application-only",
    f"--print-limit={_PRINT_LIMIT}",
    "--print-level=warn",
    "--show-backtrace=device",  # The host's frames are Python's.
    f"--error-exitcode={FOUND}",
)
_OPTIONS_OF_TOOL = {
    # An error ends the kernel but not its context, so that the other points still run.
    "memcheck": ("--destroy-on-device-error=kernel", "--report-api-errors=explicit", "--padding=256"),
    "racecheck": ("--racecheck-report=analysis",),  # One report for two accesses, not one for each byte.
    "synccheck": (),
    "initcheck": (),
}


def find() -> str:
    """The path of compute-sanitizer. Raises UserError, saying what to install, if it is not installed."""
    if found := find_sanitizer():
        return found
    raise UserError(
        f"{not_found('compute-sanitizer')}. It is part of the CUDA toolkit; alone, it is the package "
        "cuda-sanitizer-13-0 of NVIDIA's apt repository (the numbers are the toolkit's release), or cuda-sanitizer-api "
        "of conda-forge."
    )


def command(compute_sanitizer: str, tool: str) -> list[str]:
    """The command line that runs a process under a tool, up to that process."""
    return [compute_sanitizer, f"--tool={tool}", *_OPTIONS, *_OPTIONS_OF_TOOL[tool], "--"]


def run_points(compute_sanitizer: str, tool: str, requests: Requests, log: Path) -> Observed:
    """Run points under a tool; `log` is the file for all output of the tool and of the process."""
    return observe(command(compute_sanitizer, tool), UNFILLED if tool == "initcheck" else CHECKED, requests, log)


def run_status(run: Observed, log: Log, points: Sequence[Point], undefined_behaviour: bool) -> tuple[str, str]:
    """The status of a run, "clean", "findings" or "failed", and the reason.

    A run is clean only if every point ran with the right result and the tool ended normally without a finding. (One
    release prints an empty summary and runs nothing at all.) A kernel of undefined behaviour has no right result.
    """
    troubles = list(log.troubles)
    if run.exit_status is None:
        troubles.append("compute-sanitizer took too long and was stopped")
    elif run.exit_status not in (0, FOUND):
        troubles.append(f"compute-sanitizer ended with exit status {run.exit_status}")
    elif run.exit_status == FOUND and not log.errors and not log.warnings:
        troubles.append("compute-sanitizer ended as if it had found something, but its log counts nothing")
    done = len(run.answers)
    if done < len(points):
        troubles.append(f"{done} of {len(points)} points were run; the next was {points[done]}")
    mistakes = [
        f"{answer.status} at {point}: {answer.message}"
        for point, answer in zip(points, run.answers, strict=False)
        if answer.status != "ok" and not (undefined_behaviour and answer.status == "wrong_result")
    ]
    if len(mistakes) > 1:
        mistakes = [f"{len(mistakes)} points failed, the first {mistakes[0]}"]
    reason = "; ".join([*troubles, *mistakes])
    # A finding, such as synccheck's barrier errors, can end the context and with it the process.
    ended_by_finding = log.errors > 0 and run.answers[-1:] and run.answers[-1].status == "launch_failed"
    if troubles and not (ended_by_finding and run.exit_status in (0, FOUND)):
        return "failed", reason
    if log.errors or log.warnings:
        return "findings", reason
    return ("failed", reason) if mistakes else ("clean", "")


def proof_row(
    kernel: KernelSource, tool: str, status: str, reason: str, points: int = 0, findings: Sequence[Finding] = ()
) -> Row:
    """A kernel's row under a tool, without study and source. A tool that failed has checked nothing.

    status  as of run_status(), or "skipped" where no point can run; `reason` follows from it

    Of the findings, it has the first that the study doesn't acknowledge.
    """
    check, expected = TOOLS[tool], kernel.entry.undefined_behaviour or ""
    finding, message = {
        "clean": ("", ""),
        "findings": ("findings", reason),
        "failed": (NOT_CHECKED, f"failed: {reason}"),
        "skipped": (NOT_CHECKED, reason),
    }[status]
    if findings and finding != NOT_CHECKED:
        messages = [f"{each.message} ({each.location})" if each.location else each.message for each in findings]
        reasons = [known_why(kernel, check, _PLACE.findall(message)) for message in messages]
        first = reasons.index("") if "" in reasons else 0
        finding, message, expected = findings[first].kind, messages[first], reasons[first] or expected
    return {
        "check": check,
        "tool": tool,
        "points": points,
        "finding": finding,
        "message": " ".join(message.split()),
        "expected": expected,
        "reason": Reason.TOOL_FAILED if status == "failed" else "",
    }
