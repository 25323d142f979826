"""The sandbox of what an untrusted kernel can reach: compilers, and the emulator's processes (docs/grading.md).

bubblewrap makes it: namespaces of users, mounts, processes and networks, with a file system that can only be read,
apart from a job's temporary folder. `prlimit` limits memory, time on the processor and the size of files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from kernelsweep.errors import UserError

# The environment variable that says to the jobs of a run which sandbox they use; unset where all code is trusted.
VARIABLE = "KERNELSWEEP_SANDBOX"
BUBBLEWRAP, NO_SANDBOX = "bubblewrap", "none"
_INSIDE = "inside"

_GIBIBYTE = 2**30
COMPILING_SECONDS = 120
_LIMITS = ["prlimit", f"--fsize={2 * _GIBIBYTE}", "--core=0"]
_OF_COMPILERS = [f"--as={16 * _GIBIBYTE}", f"--cpu={COMPILING_SECONDS}"]
_OF_EMULATOR = [f"--as={64 * _GIBIBYTE}"]

# What compilers read besides their own folder and their arguments.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


def choose_sandbox(may_lack: bool) -> str:
    """The sandbox that this machine has. Raises UserError where it has none, unless it `may_lack` one."""
    if works():
        return BUBBLEWRAP
    if may_lack:
        return NO_SANDBOX
    raise UserError(
        "grade runs compilers and the emulator on code that nobody trusts, and this machine has no sandbox for them: "
        "bubblewrap (apt install bubblewrap) is missing, or can't make namespaces here, as in some containers. "
        "Grade elsewhere, or where the machine itself is thrown away afterwards: --config sandbox=none."
    )


def works() -> bool:
    """Whether bubblewrap runs here."""
    try:
        run = subprocess.run(_command(["true"], [*_system()], "/tmp", _OF_COMPILERS), capture_output=True)
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
    if os.environ.get(VARIABLE, NO_SANDBOX) == NO_SANDBOX:
        return [*command]
    prefixes = [Path(found).resolve().parent.parent for tool in tools if (found := shutil.which(tool))]
    named = [Path(word.removeprefix("-I")).absolute() for word in command[1:] if "/" in word]
    read = [*_system(), *prefixes, *(path for path in named if path.exists())]
    return _command(command, read, _scratch(), _OF_COMPILERS)


def emulating(command: Sequence[str]) -> list[str]:
    """The command of a process that runs kernels on the emulator, in the sandbox if this run has one.

    It reads what this process reads, and writes to TMPDIR alone.
    """
    if os.environ.get(VARIABLE, NO_SANDBOX) == NO_SANDBOX:
        return [*command]
    return _command(["env", f"{VARIABLE}={_INSIDE}", *command], ["/"], _scratch(), _OF_EMULATOR)


def check_inside() -> None:
    """Raise UserError where a kernel's code is to be loaded that is untrusted, by a process outside of the sandbox."""
    if os.environ.get(VARIABLE, NO_SANDBOX) not in (_INSIDE, NO_SANDBOX):
        raise UserError("A candidate's code runs in the sandbox alone: it can be graded, and not counted or drawn.")


def _scratch() -> str:
    return os.environ.get("TMPDIR", "/tmp")


def _system() -> list[Path]:
    return [Path(name) for name in _SYSTEM if os.path.exists(name)]


def _command(command: Sequence[str], read: Sequence[str | Path], scratch: str, limits: Sequence[str]) -> list[str]:
    cwd = os.getcwd()
    shown = list(dict.fromkeys(str(path) for path in read if not str(path).startswith(f"{scratch}/")))
    binds = [word for path in shown for word in ("--ro-bind", path, path)]
    places = [] if "/" in shown else ["--dir", cwd]
    kept = ["--dev", "/dev", "--proc", "/proc", "--bind", scratch, scratch, *places, "--chdir", cwd]
    unshared = ["--unshare-all", "--die-with-parent", "--new-session"]
    return ["bwrap", *unshared, *binds, *kept, "--", *_LIMITS, *limits, *command]
