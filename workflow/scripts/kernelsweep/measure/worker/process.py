"""Start a worker's process. Imports nothing but Python's own, so that a job can do it before it imports the rest."""

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
    """A process of kernelsweep.measure.worker.serve. It imports what its platform needs and waits; it
    touches no device.

    platform  its implementation, as in platforms.kinds.Kind

    A context manager that ends it.
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
        """The process's number."""
        return self._popen.pid

    def kill(self) -> None:
        """Have it ended, without waiting until it is: a driver takes its time to clear up after a process."""
        self._popen.kill()

    def stop(self) -> int:
        """End it, at once. Returns its exit status, less than 0 for a signal; of one that had ended, that."""
        self._popen.kill()
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended, and close the pipes."""
        status = self._popen.wait()
        for pipe in (self.requests, self.answers):
            if not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # What was still to be written has no reader.
                    pipe.close()
        return status
