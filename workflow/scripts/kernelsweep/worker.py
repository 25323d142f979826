"""The process that runs a kernel's points, apart from the job so that a crash or a hang costs one point.

Reads lines of JSON from standard input: first a runner.KernelTask, then requests
{"point": ..., "variant": ..., "repeat": ...}.
Answers with lines on standard output: first {"ready": true}, once the platform is open and the kernel loaded, then for
each request {"outcome": ..., "lost": ...}, a runner.Outcome and whether it has cost the process its context. Ends after
such an answer, and when its input ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict
from typing import TextIO

from kernelsweep.platforms import ContextLost, Platform
from kernelsweep.runner import KernelTask, Outcome, Runner
from kernelsweep.sweep import Point

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def open_platform(name: str) -> Platform:
    """The platform that a task names: "emulator" or "gpu"."""
    if name == "emulator":
        from kernelsweep.platforms.emulator import EmulatorPlatform

        return EmulatorPlatform()
    from kernelsweep.platforms.gpu import GpuPlatform

    return GpuPlatform()


def serve(requests: TextIO, answers: TextIO) -> None:
    """Run the points that are asked for, in order."""
    task = KernelTask(**json.loads(requests.readline()))
    runner = Runner(open_platform(task.platform), task)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in requests:
        request = json.loads(line)
        lost = False
        try:
            outcome = runner.run(Point(**request["point"]), request["variant"], request["repeat"])
        except ContextLost as error:
            outcome, lost = Outcome("launch_failed", str(error)), True
        print(json.dumps({"outcome": asdict(outcome), "lost": lost}), file=answers, flush=True)
        if lost:
            os._exit(1)  # A clean end would hang or fail in the broken context.


if __name__ == "__main__":
    # A job that is killed takes its worker along, or that would run on beside the next job's measurements.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Whatever a library prints goes to standard error; the answers have standard output to themselves.
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, private)
