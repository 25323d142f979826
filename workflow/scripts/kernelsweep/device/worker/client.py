"""The job's side of a kernel's workers: requests over a pipe, and a new worker after a crash or a hang."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from kernelsweep.base.json_files import adapter_of
from kernelsweep.base.running import FOLDER_OF_NOTES, FOLDER_OF_WORKERS, running_in
from kernelsweep.base.sandbox import is_untrusted, memory_bytes
from kernelsweep.device.kinds import kind_of_implementation
from kernelsweep.device.outcome import Outcome, read_outcome
from kernelsweep.device.point.runner import Now
from kernelsweep.device.request import MOST_HOST_SECONDS, GoOn, Rest, Start, VisitRequest
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.process import WorkerProcess
from kernelsweep.errors import GPU_FAILED, StudyError, UserError, gpu_failed
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of

adapter_of(Outcome)  # A job is a fork of a process that has imported this.

# The variables of the environment that differ between jobs.
_OF_JOB = ("CUDA_VISIBLE_DEVICES", "TMPDIR", FOLDER_OF_NOTES)

# Time limit for a worker to start Python, PyCUDA and a context, and to load the kernel.
_START_SECONDS = 60.0
# And for one that lasts too long to say where it is.
_LAST_SECONDS = 2.0
# A point that takes longer than this is named while it runs.
SECONDS_UNTIL_NAMED = 10.0

# The keys of a worker's answers, and the size of one read from its pipe.
_ANSWERS = frozenset({"ready", "now", "outcome", "refused", "rests"})
_READ_BYTES, _LARGEST_ANSWER = 2**16, 2**26
# How much is read of what a process has printed; a kernel may print without end.
_MOST_PRINTED = 2**20

# The exit statuses of a process whose kernel touched memory that isn't its own.
_CRASHES = tuple(-number for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT))
_CRASH_HINT = (
    ". The likely cause is an access out of bounds, or too little dynamic shared memory. "
    "The proofs of its other points (proofs.csv) may name the line."
)


# How often an untrusted kernel's process is looked at, and what is said of one that takes too much memory.
_SECONDS_BETWEEN_LOOKS = 0.2
_TOO_LARGE = "it took more than half of this machine's memory"


def _memory_of_untrusted() -> int:
    return memory_bytes() // 2


class TakesTurns(Protocol):
    """What has a device, and may give it to others meanwhile."""

    def take(self) -> None:
        """Wait for the device, unless it is there."""

    def lend(self) -> None:
        """Give the device back until take() is called."""

    def tell(self, words: str) -> None:
        """Tell the user what takes long."""


class Worker:
    """A worker for one visit to a kernel's points. Its process imports its modules and waits, until begin().

    device  the UUID of its GPU; None for the one that CUDA_VISIBLE_DEVICES leaves visible
    """

    def __init__(self, task: KernelTask, visit: int, device: str | None = None) -> None:
        self._task, self._visit, self._device = task, visit, device
        self._timeout = task.protocol.timeout_seconds
        self._process: WorkerProcess | None = self._new()
        self._has_begun = self._is_ready = False

    def begin(self, first: Point | None = None) -> None:
        """Have the worker open the device and load the kernel, if it hasn't, without waiting for that."""
        if self._has_begun:
            return
        # The job may have leased its device after it started the process.
        environment = {name: os.environ[name] for name in _OF_JOB if name in os.environ}
        if self._device:
            environment["CUDA_VISIBLE_DEVICES"] = self._device
        if (place := self._place()) and (parked := WorkerProcess.parked(place)):
            self.stop()
            self._process = parked
        self._process, self._has_begun = self._process or self._new(), True
        with suppress(BrokenPipeError):  # A process that was killed meanwhile: open() finds that it doesn't answer.
            self._process.send(Start(self._task, environment, first))

    def open(self) -> WorkerProcess | None:
        """Start the worker, if it isn't running, and wait until it is ready; None where it was killed.

        Raises UserError if it can't start.
        """
        self.begin()
        assert self._process is not None
        answer = {"ready": True} if self._is_ready else _answer(self._process, _START_SECONDS)
        if answer:
            self._is_ready = True
            return self._process
        status, words = (0, "no answer") if answer is None else self._last_words(self._process)
        if status == -signal.SIGKILL:
            return None
        told = f"{self._task.platform}: the process that runs the points can't start ({words})"
        raise gpu_failed(told) if status == GPU_FAILED else UserError(told)

    def run(self, request: VisitRequest, seconds: float, turns: TakesTurns | None = None) -> Outcome:
        """A visit's outcome: launch_failed if the worker died, timed_out if it didn't answer in time.

        seconds  how long the point's first run may take: its inputs, judgement and samples have longer
        turns    lends the device while the host works for longer than MOST_HOST_SECONDS

        Raises UserError if no worker can start, and where a function of the user's fails.
        """
        outcome, killed = self._outcome(request, seconds, turns)
        if killed:  # Kernels don't send SIGKILL, so the cause is elsewhere unless it happens again.
            outcome, _ = self._outcome(request, seconds, turns)
        return outcome

    def _outcome(self, request: VisitRequest, seconds: float, turns: TakesTurns | None) -> tuple[Outcome, bool]:
        """The outcome of a request, and whether the worker was killed by SIGKILL meanwhile."""
        if turns:
            turns.take()
        process = self._asked(request) or self._asked(request)
        if process is None:
            return Outcome(
                "launch_failed", "the worker process died twice before the point could be handed to it"
            ), False
        answer = _answer(process, limit := self._timeout)
        while answer and "now" in answer:
            limit = seconds if answer["now"] == Now.FIRST_RUN_BEGINS else self._timeout
            if answer["now"] == Now.WAITS:
                if turns:
                    turns.take()
                with suppress(BrokenPipeError):
                    process.send(GoOn())
            is_of_host = turns and answer["now"] == Now.HOST_BEGINS
            first = MOST_HOST_SECONDS if is_of_host else SECONDS_UNTIL_NAMED
            answer = _answer(process, min(first, limit) if turns else limit)
            if turns and answer is None and first < limit:
                if is_of_host:
                    turns.lend()
                else:
                    turns.tell(f"{request.point} has run for {first:g} s; it may take {limit:.3g} s")
                answer = _answer(process, limit - first)
        if answer is None:
            why = "measuring.timeout_seconds" if limit == self._timeout else "by the study's earlier points"
            return self._timed_out(process, f"no result within {limit:.3g} s ({why})"), False
        if not answer:
            status, words = self._last_words(process)
            hint = _CRASH_HINT if status in _CRASHES else ""
            return Outcome("launch_failed", f"the worker process died ({words}){hint}"), status == -signal.SIGKILL
        if "refused" in answer:
            raise StudyError(answer["refused"])
        if answer["lost"]:
            self.stop()
        return read_outcome(answer["outcome"]), False

    def _timed_out(self, process: WorkerProcess, message: str) -> Outcome:
        """The outcome of a visit that lasts too long. An emulator's worker says where it is, and what it has found."""
        told = Outcome("timed_out", message)
        kind = kind_of_implementation(self._task.platform)
        until = time.monotonic() + (0 if is_untrusted() or (kind and kind.needs_gpu) else _LAST_SECONDS)
        while time.monotonic() < until:
            process.interrupt()
            if (answer := _answer(process, _LAST_SECONDS / 10)) and "outcome" in answer:
                found = read_outcome(answer["outcome"])
                told = replace(found, status="timed_out", message=f"{message}: {found.message}")
            if answer is not None and "now" not in answer:
                break
        self.stop()
        return told

    def rest(self, is_over: bool = False) -> None:
        """Have the worker give back its buffers, if it is alive.

        is_over  whether it then serves the next job of this run at its device, or ends where there is none
        """
        place = self._place() if is_over else None
        if self._process is not None and self._is_ready and (place or not is_over):
            with suppress(BrokenPipeError):
                self._process.send(Rest(is_over))
                if (answer := _answer(self._process, self._timeout)) and place:
                    self._process.park(place, answer["rests"])
                    self._process, self._has_begun, self._is_ready = None, False, False
        if is_over:
            self.kill()

    @property
    def can_park(self) -> bool:
        """Whether rest() leaves the process to the next job."""
        return self._is_ready and self._place() is not None

    def kill(self) -> None:
        """Kill the worker without waiting for its end."""
        if self._process:
            self._process.kill()

    def stop(self) -> None:
        """Kill the worker and wait for its end."""
        if self._process:
            self._process.stop()
        self._process, self._has_begun, self._is_ready = None, False, False

    def _new(self) -> WorkerProcess:
        task = self._task
        files = [*problem_of(task.problem).files, *filter(Path.is_file, [Path(task.binary)])] if is_untrusted() else []
        return WorkerProcess(task.platform, files=files)

    def _place(self) -> Path | None:
        """The file that a worker leaves to the next one of its visit, platform and device; None where all end."""
        folder, device = os.environ.get(FOLDER_OF_WORKERS), self._device or os.environ.get("CUDA_VISIBLE_DEVICES")
        kind = kind_of_implementation(self._task.platform)
        if not folder or not device or is_untrusted() or not (kind and kind.needs_gpu):
            return None
        return Path(folder, f"{device}.{self._visit}.{self._task.platform}")

    def _asked(self, request: VisitRequest) -> WorkerProcess | None:
        """Send the request; None if the worker died before it received it."""
        try:
            if process := self.open():
                process.send(request)
            return process
        except BrokenPipeError:
            self.stop()
            return None

    def _last_words(self, process: WorkerProcess) -> tuple[int, str]:
        """A dead worker's exit status, and the same in words, with its last printed line.

        Prints all of its output to standard error.
        """
        status = process.wait()
        self.stop()
        process.messages.seek(0)
        messages = process.messages.read(_MOST_PRINTED)
        print(messages, file=sys.stderr, flush=True)
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        how += ", as where memory runs out" if status == -signal.SIGKILL else ""
        inside = [f"in {what}" for what, _ in running_in(os.environ.get(FOLDER_OF_NOTES), process.pid)]
        return status, ": ".join([" ".join([how, *inside]), *messages.strip().splitlines()[-1:]])


