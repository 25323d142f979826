"""Control groups of Linux (version 2) for the jobs of untrusted kernels: limits of all that a job starts together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

# The environment variables with the group in which the jobs of this run make theirs, and with this job's own.
PLACE, OWN = "KERNELSWEEP_GROUPS", "KERNELSWEEP_GROUP"

_NEEDED = {"memory", "pids"}
_PREFIX = "kernelsweep-"
# Moves itself, and is replaced by a command. Its own name is the group's file.
_MOVED = ["sh", "-c", 'echo 0 > "$0" && exec "$@"']
_SECONDS_TO_END = 5.0


def place_of_groups(
    folder: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup"), session: int = 0
) -> Path | None:
    """The control group in which this run's jobs may make groups of their own; None where there is none.

    folder   where Linux shows the groups
    own      the file with the groups of this process
    session  the session whose processes may be moved, by a process of it; 0 for this process

    It is the group above this process' if that limits memory and processes, or else this process' own. Then its
    processes move to a group within, as Linux demands, if they are all of this session. Groups that killed jobs have
    left are removed.
    """
    lines = own.read_text(encoding="utf-8").splitlines() if own.is_file() else []
    for name in (line.removeprefix("0::/") for line in lines if line.startswith("0::/")):
        here = folder / name
        for place in (here.parent, here) if name else (here,):
            with suppress(OSError):
                if {*_words(place, "controllers")} >= _NEEDED and (place != here or _has_limits(here, session)):
                    _remove_left(place)
                    if _is_able(place):
                        return place
    return None


@contextmanager
def group_of_job(limits: Mapping[str, int]) -> Iterator[None]:
    """Where commands of the sandbox run in a control group of this job, if this run may make one.

    limits  by the names of the group's files, those that this Linux has

    At the end, all that still runs there is killed.
    """
    group = Path(os.environ.get(PLACE, ""), f"{_PREFIX}{os.getpid()}")
    if PLACE in os.environ:
        _remove(group)  # of a process that had this number
        with suppress(OSError):
            _make(group, limits)
            os.environ[OWN] = str(group)
    try:
        yield
    finally:
        if os.environ.pop(OWN, None):
            _remove(group)


def in_group(command: list[str]) -> list[str]:
    """The command, in this job's control group if it has one."""
    return [*_MOVED, f"{os.environ[OWN]}/cgroup.procs", *command] if OWN in os.environ else command


def _words(group: Path, name: str) -> list[str]:
    return (group / f"cgroup.{name}").read_text(encoding="utf-8").split()


def _has_limits(here: Path, session: int) -> bool:
    """Whether groups in this process' own have limits; sets them. Raises OSError."""
    control = here / "cgroup.subtree_control"
    with suppress(OSError):  # EBUSY, but in the root of all groups
        control.write_text("+memory +pids", encoding="utf-8")
    if not {*_words(here, "subtree_control")} >= _NEEDED:
        processes = [int(word) for word in _words(here, "procs")]
        own = os.getsid(session)  # 0 where its leader has no number here, as in a container; so have other sessions
        if not own or any(os.getsid(process) != own for process in processes):
            return False
        within = here / "kernelsweep"
        within.mkdir(exist_ok=True)
        for process in processes:
            (within / "cgroup.procs").write_text(str(process), encoding="utf-8")
        control.write_text("+memory +pids", encoding="utf-8")
    return True


def _is_able(place: Path) -> bool:
    """Whether a process of this one's can be moved to a group with limits that is made in this one."""
    trial = place / f"{_PREFIX}{os.getpid()}"
    try:
        _make(trial, {})
        moved = subprocess.run([*_MOVED, f"{trial}/cgroup.procs", "true"], stderr=subprocess.DEVNULL)
        return moved.returncode == 0 and (trial / "memory.max").is_file() and (trial / "pids.max").is_file()
    finally:
        _remove(trial)


def _make(group: Path, limits: Mapping[str, int]) -> None:
    group.mkdir()
    for name, limit in limits.items():
        if (file := group / name).exists():
            file.write_text(str(limit), encoding="utf-8")


def _remove(group: Path) -> None:
    """Kill what runs in a group, and remove it, if it is there."""
    until = time.monotonic() + _SECONDS_TO_END
    while group.is_dir() and time.monotonic() < until:
        with suppress(OSError):
            group.rmdir()
            return
        with suppress(OSError, ProcessLookupError):
            for process in _words(group, "procs"):
                os.kill(int(process), signal.SIGKILL)
        time.sleep(0.01)


def _remove_left(place: Path) -> None:
    """Remove empty groups of jobs that were killed."""
    for group in place.glob(f"{_PREFIX}[0-9]*"):
        if not os.path.exists(f"/proc/{group.name.removeprefix(_PREFIX)}"):
            with suppress(OSError):
                group.rmdir()
