"""The process that runs a kernel's points. It is not the job's own, so that a crash or a hang costs one point only.

Where it is a new Python, its argument is the platform's implementation, which it imports while it waits. It reads
messages (device/request.py) from standard input, a line each, and answers each with a line of JSON on standard output:

    Start      {"ready": true}, once the platform is open and the kernel loaded
    VisitRequest    {"outcome": ..., "lost": ...} or {"refused": ...}, after {"now": ...} with runner.Now
    Rest       {"rests": ...}, once all buffers are given back
    GoOn       nothing: the process has waited for it after {"now": "waits"}

`lost` says whether the process lost its context. The process ends after such an answer, and when its input ends.
`refused` is the text of a UserError, as where a function of the user's has raised. Where the kernel is over, the
process outlives its job: it answers with the descriptor of its answers, and waits for a task of the same platform.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import Any, TextIO

from kernelsweep.base.running import end_with_parent, name_this_process, outlive_parent
from kernelsweep.base.sandbox import is_inside
from kernelsweep.device.kinds import load
from kernelsweep.device.outcome import Outcome, outcome_values
from kernelsweep.device.platform import MemoryMistake, Platform
from kernelsweep.device.point.instances import Instances
from kernelsweep.device.point.runner import Now, Runner
from kernelsweep.device.request import Rest, VisitRequest, read
from kernelsweep.device.worker.orders import in_other_orders
from kernelsweep.errors import GPU_FAILED, ContextLost, UserError, is_of_gpu
from kernelsweep.reasons import Reason
from kernelsweep.results import INDIFFERENT_READ, SAME_VALUE, UNORDERED_READ, VALUES_RIGHT
from kernelsweep.study.point import Point


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer the requests, in order, until the input ends."""
    platform: Platform | None = None
    own_end: int | None = None

    def answer(**values: Any) -> None:
        print(json.dumps(values), file=answers, flush=True)

    def report(now: Now) -> None:
        answer(now=now)
        if now == Now.WAITS:
            requests.readline()

    for line in iter(requests.readline, ""):
        start = read(line)
        if own_end is not None:
            os.close(own_end)
        if not is_inside():  # which has its own
            os.environ.update(start.environment)
        tempfile.tempdir = None  # A job's ends with it.
        name_this_process()
        task = start.task
        instances = Instances(task)
        implementation = load(task.platform)
        if start.first:
            Thread(target=_make_data, args=(instances, start.first), daemon=True).start()
        platform = platform or implementation()
        runner = Runner(platform, task, instances, report)
        answer(ready=True)
        if not _serve_kernel(requests, answer, platform, runner):
            return
        platform.unload()
        outlive_parent()
        own_end = os.open("/proc/self/fd/0", os.O_WRONLY)  # The input would end with the job.
        answer(rests=answers.fileno())


def _make_data(instances: Instances, point: Point) -> None:
    with suppress(Exception):  # It is raised again when the point is run.
        instances.at(point)


def _serve_kernel(requests: TextIO, answer: Callable[..., None], platform: Platform, runner: Runner) -> bool:
    """Run points of a kernel. Returns whether another may follow; False where the input has ended."""
    for line in iter(requests.readline, ""):
        request = read(line)
        if isinstance(request, Rest):
            runner.memory.free()
            if request.is_over:
                return True
            answer(rests=None)
            continue
        lost = False
        try:
            outcome = run_watched(platform, runner, request)
        except UserError as error:
            answer(refused=str(error))
            continue
        except ContextLost as error:
            outcome, lost = Outcome("launch_failed", str(error)), True
        answer(outcome=outcome_values(outcome), lost=lost)
        if lost:
            os._exit(1)  # A clean end would hang or fail in the broken context.
    return False


def run_watched(platform: Platform, runner: Runner, request: VisitRequest) -> Outcome:
    """A visit's outcome, with the mistakes in its use of memory where the platform watches.

    There, each point gets memory of exactly its size, so that an access past an array's end is seen; it then fails.
    """
    if not platform.watches:
        return runner.run(request)
    outcome = _in_order(platform, runner, request, 0)
    if outcome.status == "ok" and runner.seeds > 1:
        outcome = in_other_orders(outcome, platform, runner, partial(_in_order, platform, runner, request))
    races = [mistake.message for mistake in outcome.mistakes if mistake.kind == "race"]
    if races and outcome.reason == Reason.BARRIER:  # Who waits in vain has often read too early whom to wait for.
        outcome = replace(outcome, message=f"{races[0]}. Then {outcome.message}")
    outside = [mistake for mistake in outcome.mistakes if mistake.kind == "out_of_bounds"]
    if outside and outcome.status == "ok":
        right = VALUES_RIGHT if runner.compares else ""
        message = f"{right}{outside[0].message}"
        return replace(outcome, status="wrong_result", message=message, reason=Reason.OUT_OF_BOUNDS)
    return outcome


