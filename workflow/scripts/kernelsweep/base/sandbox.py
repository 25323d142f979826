"""The sandbox of what an untrusted kernel can reach: compilers, and the emulator's processes (docs/grading.md).

bubblewrap makes it where it is installed, else the `unshare` of util-linux: namespaces of users, mounts, processes,
networks and host names, with a file system of a few folders that can only be read, and a folder to write to. `prlimit`
limits memory, time on the processor, the size of files and the number of threads. An emulator's process then gives up
the system calls that reach beyond it: sockets, new processes, new namespaces.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from kernelsweep.base import control_groups, namespaces
from kernelsweep.base.namespaces import OF_MACHINE
from kernelsweep.base.system_calls import give_up_calls
from kernelsweep.errors import UserError

# The environment variable that says to the jobs of a run which sandbox they use; unset where all code is trusted.
VARIABLE = "KERNELSWEEP_SANDBOX"
# The one with the file or folder that no candidate sees: the candidates.
HIDDEN = "KERNELSWEEP_HIDDEN"
BUBBLEWRAP, NAMESPACES, NO_SANDBOX = "bubblewrap", "namespaces", "none"
_INSIDE = "inside"

_GIBIBYTE = 2**30
COMPILING_SECONDS = 120
_LIMITS = ["prlimit", f"--fsize={2 * _GIBIBYTE}", "--core=0"]
_OF_EMULATOR = [f"--as={256 * _GIBIBYTE}"]  # of which each block that waits for others reserves one
# Of a compiler; and threads of the emulator, which starts none: libraries of linear algebra have one or two a core.
_MOST_PROCESSES, _MOST_THREADS = 64, 1024
# Before this release of Linux, that limit counted all processes of the user.
_COUNTS_BY_NAMESPACE = (5, 14)

# What compilers read besides their own folder and their arguments.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
# The environment variables that an emulator's process has, besides those that its caller sets for it.
_KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONHASHSEED"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES"),
)
_PRIVATE = "/tmp"  # where an emulator's process writes: memory of its own


def choose_sandbox(may_lack: bool) -> str:
    """The sandbox that this machine has. Raises UserError where it has none, unless it `may_lack` one."""
    for way in (BUBBLEWRAP, NAMESPACES):
        if _works(way):
            return way
    if may_lack:
        return NO_SANDBOX
    raise UserError(
        "grade runs compilers and the emulator on code that nobody trusts, and this machine has no sandbox for them: "
        "neither bubblewrap (apt install bubblewrap) nor `unshare` can make namespaces here, as in some containers. "
        "Grade elsewhere, or where the machine itself is thrown away afterwards: --config sandbox=none."
    )


@cache
def _works(way: str) -> bool:
    try:
        paths = [*_reading(_system()), ("private", _PRIVATE)]
        run = subprocess.run(_command(way, ["true"], paths, "/", _of_compilers()), capture_output=True)
    except OSError:
        return False
    return run.returncode == 0


def is_untrusted() -> bool:
    """Whether this run's kernels are untrusted."""
    return VARIABLE in os.environ


def compiling(command: Sequence[str], tools: Iterable[str]) -> list[str]:
    """A compiler's command, in the sandbox if this run has one.

    tools  the compilers, whose folders it reads

    It sees itself, the files and folders among its arguments, and TMPDIR, where it may write.
    """
    way = os.environ.get(VARIABLE, NO_SANDBOX)
    if way == NO_SANDBOX:
        return [*command]
    prefixes = [Path(found).resolve().parent.parent for tool in tools if (found := shutil.which(tool))]
    named = [Path(word.removeprefix("-I")).absolute() for word in command[1:] if "/" in word]
    scratch = os.environ.get("TMPDIR", "/tmp")
    read = [path for path in (*_system(), *prefixes, *named) if not str(path).startswith(f"{scratch}/")]
    return _command(way, command, [*_reading(read), ("write", scratch)], os.getcwd(), _of_compilers())


def emulating(
    command: Sequence[str], environment: Mapping[str, str], files: Iterable[Path] = ()
) -> tuple[list[str], dict[str, str]]:
    """The command of a process that runs kernels on the emulator, and its environment; in the sandbox if there is one.

    files  what it reads besides

    It sees this Python, the working directory but for results (of which it sees what is compiled) and names that begin
    with a dot, and a private folder, where it may write. It does not see what the variable HIDDEN names.
    """
    way = os.environ.get(VARIABLE, NO_SANDBOX)
    if way == NO_SANDBOX:
        return [*command], dict(environment)
    here = Path.cwd()
    own = [path for path in here.iterdir() if not path.name.startswith(".") and path.name != "results"]
    own = [path for path in own if path.is_dir() or path.is_file()]  # and no socket
    read = [*_system(), *_python(), *own, here / "results/build", here / "results/references"]
    seen = _reading(read)
    shown = [path for _, path in seen]
    hides = [path for path in [str(here / os.environ.get(HIDDEN, "/"))] if _lies_in(path, shown)]
    further = [str(path) for file in files for path in {file.absolute(), file.resolve()} if path.exists()]
    paths = [("private", _PRIVATE), *seen, *(("hide", path) for path in hides)]
    paths += [("read", path) for path in further if not _lies_in(path, shown) or _lies_in(path, hides)]
    kept = {name: environment[name] for name in _KEPT if name in environment}
    kept |= {"HOME": _PRIVATE, "TMPDIR": _PRIVATE, "PYTHONUSERBASE": site.getuserbase(), VARIABLE: _INSIDE}
    return _command(way, command, paths, str(here), [*_OF_EMULATOR, *_threads(_MOST_THREADS)]), kept


