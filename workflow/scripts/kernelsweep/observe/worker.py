"""The process that one of NVIDIA's tools observes: it runs points, and adds a line for each to the file of answers.

    python -m kernelsweep.observe.worker requests.pickle answers.jsonl MODE

Under compute-sanitizer, each point runs once, on memory of exactly its size, which is allocated for it: so memcheck
sees an access past the array's end. Under Nsight Compute, it runs first as in the sweep, and its result is checked:
this warms up, and a wrong point is not profiled. Then its launches run once more between the profiler's start and stop,
so that ncu (--profile-from-start off) records these launches and no others.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from kernelsweep.device.kinds import load
from kernelsweep.device.platform import Memory, Platform
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.device.task import KernelTask
from kernelsweep.errors import ContextLost, LaunchError
from kernelsweep.observe.requests import TOOL_START_SECONDS, Answer, Launched, Requests
from kernelsweep.study.point import Point

# initcheck counts every fill as an initialisation. For that tool, buffers stay as they were allocated.
MODES = PROFILED, CHECKED, UNFILLED = ("profiled", "checked", "unfilled")


class _Observed:
    """A platform that nothing guards, because memcheck sees every access outside of an allocation."""

    guard_bytes = (0, 0)

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def __getattr__(self, name: str) -> Any:
        return getattr(self._platform, name)


class _Unfilled(_Observed):
    """An observed platform whose memory keeps the content that it was allocated with."""

    def fill(self, memory: Memory, size: int, word: int) -> None:
        """Do nothing."""


def _checking(platform: Platform, task: KernelTask, mode: str) -> Callable[[Point, str], Answer]:
    runner = Runner(cast(Platform, (_Unfilled if mode == UNFILLED else _Observed)(platform)), task)

    def run(point: Point, variant: str) -> Answer:
        runner.memory.free()
        outcome = runner.run(VisitRequest(point, variant))
        return Answer(outcome.status, outcome.message)

    return run


def _profiling(platform: Platform, task: KernelTask) -> Callable[[Point, str], Answer]:
    runner = Runner(platform, task)

    def run(point: Point, variant: str) -> Answer:
        outcome = runner.run(VisitRequest(point, variant))
        if outcome.status != "ok":
            return Answer(outcome.status, outcome.message)
        try:
            launches = runner.launch_between(point, platform.start_profiler, platform.stop_profiler)
        except LaunchError as error:
            return Answer("launch_failed", str(error))
        return Answer("ok", "", tuple(Launched(launch.function, launch.grid, launch.block) for launch in launches))

    return run


def main() -> None:
    """Run every requested point, in order."""
    asked, answers, mode = sys.argv[1:]
    requests: Requests = pickle.loads(Path(asked).read_bytes())
    task = requests.task
    signal.alarm(TOOL_START_SECONDS)
    platform = load(task.platform)()
    run = _profiling(platform, task) if mode == PROFILED else _checking(platform, task, mode)
    with open(answers, "w", encoding="utf-8") as file:
        for point, variant in requests.points:
            signal.alarm(max(round(requests.seconds), 1))  # A kernel that hangs ends the process.
            try:
                answer = run(point, variant)
            except ContextLost as error:
                print(json.dumps(asdict(Answer("launch_failed", str(error)))), file=file, flush=True)
                os._exit(1)  # A clean end would hang or fail in the broken context.
            print(json.dumps(asdict(answer)), file=file, flush=True)
    signal.alarm(TOOL_START_SECONDS)
    del run
    platform.close()


if __name__ == "__main__":
    main()
