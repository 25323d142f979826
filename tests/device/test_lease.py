"""Jobs on one device wait for each other, and a job that dies does not block the others."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting_jobs import Job, Jobs, line

from kernelsweep.device import lease as lease_module
from kernelsweep.device.lease import leased_gpu
from kernelsweep.errors import UserError

# Jobs that hold a lease until their input ends. The second one takes its GPUs from a pretended machine's.
HOLDER = """\
import sys
from pathlib import Path
from types import SimpleNamespace
from kernelsweep.device import lease
lease.FOLDER, lease.NOTICE_SECONDS = Path(sys.argv[1]), 0.2
lease.gpus_of = lambda _: [SimpleNamespace(uuid=sys.argv[2])]
def tell(line):
    print(line, flush=True)
with lease.leased_gpu("", tell, job="axpy/axpy", shared="shared" in sys.argv) as (gpu, held):
    held.tell("n 510")
    print("has", gpu.uuid, flush=True)
    sys.stdin.read()
"""

WAITING = r"waiting for GPU GPU-1, which axpy/axpy has had for 0:0\d, now at n 510 for 0:0\d\n"


def test_the_second_job_says_for_whom_it_waits_until_the_first_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pins: two jobs that time kernels on one GPU at once, a lock that outlives a job that was killed, and a job that
    # seems to hang.
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with Jobs(tmp_path) as jobs:

        def start(number: int, device: str) -> Job:
            # A cluster's jobs may have a temporary folder each.
            (tmp_path / f"job{number}").mkdir()
            return jobs.start(HOLDER, str(tmp_path), device, TMPDIR=str(tmp_path / f"job{number}"))

        first = start(1, "GPU-1")
        assert line(first) == "has GPU-1\n"
        second, elsewhere = start(2, "GPU-1"), start(3, "GPU-2")
        assert line(elsewhere) == "has GPU-2\n"
        assert re.fullmatch(WAITING, line(second) or "")
        assert line(second, 0.3) is None
        first.kill()
        assert line(second) == "has GPU-1\n"


def test_jobs_that_time_nothing_share_a_gpu_but_not_with_one_that_does(tmp_path: Path) -> None:
    # Pins: compute-sanitizer's jobs one after another, and one of them beside a kernel that is timed.
    with Jobs(tmp_path) as jobs:
        sharing = [jobs.start(HOLDER, str(tmp_path), "GPU-1", "shared") for _ in range(2)]
        assert [line(job) for job in sharing] == ["has GPU-1\n"] * 2
        timing = jobs.start(HOLDER, str(tmp_path), "GPU-1")
        assert re.fullmatch(WAITING, line(timing) or "")
        sharing[0].communicate()
        assert line(timing, 0.3) is None
        sharing[1].communicate()
        assert line(timing) == "has GPU-1\n"


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
