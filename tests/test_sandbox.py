"""The sandbox of the target grade: no way leads out of it, as root or as a user, and honest code runs there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import ways_out
from checkout import ROOT

from kernelsweep.base import control_groups, sandbox

_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
# Runs the ways out as the job runs a process of the emulator, or a compiler; in place of the process that starts it.
_DRIVER = """
import json, os, sys
from pathlib import Path
from kernelsweep.base import control_groups, sandbox

kind, ways, given = sys.argv[1:]
if kind == "emulator":
    environment = dict(os.environ)
    command, environment = sandbox.emulating([sys.executable, ways, given, "--loaded"], environment)
else:
    project = json.loads(given)["PROJECT"]
    files = [f"{project}/kernels/problem.py", ways, str(Path(ways).parent)]
    python = os.path.realpath(sys.executable)
    command = sandbox.compiling([python, ways, given, *files], [python])
    environment = {name: os.environ[name] for name in ("PATH", "TMPDIR")}
os.execvpe(command[0], command, environment)
"""
# Open to compilers, which run no candidate's code: they start processes, and change their scratch folder.
_OF_COMPILERS = {
    *("fork", "shell", "node", "virtual_machine", "netlink", "packets", "cryptography"),
    *("full_memory", "socket_in_project", "user_namespace", "mount_namespace"),
}


@dataclass(frozen=True)
class Place:
    """A machine with secrets: what the names of the ways stand for, and the environment of a job there."""

    folder: Path
    names: dict[str, str]
    environment: dict[str, str]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A project with a candidate, a secret and a socket, a home with a key, and processes that listen."""
    files = ["home/.ssh/id_rsa", "project/results/grade.secret", "project/results/emulator/measurements.csv"]
    files += ["project/candidates/other.cu", "project/.env", "project/.git/config", "outside/file"]
    files += ["project/kernels/problem.py", "project/results/build/unit", "scratch/none"]
    files += ["library/kernelsweep/__init__.py", "library/kernelsweep/base/__init__.py"]
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("right" if name.endswith("problem.py") else "")
        shutil.copy(ways_out.__file__, folder / "library")
        of_base = [f"base/{name}" for name in ("control_groups", "namespaces", "sandbox", "system_calls")]
        for name in ("errors", "reasons", *of_base):
            shutil.copy(ROOT / f"workflow/scripts/kernelsweep/{name}.py", folder / f"library/kernelsweep/{name}.py")
        for path in (folder, *folder.rglob("*")):  # The sandbox alone keeps users away.
            path.chmod(0o777)
        ports = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = str(ports.getsockname()[1])
        for address in (f"{folder}/project/kernels/s", f"{folder}/outside/s", f"\0kernelsweep-{port}"):
            end = ends.enter_context(socket.socket(socket.AF_UNIX))
            end.bind(address)
            end.listen()
            if address[0] == "/":
                os.chmod(address, 0o777)
        home, project = f"{folder}/home", f"{folder}/project"
        # The number of this process is nobody's in a sandbox.
        names = {
            "PROJECT": project,
            "HOME": home,
            "OUTSIDE": f"{folder}/outside",
            "PID": str(os.getpid()),
            "PORT": port,
        }
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "TOKEN": "secret",
            "TMPDIR": f"{folder}/scratch",
            "PYTHONPATH": f"{folder}/library",
            "PYTHONDONTWRITEBYTECODE": "1",
            sandbox.HIDDEN: "candidates",
        }
        yield Place(folder, names, environment)


