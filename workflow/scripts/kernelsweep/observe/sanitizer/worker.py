"""The process that compute-sanitizer watches: it runs a kernel's points, each once and on memory of its own.

Its arguments are two files: the requests, which write_requests() makes, and the answers, to which it adds a line of
JSON a point, an outcome.Outcome. (Not the pipes of measure/worker/serve.py: compute-sanitizer stands between.) Memory
of exactly a point's size lets memcheck see an access past the array's end; initcheck counts every fill as initialising,
so that for it the buffers are left as they were allocated.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from kernelsweep.build.toolkit import START_SECONDS, close_context
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.runner import KernelTask, Runner
from kernelsweep.measure.worker.serve import open_platform
from kernelsweep.platforms.platform import ContextLost, Memory, Platform
from kernelsweep.sweep.points import Point


class _Unfilled:
    """A platform that leaves its memory as it was allocated."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def __getattr__(self, name: str) -> Any:
        return getattr(self._platform, name)

    def fill(self, memory: Memory, size: int, word: int) -> None:
        """Nothing, instead of a pattern."""


class _FreshRunner(Runner):
    """A runner that keeps no memory between points."""

    def run(self, point: Point, variant: str, *settings: Any, **others: Any) -> Outcome:
        self.rest()
        return super().run(point, variant, *settings, **others)


def write_requests(
    path: Path, task: KernelTask, requests: Sequence[tuple[Point, str]], fill: bool, seconds: float
) -> None:
    """Write what the process is asked to do.

    requests  points, each with its variant's C++ name
    fill      whether buffers are filled with a pattern that no right result shows
    seconds   how long one point may take before the process ends itself
    """
    named = [{"point": asdict(point), "variant": variant} for point, variant in requests]
    path.write_text(json.dumps({"task": asdict(task), "fill": fill, "seconds": seconds, "requests": named}))


def run_requests(requests: Path, answers: Path) -> None:
    """Run every point that is asked for, in order."""
    asked = json.loads(requests.read_text())
    task = KernelTask(**asked["task"])
    signal.alarm(START_SECONDS)
    platform = open_platform(task.platform)
    runner = _FreshRunner(platform if asked["fill"] else cast(Platform, _Unfilled(platform)), task)
    with answers.open("w", encoding="utf-8") as file:
        for request in asked["requests"]:
            signal.alarm(max(round(asked["seconds"]), 1))  # A kernel that hangs ends the process.
            try:
                outcome = runner.run(Point(**request["point"]), request["variant"])
            except ContextLost as error:
                outcome = Outcome("launch_failed", str(error))
                print(json.dumps(asdict(outcome)), file=file, flush=True)
                os._exit(1)  # A clean end would hang or fail in the broken context.
            print(json.dumps(asdict(outcome)), file=file, flush=True)
    signal.alarm(START_SECONDS)
    del runner, platform
    if task.platform == "gpu":
        close_context()


if __name__ == "__main__":
    run_requests(Path(sys.argv[1]), Path(sys.argv[2]))
