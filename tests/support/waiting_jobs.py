"""Processes that run a few lines with the library, and say how far they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from select import select

from checkout import ROOT

PATIENCE_SECONDS = 30.0
Job = subprocess.Popen[str]


class Jobs:
    """A context manager that ends those that still run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Job] = []

    def start(self, code: str, *arguments: str, **variables: str) -> Job:
        """A new Python that runs this code in the folder."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts"), **variables}
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env=environment,
        )
        self._started.append(process)
        return process

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


def line(job: Job, within_seconds: float = PATIENCE_SECONDS) -> str | None:
    """The next line that a job prints; None where it prints none in time."""
    assert job.stdout is not None
    return job.stdout.readline() if select([job.stdout], [], [], within_seconds)[0] else None
