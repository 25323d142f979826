"""Start a worker's process. Imports only the standard library, so that a job can start it before its own imports."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def environment() -> dict[str, str]:
    """The environment of a process that imports this library."""
    package = str(Path(__file__).resolve().parents[3])
    search_path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": search_path, "PYTHONUTF8": "1"}


class WorkerProcess:
    """A process of kernelsweep.measure.worker.serve. A context manager that ends it.

    platform  the platform's implementation, as in platforms.kinds.Kind

    The process imports the implementation and waits. It touches no device yet.
    """

    def __init__(self, platform: str) -> None:
        self.messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "kernelsweep.measure.worker.serve", platform],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            encoding="utf-8",
            errors="replace",
            env=environment(),
        )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self.requests, self.answers = self._popen.stdin, self._popen.stdout

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def kill(self) -> None:
        """Kill it without waiting for its end: the driver takes a while to clean up after a process."""
        self._popen.kill()

    def stop(self) -> int:
        """Kill it, if it hasn't ended, and wait. Returns its exit status, which is negative for a signal."""
        self._popen.kill()
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended, and close the pipes."""
        status = self._popen.wait()
        for pipe in (self.requests, self.answers):
            if not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # Unwritten requests have no reader any more.
                    pipe.close()
        return status