class Workers(dict[int, Worker]):
    """The workers of a kernel's visits, by the visit's number. A context manager that ends them.

    Their processes start at once, and wait for the first visit. Make them before the job waits for a device.
    A worker whose visit is over stays, without its buffers, until all are done: so each one's context lies elsewhere in
    the memory.
    """

    def __init__(self, task: KernelTask, visits: Iterable[int], device: str | None = None) -> None:
        """`device`: as for a Worker."""
        super().__init__({visit: Worker(task, visit, device) for visit in visits})

    def start(self, visit: int, first: Point) -> None:
        """Have the workers of this visit and of those that follow open the device, without waiting for that."""
        for other, worker in self.items():
            if other >= visit:
                worker.begin(first if other == visit == 0 else None)

    def open(self, visit: int) -> None:
        """Wait until the workers of this visit and of those that follow are ready. Raises as Worker.open()."""
        for other, worker in self.items():
            if other >= visit:
                worker.open()

    def rest(self, are_over: bool = False) -> None:
        """Have all workers give back their buffers; `are_over`: as for Worker.rest()."""
        for worker in self.values():
            worker.rest(are_over)

    def park(self) -> bool:
        """Leave all processes to other jobs of this run; start() takes them again, or others. Returns whether it did.

        Where there is no such place, they stay.
        """
        able = [worker for worker in self.values() if worker.can_park]
        for worker in able:
            worker.rest(is_over=True)
        return bool(able)

    def stop(self) -> None:
        """Kill all workers and wait for their ends, which take a driver its time."""
        for worker in self.values():
            worker.kill()
        for worker in self.values():
            worker.stop()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _answer(process: WorkerProcess, seconds: float) -> dict[str, Any] | None:
    """The worker's next answer, or the last of several; empty if it died or wrote none, None if the time limit passed.

    A kernel can write to the pipe, too: a part of a line, or a line that is no answer, ends the worker.
    """
    until, lines = time.monotonic() + seconds, bytearray()
    while not lines.endswith(b"\n"):
        left = max(0.0, until - time.monotonic())
        if not select.select([process.answers], [], [], min(left, _SECONDS_BETWEEN_LOOKS) if is_untrusted() else left)[
            0
        ]:
            if time.monotonic() >= until:
                return None
            if process.memory_bytes() > _memory_of_untrusted():
                print(_TOO_LARGE, file=process.messages, flush=True)
                process.kill()
            continue
        read = os.read(process.answers.fileno(), _READ_BYTES)
        if not read:
            return {}
        lines += read
        if len(lines) > _LARGEST_ANSWER:
            break
    with suppress(ValueError, RecursionError):
        answers = [json.loads(line) for line in lines.splitlines()]
        if all(isinstance(answer, dict) and not _ANSWERS.isdisjoint(answer) for answer in answers):
            last: dict[str, Any] = answers[-1]
            return last
    process.kill()
    return {}
