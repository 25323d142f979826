"""Jobs on one device wait for each other, and a job that dies keeps nobody waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select

import pytest

from kernelsweep import lease as lease_module
from kernelsweep.lease import lease

PATIENCE_SECONDS = 30.0
HOLDER = """\
import sys
from kernelsweep.lease import lease
with lease(sys.argv[1]):
    print("has it", flush=True)
    sys.stdin.read()
"""

Job = subprocess.Popen[str]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Job]]:
    """Start a process that holds a device's lease until its input ends."""
    jobs: list[Job] = []

    def job(device: str) -> Job:
        environment = {
            **os.environ,
            "TMPDIR": str(tmp_path),
            "PYTHONPATH": str(Path(lease_module.__file__).parents[1]),
        }
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        jobs.append(process)
        return process

    yield job
    for process in jobs:
        process.kill()
        process.communicate()


def has_it(job: Job, within_seconds: float) -> bool:
    assert job.stdout is not None
    return bool(select([job.stdout], [], [], within_seconds)[0]) and job.stdout.readline() == "has it\n"


def end(job: Job) -> None:
    job.communicate()


def kill(job: Job) -> None:
    job.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("leave", [end, kill])
def test_the_second_job_waits_until_the_first_is_gone(
    start: Callable[[str], Job], leave: Callable[[Job], None]
) -> None:
    # Pins: two jobs that time kernels on one GPU at once, and a lock that outlives a job that was killed.
    first = start("GPU-1")
    assert has_it(first, PATIENCE_SECONDS)
    second, elsewhere = start("GPU-1"), start("GPU-2")
    assert has_it(elsewhere, PATIENCE_SECONDS)  # by now the second had time enough as well
    assert not has_it(second, 0.3)
    leave(first)
    assert has_it(second, PATIENCE_SECONDS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can pretend to be two users")
def test_another_users_job_takes_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: a lock file in /tmp that whoever came second may not change. As systems protect /tmp, they may not even open
    # it in a way that would create it.
    monkeypatch.setattr("tempfile.tempdir", ".")  # pytest's folders are closed to others, but not a working directory
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o1777)
    with lease("GPU-1"):
        pass
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            with lease("GPU-1"):
                os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