def _try_all(place: Place, way: str, who: str, kind: str) -> dict[str, Any]:
    is_root = os.geteuid() == 0
    if who == "root" and not is_root:
        pytest.skip("root alone can try it")
    python = sys.executable
    if who == "user" and is_root and not (python := shutil.which("python3", path="/usr/bin") or ""):
        pytest.skip("this machine has no Python that every user can run")
    command = [*(_NOBODY if who == "user" and is_root else ()), python, "-c", _DRIVER, kind]
    run = subprocess.run(
        [*command, str(place.folder / "library/ways_out.py"), json.dumps(place.names)],
        env={**place.environment, sandbox.VARIABLE: way},
        cwd=place.names["PROJECT"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


_EVERYWHERE = pytest.mark.parametrize("who", ["root", "user"])
_BOTH_WAYS = pytest.mark.parametrize("way", [sandbox.BUBBLEWRAP, sandbox.NAMESPACES])


@_BOTH_WAYS
@_EVERYWHERE
def test_no_way_leads_out_of_the_emulators_sandbox(place: Place, way: str, who: str) -> None:
    if not sandbox._works(way):
        pytest.skip(f"this machine has no {way}")
    tried = _try_all(place, way, who, "emulator")
    assert len(tried["open"]) > 100
    assert not [name for name, is_open in tried["open"].items() if is_open]
    assert all(tried["done"].values()) and tried["problem"] == "right", tried["done"]


@_BOTH_WAYS
def test_a_process_that_is_killed_in_the_sandbox_says_so(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    # Pins: unshare's exit status 1, by which a candidate was wrong where the machine's memory ran out.
    if not sandbox._works(way):
        pytest.skip(f"this machine has no {way}")
    monkeypatch.setenv(sandbox.VARIABLE, way)
    command = sandbox.compiling(["sh", "-c", "echo begun; exec sleep 60"], [])
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert run.stdout and run.stdout.readline() == "begun\n"

    def children(process: int) -> list[int]:
        return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split())]

    last = run.pid
    while below := children(last):
        last = below[0]
    os.kill(last, signal.SIGKILL)
    assert run.wait(10) == 128 + signal.SIGKILL


@_BOTH_WAYS
@_EVERYWHERE
def test_no_way_leads_out_of_the_compilers_sandbox(place: Place, way: str, who: str) -> None:
    if not sandbox._works(way):
        pytest.skip(f"this machine has no {way}")
    tried = _try_all(place, way, who, "compiler")
    found = {name for name, is_open in tried["open"].items() if is_open and not name.startswith("call_")}
    assert found <= _OF_COMPILERS
    assert all(tried["done"].values()) and tried["problem"] == "right", tried["done"]


def test_memory_is_as_much_as_the_control_groups_allow(tmp_path: Path) -> None:
    half, quarter = sandbox.memory_bytes() // 2, sandbox.memory_bytes() // 4
    for file, limit in (("a/memory.max", half), ("a/b/memory.max", "max"), ("memory/c/memory.limit_in_bytes", quarter)):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(f"{limit}\n")
    for groups, memory in (("0::/a/b\n", half), ("8:pids:/\n4:memory:/c\n0::/a\n", quarter), ("0::/\n", 2 * half)):
        own = tmp_path / f"cgroup_{len(groups)}"
        own.write_text(groups)
        assert sandbox.memory_bytes(tmp_path, own) // 2 == memory // 2


def test_a_jobs_commands_run_in_a_control_group_where_it_may_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(group: Path, limits: dict[str, int]) -> None:  # as Linux does
        group.mkdir()
        for name in ("cgroup.procs", "memory.max", "pids.max"):
            (group / name).write_text(str(limits.get(name, "")))

    monkeypatch.setattr(control_groups, "_make", make)
    monkeypatch.setattr(control_groups, "_remove", lambda group: shutil.rmtree(group, ignore_errors=True))
    own, up, here = tmp_path / "own", tmp_path / "up", tmp_path / "up/here"
    here.mkdir(parents=True)
    own.write_text("4:memory:/a\n0::/up/here\n")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as leader:
        for controllers, process, place in (
            ("cpu memory pids", leader.pid, up),
            ("cpu", leader.pid, here),
            ("cpu", os.getpid(), None),  # of another session
        ):
            (up / "cgroup.controllers").write_text(controllers)
            for name, text in (("controllers", "memory pids"), ("subtree_control", ""), ("procs", str(process))):
                (here / f"cgroup.{name}").write_text(text)
            assert control_groups.place_of_groups(tmp_path, own, leader.pid) == place
        assert (here / "kernelsweep/cgroup.procs").read_text() == str(leader.pid)
    monkeypatch.setenv(sandbox.VARIABLE, sandbox.choose_sandbox(may_lack=True))
    monkeypatch.setenv(control_groups.PLACE, str(up))
    group = up / f"kernelsweep-{os.getpid()}"
    with control_groups.group_of_job(sandbox.limits_of_job()):
        subprocess.run(control_groups.in_group(["true"]), check=True)
        assert (group / "cgroup.procs").read_text() == "0\n"
        assert (group / "memory.max").read_text() == str(sandbox.memory_bytes() // 2)
        assert sandbox.described().endswith(", with control groups")
        if sandbox.choose_sandbox(may_lack=True) != sandbox.NO_SANDBOX:
            assert str(group) in sandbox.compiling(["true"], [])[3]
    assert not group.exists() and control_groups.in_group(["true"]) == ["true"]
