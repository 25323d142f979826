"""Start a worker's process. Imports almost nothing, so that a job can start it before its own imports.

A worker is a new Python, and always so on a GPU. On the emulator, a job that has imported the worker's code already,
because it is a fork itself (fork_server.py), forks its first worker.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from kernelsweep.threads import thread_count

if TYPE_CHECKING:
    from kernelsweep.platforms.kinds import Kind

_SERVE = "kernelsweep.measure.worker.serve"


def environment() -> dict[str, str]:
    """The environment of a process that imports this library."""
    package = str(Path(__file__).resolve().parents[3])
    search_path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": search_path, "PYTHONUTF8": "1"}


def _started(platform: str, messages: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", _SERVE, platform],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=messages,
        encoding="utf-8",
        errors="replace",
        env=environment(),
    )


class _Fork:
    """A fork of this process that serves, with what is needed here of subprocess.Popen."""

    def __init__(self, platform: str, messages: IO[str]) -> None:
        pipes = [*os.pipe(), *os.pipe()]
        sys.stdout.flush()  # Else the fork would write it, too.
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _serve(platform, (pipes[0], pipes[3], messages.fileno()))
        os.close(pipes[0])
        os.close(pipes[3])
        self.stdin = open(pipes[1], "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.stdout = open(pipes[2], encoding="utf-8", errors="replace")  # noqa: SIM115
        self._status: int | None = None

    def kill(self) -> None:
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status


def _serve(platform: str, streams: tuple[int, int, int]) -> NoReturn:
    """Serve in a fork, with these standard streams, until the input ends."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # The locks of journals and of GPUs among them.
        sys.modules[_SERVE].main(platform)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class WorkerProcess:
    """A process of kernelsweep.measure.worker.serve. A context manager that ends it.

    platform  the platform's implementation, as in platforms.kinds.Kind
    may_fork  whether it may be a fork of this process, which then has opened neither CUDA nor NVML: what they open does
              not survive

    The process imports the implementation and waits. It touches no device yet.
    """

    def __init__(self, platform: str, may_fork: bool = False) -> None:
        self.messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        forks = may_fork and _SERVE in sys.modules and thread_count() == 1
        self._process = (_Fork if forks else _started)(platform, self.messages)
        assert self._process.stdin is not None and self._process.stdout is not None
        self.requests, self.answers = self._process.stdin, self._process.stdout

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def kill(self) -> None:
        """Kill it without waiting for its end: the driver takes a while to clean up after a process."""
        self._process.kill()

    def stop(self) -> int:
        """Kill it, if it hasn't ended, and wait. Returns its exit status, which is negative for a signal."""
        self._process.kill()
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended, and close the pipes."""
        status = self._process.wait()
        for pipe in (self.requests, self.answers):
            if not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # Unwritten requests have no reader any more.
                    pipe.close()
        return status


def first_worker(kind: Kind) -> WorkerProcess:
    """The process of a job's first worker, for a job that has opened no device yet.

    It may be a fork only where points have no times, as on the emulator. Nobody has measured yet whether a fork's times
    on a GPU differ from a new Python's, so that there every worker is a new Python.
    """
    return WorkerProcess(kind.implementation, may_fork=not kind.has_clock)
