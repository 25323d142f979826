"""Start a worker's process: a fork of the job, which has imported all that a worker needs and opened no device.

A new Python takes the place of the fork once the job has threads or has opened a GPU: neither survives a fork. It does
so as well where the kernels are untrusted: it begins in the sandbox.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import IO, NoReturn

from kernelsweep.base.fork_server import thread_count
from kernelsweep.base.running import environment
from kernelsweep.base.sandbox import emulating, is_untrusted
from kernelsweep.device.kinds import KINDS, kind_of_implementation, load
from kernelsweep.device.request import Message, written
from kernelsweep.device.worker.serve import serve_platform
from kernelsweep.study.kernels.units import EMULATOR

# The files through which a process has opened a GPU, for CUDA or NVML: Linux's, and those of Windows' Linux.
_GPU_FILES = ("/dev/nvidia", "/dev/dxg")


# A process' id, and the streams of its requests and of its answers.
_Begun = tuple[int, IO[str], IO[str]]


def _started(platform: str, messages: IO[str], files: Iterable[Path]) -> _Begun:
    command, variables = [sys.executable, "-m", serve_platform.__module__, platform], environment()
    if kind_of_implementation(platform) == KINDS[EMULATOR]:  # On a GPU, nothing of a kernel is code of this process.
        command, variables = emulating(command, variables, files)
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=messages,
        encoding="utf-8",
        errors="replace",
        env=variables,
    )
    process.returncode = 0  # Else Popen would wait for it, and wait() would miss its status.
    assert process.stdin is not None and process.stdout is not None
    return process.pid, process.stdin, process.stdout


def _forked(platform: str, messages: IO[str]) -> _Begun:
    """A fork of this process that serves."""
    load(platform)
    pipes = [*os.pipe(), *os.pipe()]
    for stream in filter(None, (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        stream.flush()  # Else the fork would write it, too.
    pid = os.fork()
    if pid == 0:
        gc.freeze()  # Else its garbage collection would copy all of the job's memory.
        _serve(platform, (pipes[0], pipes[3], messages.fileno()))
    os.close(pipes[0])
    os.close(pipes[3])
    return pid, *_streams(pipes[1], pipes[2])


def _streams(requests: int | str, answers: int | str) -> tuple[IO[str], IO[str]]:
    texts = {"encoding": "utf-8", "errors": "replace"}
    return open(requests, "w", **texts), open(answers, **texts)  # type: ignore[call-overload]


def _serve(platform: str, streams: tuple[int, int, int]) -> NoReturn:
    """Serve in a fork, with these standard streams, until the input ends."""
    status = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # The locks of journals and of GPUs among them.
        if sys.__stdout__ and sys.__stderr__:  # The job may have had others in their place.
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        serve_platform(platform)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


class WorkerProcess:
    """A process of kernelsweep.device.worker.serve. A context manager that ends it.

    platform  the platform's implementation, as in platforms.kinds.Kind
    files     what the problem and the kernel are read from, which a sandbox has to show

    A new one imports the implementation and waits. It touches no device yet.
    """

    def __init__(self, platform: str, parked: _Begun | None = None, files: Iterable[Path] = ()) -> None:
        self.messages: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        can_fork = thread_count() == 1 and not _has_opened_a_gpu() and not is_untrusted()
        begun = parked or (_forked(platform, self.messages) if can_fork else _started(platform, self.messages, files))
        self.pid, self.requests, self.answers = begun
        self._handle = os.pidfd_open(self.pid)
        self._status: int | None = None

    def send(self, message: Message) -> None:
        """Hand it a message. Raises BrokenPipeError where it has ended."""
        self.requests.write(written(message))
        self.requests.flush()

    @staticmethod
    def parked(place: Path) -> WorkerProcess | None:
        """The process that park() has left at a place; None without one."""
        with contextlib.suppress(OSError):
            pid, answers = place.rename(place.with_name(str(os.getpid()))).read_text(encoding="utf-8").split()
            return WorkerProcess("", (int(pid), *_streams(f"/proc/{pid}/fd/0", f"/proc/{pid}/fd/{answers}")))
        return None

    def park(self, place: Path, answers: int) -> None:
        """Leave it to a later job, as it has agreed to; `answers` is its descriptor for them."""
        place.write_text(f"{self.pid} {answers}", encoding="utf-8")
        self.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def kill(self) -> None:
        """Kill it without waiting for its end: the driver takes a while to clean up after a process."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def interrupt(self) -> None:
        """Have the emulator end its launch."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGUSR1)

    def memory_bytes(self) -> int:
        """The memory of it and of the processes that it has started, as a sandbox does; 0 where Linux doesn't say."""
        total, waiting = 0, [self.pid]
        while waiting:
            process = Path(f"/proc/{waiting.pop()}")
            with contextlib.suppress(OSError, ValueError, IndexError):
                total += int((process / "statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")
                children = (process / f"task/{process.name}/children").read_text(encoding="utf-8")
                waiting += map(int, children.split())
        return total

    def stop(self) -> int:
        """Kill it, if it hasn't ended, and wait. Returns its exit status, which is negative for a signal."""
        self.kill()
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended, and close the pipes.

        The status of another job's child is unknown. It counts as killed: its point is tried again, in a new process.
        """
        if self._status is None:
            select.select([self._handle], [], [])
            try:
                status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                self._status = (
                    128 - status if status > 128 and is_untrusted() else status
                )  # as a sandbox tells a signal
            except ChildProcessError:
                self._status = -signal.SIGKILL
        self.close()
        return self._status

    def close(self) -> None:
        """Close the pipes."""
        for pipe in (self.requests, self.answers):
            if not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # Unwritten requests have no reader any more.
                    pipe.close()


def _has_opened_a_gpu() -> bool:
    """Whether this process has opened a GPU, for CUDA or for NVML."""
    for file in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # The descriptor of this very list is closed by now.
            if os.readlink(file).startswith(_GPU_FILES):
                return True
    return False
