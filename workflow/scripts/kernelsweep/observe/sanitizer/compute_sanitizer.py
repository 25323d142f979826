"""Run a kernel's points under one of compute-sanitizer's tools, and judge how it went."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelsweep.build.nvcc import DEFAULT_TOOLKIT
from kernelsweep.build.toolkit import START_SECONDS, find_tool
from kernelsweep.errors import UserError
from kernelsweep.measure.outcome import Outcome, read_outcome
from kernelsweep.measure.runner import KernelTask
from kernelsweep.measure.worker.process import environment
from kernelsweep.observe.sanitizer import worker
from kernelsweep.observe.sanitizer.log import Log
from kernelsweep.sweep.points import Point

# What compute-sanitizer ends with where it found something; a number that neither it nor Python ends with otherwise.
FOUND = 86

# Reports beyond this many are counted, not printed: a kernel whose every thread errs would fill the disk.
_PRINT_LIMIT = 10_000

_OPTIONS = (
    "--target-processes=application-only",
    f"--print-limit={_PRINT_LIMIT}",
    "--print-level=warn",
    "--show-backtrace=device",  # The host's frames are Python's.
    f"--error-exitcode={FOUND}",
)
_OPTIONS_OF_TOOL = {
    # A point that errs costs the others nothing: the kernel ends, its context doesn't.
    "memcheck": ("--destroy-on-device-error=kernel", "--report-api-errors=explicit", "--padding=256"),
    "racecheck": ("--racecheck-report=analysis",),  # A report for two accesses, not one for each byte.
    "synccheck": (),
    "initcheck": (),
}


@dataclass(frozen=True)
class Run:
    """How compute-sanitizer ended, and the outcomes of the points that were run, in order.

    exit_status  None where it was stopped for taking too long; negative where a signal ended it
    """

    exit_status: int | None
    outcomes: tuple[Outcome, ...]


def find() -> str:
    """The path of compute-sanitizer. Raises UserError where there is none, saying what to install."""
    if found := find_tool("compute-sanitizer", "compute-sanitizer"):
        return found
    raise UserError(
        f"compute-sanitizer was not found on the PATH, nor under CUDA_HOME or {DEFAULT_TOOLKIT}. It is part of the "
        "CUDA toolkit; alone, it is the package cuda-sanitizer-13-0 of NVIDIA's apt repository (the numbers are the "
        "toolkit's release), or cuda-sanitizer-api of conda-forge."
    )


def command(compute_sanitizer: str, tool: str, requests: Path, answers: Path) -> list[str]:
    """The command line that runs the requests of a worker.write_requests() under a tool."""
    watched = [sys.executable, "-m", worker.__name__, str(requests), str(answers)]
    return [compute_sanitizer, f"--tool={tool}", *_OPTIONS, *_OPTIONS_OF_TOOL[tool], "--", *watched]


def run_points(
    compute_sanitizer: str,
    tool: str,
    task: KernelTask,
    requests: Sequence[tuple[Point, str]],
    seconds: float,
    log: Path,
) -> Run:
    """Run points, each with its variant's C++ name; all that is printed meanwhile goes to the file `log`.

    seconds  how long one point may take
    """
    with tempfile.TemporaryDirectory() as folder, log.open("w", encoding="utf-8") as file:
        asked, answers = Path(folder, "requests.json"), Path(folder, "answers.jsonl")
        worker.write_requests(asked, task, requests, fill=tool != "initcheck", seconds=seconds)
        arguments = command(compute_sanitizer, tool, asked, answers)
        print(" ".join(arguments), flush=True)
        status: int | None = None
        try:
            status = subprocess.run(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment(),
                timeout=2 * START_SECONDS + seconds * len(requests),
            ).returncode
        except subprocess.TimeoutExpired:
            print("stopped: it took too long", flush=True)
        lines = answers.read_text(encoding="utf-8").splitlines(keepends=True) if answers.exists() else []
        return Run(status, tuple(read_outcome(json.loads(line)) for line in lines if line.endswith("\n")))


def judge(run: Run, log: Log, points: Sequence[Point], undefined_behaviour: bool) -> tuple[str, str]:
    """The status of a run, "clean", "findings" or "failed", and why.

    Clean is only what ran every point, with the right results, under a tool that came to its end and found nothing.
    (A release is known that prints an empty summary and runs nothing at all.) A kernel of undefined behaviour has no
    right result to miss.
    """
    troubles = list(log.troubles)
    if run.exit_status is None:
        troubles.append("compute-sanitizer took too long and was stopped")
    elif run.exit_status < 0:
        troubles.append(f"signal {-run.exit_status} ended compute-sanitizer")
    elif run.exit_status not in (0, FOUND):
        troubles.append(f"compute-sanitizer ended with exit status {run.exit_status}")
    elif run.exit_status == FOUND and not log.errors and not log.warnings:
        troubles.append("compute-sanitizer ended as if it had found something, but its log counts nothing")
    if len(run.outcomes) < len(points):
        done = len(run.outcomes)
        troubles.append(f"{done} of {len(points)} points were run; the next was {describe(points[done])}")
    mistakes = [
        f"{outcome.status} at {describe(point)}: {outcome.message}"
        for point, outcome in zip(points, run.outcomes, strict=False)
        if outcome.status != "ok" and not (undefined_behaviour and outcome.status == "wrong_result")
    ]
    if len(mistakes) > 1:
        mistakes = [f"{len(mistakes)} points failed, the first {mistakes[0]}"]
    reason = "; ".join([*troubles, *mistakes])
    # What the tool finds can end the context, as synccheck's barrier errors do, and with it the process.
    ended_by_finding = log.errors > 0 and run.outcomes[-1:] and run.outcomes[-1].status == "launch_failed"
    if ended_by_finding and run.exit_status in (0, FOUND):
        return "findings", reason
    if troubles:
        return "failed", reason
    if log.errors or log.warnings:
        return "findings", reason
    return ("failed", reason) if mistakes else ("clean", "")


def describe(point: Point) -> str:
    """A point in words."""
    words = [f"array size {point['array_size']}", f"block size {point['block_size']}", f"unroll {point['unroll']}"]
    words += [f"grid {point['grid_size']}"] if point["grid_size"] is not None else []
    words += [f"width {point['width']}", point["arguments"]] if point["width"] is not None else []
    return ", ".join([*filter(None, words), f"{point['dtype']} {point['operation']}"])
