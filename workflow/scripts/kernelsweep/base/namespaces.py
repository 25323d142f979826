"""Make the file system of a sandbox, and run a command in it: a script that sandbox.py starts in new namespaces.

    python -I -S namespaces.py SIZE [WAY PATH]... -- FOLDER COMMAND...

SIZE is how large a private folder may be, WAY what is done with a path (sandbox.py), FOLDER the working directory. This
calls Linux itself: `mount` as a process for each path took five times as long. It imports little, since each call of a
compiler starts it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings  # noqa: F401  # os.execvp() imports it, where this Python is no longer seen

_ROOT = "/mnt"
# Of /proc, what steers the whole machine; root's candidate could write there, as the machine's root.
OF_MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")

# linux/mount.h
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE = 0x1, 0x20, 0x1000, 0x4000
_FLAGS = {"nosuid": 0x2, "nodev": 0x4, "noexec": 0x8, "nosymfollow": 0x100, "noatime": 0x400, "nodiratime": 0x800}
_FLAGS["relatime"] = 0x200000
_DETACH = 2
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9  # linux/prctl.h, signal.h

_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: str | int | None) -> None:
    """Call a function of libc. Raises OSError."""
    given = [os.fsencode(one) if isinstance(one, str) else one for one in arguments]
    if getattr(_LIBC, name)(*(ctypes.c_ulong(one) if isinstance(one, int) else one for one in given)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}", str(arguments))


def _mount(source: str, place: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    _call("mount", source, place, kind, flags, options)


def _place(path: str) -> str:
    """Where a path is in the new root, which gets a folder or a file there to mount on."""
    place = f"{_ROOT}{path}"
    os.makedirs(place if os.path.isdir(path) else os.path.dirname(place), exist_ok=True)
    if not os.path.exists(place):
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
    return place


def _fill(paths: list[tuple[str, str]], size: str) -> set[str]:
    """Mount what is seen in the new root. Returns the places that may be written to."""
    writable = set()
    for way, path in paths:
        if way == "hide":
            if os.path.isdir(path):
                _mount("none", f"{_ROOT}{path}", "tmpfs")
            else:
                _mount(os.devnull, f"{_ROOT}{path}", flags=_BIND)
            continue
        place = _place(path)
        if way == "private":
            _mount("none", place, "tmpfs", options=f"size={size}")
        else:
            _mount(path, place, flags=_BIND | _RECURSIVE)
        if way != "read":
            writable.add(place)
    return writable


def _protect(writable: set[str]) -> None:
    """Have what is mounted in the new root read-only, but for these places and /proc."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounts = [line.split(" ")[4:6] for line in file]
    is_ours = False  # Mounts that the new root hides come before it.
    for name, options in mounts:
        place = os.fsdecode(os.fsencode(name).decode("unicode_escape").encode("latin-1"))  # A blank is \040 there.
        if not is_ours:
            is_ours = place == _ROOT
            continue
        if not place.startswith(f"{_ROOT}/") or place in {*writable, f"{_ROOT}/proc"}:
            continue
        kept = {option for option in options.split(",") if option in _FLAGS}
        kept |= set() if place.startswith(f"{_ROOT}/dev/") else {"nosuid", "nodev"}
        _mount("none", place, flags=_REMOUNT | _BIND | _READ_ONLY | sum(_FLAGS[option] for option in kept))


def _fork() -> None:
    """Go on as the first process of the new namespace, in a session of its own: kill(0) would end the job, too.

    This process waits for it, and exits as it does: with 128 and the number for a signal, as bubblewrap. The option
    `--fork` of util-linux 2.38 exits with 1.
    """
    if process := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os._exit(status if status >= 0 else 128 - status)
    _LIBC.prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    os.setsid()


def run(size: str, paths: list[tuple[str, str]], folder: str, command: list[str]) -> None:
    """Run a command in a folder, where it sees these paths, and exit as it does. Raises OSError."""
    _fork()
    _mount("none", _ROOT, "tmpfs", options=f"size={size}")
    writable = _fill(paths, size)
    for name in ("/proc", "/old", folder):
        os.makedirs(f"{_ROOT}{name}", exist_ok=True)
    _mount("proc", f"{_ROOT}/proc", "proc")
    try:
        with open(f"{_ROOT}/proc/sys/user/max_user_namespaces", "w", encoding="utf-8") as file:
            file.write("0")
    except OSError:
        pass
    for place in (f"{_ROOT}/proc/{name}" for name in OF_MACHINE):
        if os.path.exists(place):
            _mount(place, place, flags=_BIND)
    _protect(writable)
    os.chdir(_ROOT)
    _call("pivot_root", ".", "old")
    _call("umount2", "/old", _DETACH)
    _mount("none", "/", flags=_REMOUNT | _BIND | _READ_ONLY)
    os.chdir(folder)
    as_nobody = ["setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    os.execvp("setpriv", [*as_nobody, *command])


if __name__ == "__main__":
    given = sys.argv[2:]
    end = given.index("--")
    run(sys.argv[1], [*zip(given[:end:2], given[1:end:2], strict=True)], given[end + 1], given[end + 2 :])
