"""Run a kernel's points in a process that one of NVIDIA's tools observes.

The tool stands between the job and the process, so that they can't talk through pipes as measure/worker does: the
requests are one file, and the answers another one, to which the process adds a line a point.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelsweep.measure.task import KernelTask, read_task
from kernelsweep.measure.worker.process import environment
from kernelsweep.platforms.kinds import load
from kernelsweep.platforms.platform import ContextLost, Platform
from kernelsweep.sweep.point import Point

# Time limit for a tool to instrument the process and for the process to open or close its device.
TOOL_START_SECONDS = 180


@dataclass(frozen=True)
class Requests:
    """The points to run, each with its variant's C++ name.

    seconds  time limit of one point
    """

    task: KernelTask
    points: Sequence[tuple[Point, str]]
    seconds: float


@dataclass(frozen=True)
class Launched:
    """A launch: its variant's C++ name, and the sizes of its grid and its blocks in x, y and z."""

    variant: str
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """The result of one point.

    status    one of results.STATUSES
    launches  each profiled launch, in order; empty where nothing is profiled
    """

    status: str
    message: str
    launches: tuple[Launched, ...] = ()


@dataclass(frozen=True)
class Observed:
    """How the tool ended, and the points' answers in order: fewer than requests if the process ended early.

    exit_status  the tool's; negative if a signal ended it, None if it exceeded the time limit
    """

    exit_status: int | None
    answers: tuple[Answer, ...]


def observe(tool: Sequence[str], worker: str, requests: Requests, log: Path, *options: str) -> Observed:
    """Run the requests by `python -m worker` under a tool.

    tool     the tool's command line up to the observed process
    worker   the module to run, which calls answer_requests()
    log      the file for all output of the tool and the process
    options  further arguments for the worker
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder, "requests.json"), Path(folder, "answers.jsonl")
        points = [{"point": dict(point), "variant": variant} for point, variant in requests.points]
        asked.write_text(
            json.dumps({"task": asdict(requests.task), "seconds": requests.seconds, "points": points}), encoding="utf-8"
        )
        command = [*tool, sys.executable, "-m", worker, str(asked), str(answers), *options]
        print(" ".join(command), flush=True)
        with log.open("w", encoding="utf-8") as file:
            try:
                status: int | None = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment(),
                    timeout=2 * TOOL_START_SECONDS + requests.seconds * len(requests.points),
                ).returncode
            except subprocess.TimeoutExpired:
                status = None
                print("stopped: it exceeded its time limit", flush=True)
        return Observed(status, tuple(_read_answers(answers)))


def _read_answers(path: Path) -> list[Answer]:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    contents = [json.loads(line) for line in lines if line.endswith("\n")]  # The last line may be cut.
    return [Answer(**{**content, "launches": tuple(map(_launched, content["launches"]))}) for content in contents]


def _launched(content: Mapping[str, Any]) -> Launched:
    return Launched(content["variant"], tuple(content["grid"]), tuple(content["block"]))


def answer_requests(prepare: Callable[[Platform, KernelTask], Callable[[Point, str], Answer]]) -> None:
    """Run every requested point, in order; the worker's side of observe().

    prepare  makes the function that runs one point with its variant's C++ name
    """
    requests, answers = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])
    task = read_task(requests["task"])
    signal.alarm(TOOL_START_SECONDS)
    platform = load(task.platform)()
    run = prepare(platform, task)
    with answers.open("w", encoding="utf-8") as file:
        for request in requests["points"]:
            signal.alarm(max(round(requests["seconds"]), 1))  # A kernel that hangs ends the process.
            try:
                answer = run(Point(request["point"]), request["variant"])
            except ContextLost as error:
                print(json.dumps(asdict(Answer("launch_failed", str(error)))), file=file, flush=True)
                os._exit(1)  # A clean end would hang or fail in the broken context.
            print(json.dumps(asdict(answer)), file=file, flush=True)
    signal.alarm(TOOL_START_SECONDS)
    del run
    platform.close()
