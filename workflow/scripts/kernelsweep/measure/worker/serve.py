"""The process that runs a kernel's points, apart from the job so that a crash or a hang costs one point.

Its argument is the platform's implementation, which is imported while the process waits. Reads lines of JSON
from standard input: first {"task": ..., "cuda_visible_devices": ...}, a runner.KernelTask, and what that variable is to
be when CUDA starts, or null; then requests {"point": ..., "variant": ..., "check": ..., ...}, the
arguments of runner.Runner.run.

Answers with lines on standard output: first {"ready": true}, once the platform is open and the kernel loaded, then for
each request {"outcome": ..., "lost": ...}, an outcome.Outcome and whether it has cost the process its context. Ends
after such an answer, and when its input ends. At {"rest": true} it gives its buffers back and says {"resting": true}.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict
from typing import TextIO

from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.runner import Runner
from kernelsweep.measure.task import read_task
from kernelsweep.platforms.kinds import load
from kernelsweep.platforms.platform import ContextLost
from kernelsweep.sweep.points import Point

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def serve(requests: TextIO, answers: TextIO) -> None:
    """Run the points that are asked for, in order."""
    start = json.loads(requests.readline())
    if start["cuda_visible_devices"] is None:
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = start["cuda_visible_devices"]
    task = read_task(start["task"])
    runner = Runner(load(task.platform)(), task)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in requests:
        request = json.loads(line)
        if "rest" in request:
            runner.rest()
            print(json.dumps({"resting": True}), file=answers, flush=True)
            continue
        lost = False
        try:
            outcome = runner.run(**{**request, "point": Point(request["point"])})
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
    load(sys.argv[1])
    serve(sys.stdin, private)
