"""The journal: the entries that it keeps through crashes, full disks, other versions and jobs, and its messages."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import signal
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting_jobs import Jobs, line

from kernelsweep.errors import UserError
from kernelsweep.sweep import journal as journals
from kernelsweep.sweep.identity import identity_sha256
from kernelsweep.sweep.journal import VERSION, Journal

KEYS = [identity_sha256({"point": number}) for number in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of four points."""
    path = tmp_path / "kernel.jsonl"
    with Journal(path) as journal:
        for number, key in enumerate(KEYS):
            journal.add(key, number)
    return path


def found(path: Path) -> tuple[list[int | None], list[str]]:
    """A journal's answers for KEYS, and its messages when it is opened."""
    told: list[str] = []
    with Journal(path, told.append) as journal:
        return [journal.get(key) for key in KEYS], told


@pytest.fixture
def file_limit() -> Iterator[None]:
    """Files of at most 1000 bytes: writing more fails in the middle, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


OTHER_LINES = {
    "before versions": f'{{"key": "{KEYS[0]}", "value": 7}}\n',
    "a later version": f'{{"journal": {VERSION + 1}, "key": "{KEYS[0]}", "value": 7}}\n',
    "a text": "Dear diary,\n",
}


@pytest.mark.parametrize("other", OTHER_LINES.values(), ids=OTHER_LINES)
def test_a_line_of_another_format_is_said_stays_and_costs_no_other_point(path: Path, other: str) -> None:
    # Pins: values read that mean something else by now, and everything behind such a line cut off.
    first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([first, other, *others]), encoding="utf-8")
    before = path.read_bytes()
    assert found(path) == ([0, 1, 2, 3], [f"{path}: 1 of 5 lines can't be read; their points are run again"])
    assert path.read_bytes() == before


def test_a_long_journal_leaves_its_samples_on_the_disk(tmp_path: Path) -> None:
    # Pins: all samples of a kernel in memory, 4 GB of a journal of 1 GB, whoever asks for them.
    samples = [number / 7 for number in range(1000)]
    path, other = tmp_path / "kernel.jsonl", tmp_path / "chunk.jsonl"
    for file, numbers in ((path, range(500)), (other, range(400, 600))):
        with Journal(file) as journal:
            for number in numbers:
                journal.add(f"{number % 550}", [number, *samples])
    size = path.stat().st_size + other.stat().st_size
    tracemalloc.start()
    try:
        with Journal(path, others=[other]) as journal:
            first = [value[0] for value in journal.values()]
            assert journal.get("5") == [555, *samples] and journal.get("450") == [450, *samples]
            journal.add("5", "newer")
            assert journal.get("5") == "newer"
        assert sorted(first) == [*range(50, 600)]
        assert tracemalloc.get_traced_memory()[1] < size / 10
    finally:
        tracemalloc.stop()


# Failed writes


@pytest.mark.parametrize("lost", [1, 9], ids=["the line's end", "more"])
def test_a_line_that_a_crash_left_half_written_costs_its_own_point_alone(path: Path, lost: int) -> None:
    # Pins: the next line written behind the half one, so that neither can be read.
    path.write_bytes(path.read_bytes()[:-lost])
    assert found(path) == ([0, 1, 2, None], [])
    with Journal(path) as journal:
        journal.add(KEYS[3], 3)
    assert found(path) == ([0, 1, 2, 3], [])


def test_a_full_disk_costs_the_point_at_hand_and_is_explained(path: Path, file_limit: None) -> None:
    before = path.read_bytes()
    with Journal(path) as journal:
        journal.add("small", 1)
        with pytest.raises(UserError, match=r"can't be written: File too large") as error:
            journal.add("large", "x" * 1000)
        assert str(path) in str(error.value)
        assert journal.get("large") is None
        journal.add("smaller", 2)  # There may be room again.
    assert path.read_bytes().startswith(before)
    assert [json.loads(line)["key"] for line in path.read_bytes().splitlines()] == [*KEYS, "small", "smaller"]
    assert found(path) == ([0, 1, 2, 3], [])


# Two jobs at once


def test_without_locks_no_job_cuts_off_what_another_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: a job that Slurm sent again took the first one's newest lines for half-written. 1 of 1,200 was lost.
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with Journal(path, [].append) as first:
        first.add("one", 1)
        with path.open("ab") as of_another:
            of_another.write(path.read_bytes().splitlines()[0].replace(KEYS[0].encode(), b"half")[:-1])
            of_another.flush()
            with Journal(path, [].append) as second:
                first.add("two", 2)
                second.add("three", 3)
                assert (first.get("one"), first.get("two"), second.get("one"), second.get("three")) == (1, 2, 1, 3)
    with Journal(path, [].append) as later:
        assert [later.get(key) for key in (*KEYS, "one", "two", "three", "half")] == [0, 1, 2, 3, 1, 2, 3, None]


JOB_WITHOUT_LOCKS = """\
import fcntl, sys
from pathlib import Path
from kernelsweep.sweep.journal import Journal
def refuse(*_): raise OSError(37, "no locks")
fcntl.flock = refuse
with Journal(Path("kernel.jsonl"), [].append) as journal:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(300):
        journal.add(f"{sys.argv[1]} {number}", [number] * 200)
        assert journal.get(f"{sys.argv[1]} {number // 2}") == [number // 2] * 200
"""


def test_without_locks_four_jobs_lose_and_double_nothing(tmp_path: Path) -> None:
    with Jobs(tmp_path) as jobs:
        four = [jobs.start(JOB_WITHOUT_LOCKS, str(number)) for number in range(4)]
        assert [line(job) for job in four] == ["open\n"] * 4
        for job in four:
            print(file=job.stdin, flush=True)
        assert [job.wait() for job in four] == [0] * 4
    records = [json.loads(text) for text in (tmp_path / "kernel.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(one["key"] for one in records) == sorted(
        f"{job} {number}" for job in range(4) for number in range(300)
    )


JOB = """\
import sys
from pathlib import Path
from kernelsweep.sweep.journal import Journal
with Journal(Path(sys.argv[1]), lambda line: print(line, flush=True)) as journal:
    print(journal.get("one"), flush=True)
    for key in sys.stdin:
        journal.add(key.strip(), 1)
        print("added", flush=True)
"""


def test_a_second_job_waits_says_for_whom_and_finds_the_firsts_points(tmp_path: Path) -> None:
    # Pins: two runs that append to one file, where each repairs a line of the other that it takes for half-written; and
    # a second job that reads the journal before it waits, and so measures all points again.
    with Jobs(tmp_path) as jobs:
        first = jobs.start(JOB, "kernel.jsonl")
        assert line(first) == "None\n" and first.stdin
        second = jobs.start(JOB, "kernel.jsonl")
        assert line(second) == "waiting for kernel.jsonl, to which another process adds points\n"
        first.stdin.write("one\n")
        first.stdin.flush()
        assert line(first) == "added\n"
        first.kill()
        assert line(second) == "1\n"


def test_a_pipe_and_a_line_without_an_end_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to("nowhere")
    for name in ("pipe", "link"):
        with pytest.raises(UserError, match=rf"{name}\.jsonl: no plain file"):
            Journal(tmp_path / f"{name}.jsonl")
    with Journal(tmp_path / "a.jsonl") as journal:
        journal.add("key", "x" * 1000)
        assert list(journal.beside(9)) == []
    monkeypatch.setattr(journals, "_LONGEST_LINE", 1000)
    with pytest.raises(UserError, match=r"a\.jsonl, line 1: no line of a journal: it has 1,000 bytes or more"):
        Journal(tmp_path / "a.jsonl")
