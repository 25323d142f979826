"""Jobs on one device wait for each other, and a job that dies does not block the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from types import SimpleNamespace

import pytest

from kernelsweep.errors import UserError
from kernelsweep.platforms import lease as lease_module
from kernelsweep.platforms.lease import leased_gpu

PATIENCE_SECONDS = 30.0
# Jobs that hold a lease until their input ends. The second one takes its GPUs from a pretended machine's.
HOLDER = """\
import sys
from pathlib import Path
from types import SimpleNamespace
from kernelsweep.platforms import lease
lease.FOLDER, lease.NOTICE_SECONDS = Path(sys.argv[1]), 1.0
lease.gpus_of = lambda _: [SimpleNamespace(uuid=uuid) for uuid in sys.argv[2:]]
with lease.leased_gpu("", lambda line: print(line, flush=True)) as gpu:
    print("has", gpu.uuid, flush=True)
    sys.stdin.read()
"""
Job = subprocess.Popen[str]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a process that holds the lease of one of some devices, or of some pretended GPUs."""
    jobs: list[Job] = []

    def job(*devices: str, code: str = HOLDER, visible: str | None = None) -> Job:
        environment = {**os.environ, "PYTHONPATH": str(Path(lease_module.__file__).parents[2])}
        # A cluster's jobs may have a temporary folder each.
        (tmp_path / f"job{len(jobs)}").mkdir()
        environment["TMPDIR"] = str(tmp_path / f"job{len(jobs)}")
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), *devices],
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


def line(job: Job, within_seconds: float = PATIENCE_SECONDS) -> str | None:
    """The next line that a job prints; None where it prints none in time."""
    assert job.stdout is not None
    return job.stdout.readline() if select([job.stdout], [], [], within_seconds)[0] else None


def end(job: Job) -> None:
    job.communicate()


def kill(job: Job) -> None:
    job.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("leave", [end, kill])
def test_the_second_job_says_for_whom_it_waits_until_the_first_is_gone(
    start: Callable[..., Job], leave: Callable[[Job], None]
) -> None:
    # Pins: two jobs that time kernels on one GPU at once, a lock that outlives a job that was killed, and a job that
    # seems to hang.
    first = start("GPU-1")
    assert line(first) == "has GPU-1\n"
    second, elsewhere = start("GPU-1"), start("GPU-2")
    assert line(elsewhere) == "has GPU-2\n"
    assert line(second) == "waiting for GPU GPU-1, which another process uses\n"
    assert line(second, 0.3) is None
    leave(first)
    assert line(second) == "has GPU-1\n"


def test_a_planted_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every user can write to /tmp. Pins: a user's file that is created, opened or changed through another user's link.
    monkeypatch.setattr(lease_module, "FOLDER", tmp_path)
    monkeypatch.setattr(lease_module, "gpus_of", lambda _: [SimpleNamespace(uuid="GPU-1")])
    (tmp_path / "kernelsweep-GPU-1.lock").symlink_to(tmp_path / "target")
    for exists in (False, True):
        if exists:
            (tmp_path / "target").write_text("precious")
        with pytest.raises(UserError, match="it is a link"), leased_gpu(""):
            pass
        assert (tmp_path / "target").exists() == exists
    assert (tmp_path / "target").read_text() == "precious"