def limits_of_job() -> dict[str, int]:
    """The limits of a candidate's control group, by the names of its files."""
    return {"memory.max": memory_bytes() // 2, "memory.swap.max": 0, "pids.max": _MOST_PROCESSES + _MOST_THREADS}


def described() -> str:
    """This run's sandbox, and whether control groups limit its jobs, in words."""
    groups = ", with control groups" if control_groups.PLACE in os.environ else ""
    return os.environ.get(VARIABLE, NO_SANDBOX) + groups


def is_inside() -> bool:
    """Whether this process runs kernels in the sandbox."""
    return os.environ.get(VARIABLE) == _INSIDE


def before_code_is_loaded() -> None:
    """Give up the system calls that reach beyond this process, where it runs in the sandbox.

    Raises UserError where a kernel's code is to be loaded that is untrusted, by a process outside of the sandbox.
    """
    if os.environ.get(VARIABLE, NO_SANDBOX) not in (_INSIDE, NO_SANDBOX):
        raise UserError("A candidate's code runs in the sandbox alone: it can be graded, and not counted or drawn.")
    if is_inside():
        give_up_calls()


def _reading(paths: Iterable[str | Path]) -> list[tuple[str, str]]:
    """The paths that exist, to read; without those that lie in another one."""
    there = sorted({str(path) for path in paths if os.path.exists(path)})
    return [("read", path) for path in there if not _lies_in(path, [other for other in there if other != path])]


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _python() -> list[Path]:
    """The folders of this Python, and of what it imports."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    folders = [Path(name).absolute() for name in (*prefixes, *sys.path) if name]
    executable = Path(sys.executable)
    while executable.is_symlink():
        executable = executable.parent / os.readlink(executable)
        folders.append(Path(os.path.normpath(executable)).parent.parent)
    return [*folders, *(folder.resolve() for folder in folders)]


def _system() -> list[Path]:
    return [Path(name) for name in _SYSTEM]


@cache
def memory_bytes(cgroups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """The machine's memory, or as much of it as this process' control groups allow, as of a container."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    files = {"": "memory.max", "memory": "memory/memory.limit_in_bytes"}  # of version 2 and of version 1
    for line in own.read_text(encoding="utf-8").splitlines() if own.is_file() else ():
        _, kind, group = line.split(":", 2)
        base, name = os.path.split(files.get(kind, ""))
        for folder in [(place := cgroups / base / group[1:]), *place.parents] if name else ():
            with suppress(OSError, ValueError):  # "max" is no limit.
                limits.append(int((folder / name).read_text(encoding="utf-8")))
    return min(limits)


def _of_compilers() -> list[str]:
    """The limits of a compiler: half of the memory at most, which template and macro bombs take."""
    return [
        f"--as={min(16 * _GIBIBYTE, max(2 * _GIBIBYTE, memory_bytes() // 2))}",
        f"--cpu={COMPILING_SECONDS}",
        *_threads(_MOST_PROCESSES),
    ]


def _threads(most: int) -> list[str]:
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    return [f"--nproc={most}"] if release >= _COUNTS_BY_NAMESPACE else []


def _command(
    way: str, command: Sequence[str], paths: Sequence[tuple[str, str]], folder: str, limits: Sequence[str]
) -> list[str]:
    """A command in a sandbox.

    paths   each with what is done with it, in order: to `read`, to `write`, `private`, to `hide`
    folder  the working directory
    """
    # Where the machine runs out of memory, Linux ends these processes first.
    limited = [*_LIMITS, *limits, "choom", "-n", "1000", "--", *command]
    size = str(max(_GIBIBYTE, memory_bytes() // 16))
    devices = [("read", name) for name in _DEVICES]
    if way == NAMESPACES:
        unshared = ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--pid"]
        words = [word for pair in (*paths, *devices) for word in pair]
        inside = [sys.executable, "-I", "-S", namespaces.__file__, size, *words, "--", folder, *limited]
        return control_groups.in_group(["unshare", *unshared, *inside])
    own = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--proc", "/proc"]
    for each, path in paths:
        if each == "read":
            own += ["--ro-bind", path, path]
        elif each == "write":
            own += ["--bind", path, path]
        elif each == "private" or os.path.isdir(path):
            own += ["--size", size, "--tmpfs", path]
        else:
            own += ["--ro-bind", "/dev/null", path]
    own += [word for _, path in devices for word in ("--dev-bind", path, path)]
    # bubblewrap leaves them to root, as it takes a folder's mode for that of what is in it.
    own += [word for name in OF_MACHINE for word in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")]
    read_only = ["/", *(path for each, path in paths if each == "hide" and os.path.isdir(path))]
    own += ["--dir", folder, *(word for path in read_only for word in ("--remount-ro", path)), "--chdir", folder]
    return control_groups.in_group(["bwrap", *own, "--", *limited])