def _in_order(platform: Platform, runner: Runner, request: VisitRequest, order: int) -> Outcome:
    """The outcome of a visit in an order of threads, with the mistakes in its use of memory."""
    runner.memory.free()
    platform.set_order(order)
    platform.watch()
    outcome = runner.run(request)
    outcome.mistakes = platform.mistakes(runner.memory.buffers())
    outcome.touched = {
        name: -(-size // dtype.base.itemsize)
        for memory, name, dtype in runner.memory.buffers()
        if (size := platform.touched(memory))
    }
    return _settled(outcome, platform, runner, partial(runner.run, request))


# What uninitialised memory is full of in further runs, byte by byte: zeros, NaN and -1, the largest and the smallest
# integers, large floats (of 16 bits, too) and negative ones. A sum, a minimum or a maximum of any type differs by one.
_FILLINGS = (0x00, 0xFF, 0x7F, 0x80, 0x7B, 0xFB)


def _settled(outcome: Outcome, platform: Platform, runner: Runner, run: Callable[[], Outcome]) -> Outcome:
    """The outcome of the last run, with the mistakes as notes that further runs show to decide nothing.

    Two writes decide nothing if they always store one value. Plain reads beside atomic functions, and reads of what
    nothing has given a value, do so if the results have the same bits whatever is read.
    """
    if outcome.status not in ("ok", "wrong_result") or not any(mistake.is_doubtful for mistake in outcome.mistakes):
        return outcome
    results, are_equal = runner.result_bytes(), True
    notes: list[dict[_Places, MemoryMistake]] = []
    for filling in _FILLINGS:
        runner.memory.free()
        platform.watch(filling)
        are_equal = run().status == outcome.status and runner.result_bytes() == results and are_equal
        found = sorted(platform.mistakes(runner.memory.buffers()), key=lambda mistake: mistake.kind)
        differ = {_places(mistake) for mistake in found if mistake.kind == "race"}
        harmless = {_places(mistake): mistake for mistake in found if mistake.kind in (SAME_VALUE, UNORDERED_READ)}
        notes.append({places: note for places, note in harmless.items() if places not in differ})
        if not are_equal and not any(note.kind == SAME_VALUE for note in notes[-1].values()):
            break
    return replace(outcome, mistakes=[_as_note(mistake, notes, are_equal) for mistake in outcome.mistakes])


_Places = tuple[str, frozenset[str]]


def _places(mistake: MemoryMistake) -> _Places:
    return mistake.array, frozenset(mistake.lines)


def _as_note(mistake: MemoryMistake, notes: list[dict[_Places, MemoryMistake]], are_equal: bool) -> MemoryMistake:
    if mistake.kind == "race":
        of_runs = [of_run[_places(mistake)] for of_run in notes if _places(mistake) in of_run]
        if len(of_runs) < len(notes):
            return mistake
        if of_runs[0].kind == SAME_VALUE:
            return of_runs[0]
    if not are_equal or not mistake.is_doubtful:
        return mistake
    kind = UNORDERED_READ if mistake.kind == "race" else INDIFFERENT_READ
    return replace(mistake, kind=kind, message=f"{mistake.message}; the results are the same whatever it is")


def serve_platform(platform: str) -> None:
    """Serve on this process' standard streams; `platform` as in the module's docstring.

    Ends the process with the status GPU_FAILED where the GPU fails as it is opened.
    """
    end_with_parent()  # Otherwise it would disturb the next job's measurements.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # so that it ends a launch on the emulator alone
    # Prints of libraries go to standard error, and only answers to standard output.
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        load(platform)
        with open(0, encoding="utf-8", closefd=False) as requests:
            serve(requests, private)
    except Exception as error:
        if not is_of_gpu(error):
            raise
        traceback.print_exc()
        sys.exit(GPU_FAILED)


if __name__ == "__main__":
    serve_platform(sys.argv[1])
