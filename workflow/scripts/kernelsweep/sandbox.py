"""The sandbox of what an untrusted kernel can reach: compilers, and the emulator's processes (docs/grading.md).

bubblewrap makes it where it is installed, else the `unshare` of util-linux: namespaces of users, mounts, processes and
networks, with a file system that can only be read, apart from a job's temporary folder. `prlimit` limits memory, time
on the processor and the size of files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from kernelsweep.errors import UserError

# The environment variable that says to the jobs of a run which sandbox they use; unset where all code is trusted.
VARIABLE = "KERNELSWEEP_SANDBOX"
BUBBLEWRAP, NAMESPACES, NO_SANDBOX = "bubblewrap", "namespaces", "none"
_INSIDE = "inside"

_GIBIBYTE = 2**30
COMPILING_SECONDS = 120
_LIMITS = ["prlimit", f"--fsize={2 * _GIBIBYTE}", "--core=0"]
_OF_COMPILERS = [f"--as={16 * _GIBIBYTE}", f"--cpu={COMPILING_SECONDS}"]
_OF_EMULATOR = [f"--as={256 * _GIBIBYTE}"]  # of which each block that waits for others reserves one

# What compilers read besides their own folder and their arguments.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")

# $1: how many paths that can be read follow; then those, the folder to write to, the working directory, the command.
_IN_NAMESPACES = r"""
set -e; count=$1; shift; root=/mnt
mount -t tmpfs none "$root"
show() {
    if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root${1%/*}"; : > "$root$1"; fi
    mount --rbind "$1" "$root$1"
}
while [ "$count" -gt 0 ]; do show "$1"; count=$((count - 1)); shift; done
show "$1"; mkdir -p "$root/proc" "$root$2"; mount -t proc proc "$root/proc"
ours=
while read -r _ _ _ _ place _; do  # Mounts that the new root hides come before it.
    place=$(printf %b "$place")
    case "$ours$place" in "$root") ours=1; continue ;; esac
    [ -n "$ours" ] || continue
    case "$place" in
        "$root" | "$root$1" | "$root"/proc | "$root"/dev*) ;;
        "$root"*) mount -o remount,bind,ro "$place" 2>/dev/null || mount -o remount,bind,ro,nosuid,nodev "$place" ;;
    esac
done < /proc/self/mountinfo
folder=$2; shift 2
exec chroot "$root" sh -c 'cd "$1"; shift; exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$@"' \
    sh "$folder" "$@"
"""


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
        run = subprocess.run(_command(way, ["true"], [*_system()], "/tmp", _OF_COMPILERS), capture_output=True)
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
    read = [*_system(), *prefixes, *(path for path in named if path.exists())]
    return _command(way, command, read, _scratch(), _OF_COMPILERS)


def emulating(command: Sequence[str]) -> list[str]:
    """The command of a process that runs kernels on the emulator, in the sandbox if this run has one.

    It reads what this process reads, and writes to TMPDIR alone.
    """
    way, inside = os.environ.get(VARIABLE, NO_SANDBOX), ["env", f"{VARIABLE}={_INSIDE}", *command]
    return [*command] if way == NO_SANDBOX else _command(way, inside, ["/"], _scratch(), _OF_EMULATOR)


def check_inside() -> None:
    """Raise UserError where a kernel's code is to be loaded that is untrusted, by a process outside of the sandbox."""
    if os.environ.get(VARIABLE, NO_SANDBOX) not in (_INSIDE, NO_SANDBOX):
        raise UserError("A candidate's code runs in the sandbox alone: it can be graded, and not counted or drawn.")


def _scratch() -> str:
    return os.environ.get("TMPDIR", "/tmp")


def _system() -> list[Path]:
    return [Path(name) for name in _SYSTEM if os.path.exists(name)]


def _command(
    way: str, command: Sequence[str], read: Sequence[str | Path], scratch: str, limits: Sequence[str]
) -> list[str]:
    limited, cwd = [*_LIMITS, *limits, *command], os.getcwd()
    shown = list(dict.fromkeys(str(path) for path in read if not str(path).startswith(f"{scratch}/")))
    if way == BUBBLEWRAP:
        binds = [word for path in shown for word in ("--ro-bind", path, path)]
        places = [] if "/" in shown else ["--dir", cwd]
        kept = ["--dev", "/dev", "--proc", "/proc", "--bind", scratch, scratch, *places, "--chdir", cwd]
        own = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
        return ["bwrap", *own, *binds, *kept, "--", *limited]
    if "/" in shown:  # All but the scratch folder is read-only already.
        shown = [
            str(path)
            for path in sorted(Path("/").iterdir())
            if path.name not in ("proc", "sys", "dev") and path.exists()
        ]
    unshared = ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"]
    script = ["sh", "-c", _IN_NAMESPACES, "sh", str(len(shown) + len(_DEVICES)), *shown, *_DEVICES]
    return ["unshare", *unshared, *script, scratch, cwd, *limited]
