"""Ways out of the sandbox, each a few lines of Python that have to fail inside; and what has to work there.

Run as a program, it tries them all in its own process, and prints a line of JSON: the ways that were open.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# By name: what is tried. A way is closed where it raises OSError or returns something false. PROJECT, HOME and OUTSIDE
# are folders of the machine, PID is a process of it, PORT one of its ports.
READ = {
    "passwords": "/etc/passwd",
    "shadow": "/etc/shadow",
    "key": "HOME/.ssh/id_rsa",
    "secret": "PROJECT/results/grade.secret",
    "results": "PROJECT/results/emulator/measurements.csv",
    "candidate": "PROJECT/candidates/other.cu",
    "tokens": "PROJECT/.env",
    "history": "PROJECT/.git/config",
    "temporary": "OUTSIDE/file",
    "environment": "/proc/PID/environ",
    "root_of_process": "/proc/PID/root/etc/passwd",
    "memory": "/proc/kcore",
    "messages": "/proc/kmsg",
    "device_messages": "/dev/kmsg",
    "memory_device": "/dev/mem",
    "disk": "/dev/vda",
    "terminal": "/dev/tty",
    "fuse": "/dev/fuse",
}
WRITE = {
    "host_name": "/proc/sys/kernel/hostname",
    "core_pattern": "/proc/sys/kernel/core_pattern",
    "panic": "/proc/sys/kernel/panic",
    "modprobe": "/proc/sys/kernel/modprobe",
    "files": "/proc/sys/fs/file-max",
    "namespaces": "/proc/sys/user/max_user_namespaces",
    "keys_of_kernel": "/proc/sysrq-trigger",
    "interrupts": "/proc/irq/default_smp_affinity",
    "system": "/usr/mine",
    "loader": "/etc/ld.so.cache",
    "library": "/lib/mine",
    "root": "/mine",
    "problem": "PROJECT/kernels/problem.py",
    "beside_problem": "PROJECT/kernels/mine",
    "build": "PROJECT/results/build/unit",
    "beside_build": "PROJECT/results/build/mine",
    "python": f"{sys.base_prefix}/mine",
    "package": f"{Path(__file__).resolve().parent}/kernelsweep/errors.py",
    "shared_memory": "/dev/shm/mine",
    "devices": "/dev/mine",
    "hidden": "PROJECT/candidates/mine",
    "cgroup": "/sys/fs/cgroup/cgroup.procs",
}
_C = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> bool:
    """Call a function of the C library. Raises OSError where it fails."""
    ctypes.set_errno(0)
    if getattr(_C, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
    return True


def _system_call(number: int, of_arm: int, *arguments: Any) -> bool:
    return _call("syscall", number if os.uname().machine == "x86_64" else of_arm, *arguments)


def _is_forbidden(number: int, of_arm: int) -> bool:
    """Whether a system call is refused before it looks at its arguments, which are nonsense."""
    try:
        return _system_call(number, of_arm, -1, -1, -1, -1, -1, -1)
    except OSError as error:
        return error.errno not in (1, 38)  # EPERM, ENOSYS


def _connects(family: int, address: Any) -> bool:
    with socket.socket(family) as end:
        end.settimeout(1)
        end.connect(address)
    return True


def _socket(family: int, kind: int = socket.SOCK_DGRAM) -> bool:
    socket.socket(family, kind).close()
    return True


def _can_raise(limit: int) -> bool:
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError:
        return False
    return True


def _starts(count: int) -> bool:
    """Whether so many threads run at a time."""
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(count)]
    threading.stack_size(2**16)
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        return False
    finally:
        end.set()
    return True


def _fork() -> bool:
    if (pid := os.fork()) == 0:
        os._exit(0)
    return bool(os.waitpid(pid, 0))


def _grows(file: str, size: int) -> bool:
    with open(file, "wb") as grown:
        grown.truncate(size)
    os.unlink(file)
    return True


def _room(folder: str) -> int:
    """How many bytes a folder may hold."""
    of_folder = os.statvfs(folder)
    return of_folder.f_frsize * of_folder.f_blocks


def ways(names: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """All ways by name.

    names  what the words of the tables stand for
    """

    def place(path: str) -> str:
        for name, value in names.items():
            path = path.replace(name, value)
        return path

    def opens(path: str, flags: int) -> Callable[[], Any]:
        return lambda: os.close(os.open(place(path), flags | os.O_NONBLOCK)) or True

    def status() -> str:
        return Path("/proc/self/status").read_text(encoding="utf-8")

    project, problem = place("PROJECT"), place("PROJECT/kernels/problem.py")
    unix = socket.AF_UNIX
    return {
        **{f"read_{name}": opens(path, os.O_RDONLY) for name, path in READ.items()},
        **{f"write_{name}": opens(path, os.O_WRONLY | os.O_CREAT) for name, path in WRITE.items()},
        "list_candidates": lambda: [*Path(project, "candidates").iterdir()],
        "list_home": lambda: [name for name in os.listdir(place("HOME")) if name == ".ssh"],
        "list_sys": lambda: os.listdir("/sys"),
        "list_devices": lambda: {*os.listdir("/dev")} - {"null", "zero", "urandom"},
        "list_processes": lambda: {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()},
        "change_mode": lambda: os.chmod(problem, 0o777) or True,
        "change_owner": lambda: os.chown(problem, 1, 1) or True,
        "change_time": lambda: os.utime(problem) or True,
        "remove": lambda: os.unlink(problem) or True,
        "rename": lambda: os.rename(problem, f"{problem}.old") or True,
        "link": lambda: os.link(problem, f"{problem}.link") or True,
        "node": lambda: os.mknod("/tmp/null", 0o20666, os.makedev(1, 3)) or True,
        "tcp": lambda: _connects(socket.AF_INET, ("127.0.0.1", int(place("PORT")))),
        "network": lambda: _connects(socket.AF_INET, ("192.0.2.1", 80)),
        "socket_in_project": lambda: _connects(unix, f"{project}/kernels/s"),
        "socket_outside": lambda: _connects(unix, place("OUTSIDE/s")),
        "abstract_socket": lambda: _connects(unix, "\0" + place("kernelsweep-PORT")),
        "virtual_machine": lambda: _socket(40, socket.SOCK_STREAM),  # AF_VSOCK, which no namespace has
        "netlink": lambda: _socket(socket.AF_NETLINK),
        "packets": lambda: _socket(socket.AF_PACKET),
        "cryptography": lambda: _socket(38, socket.SOCK_SEQPACKET),  # AF_ALG
        "fork": _fork,
        "shell": lambda: os.system("true") == 0,
        "session_of_job": lambda: 0 in (os.getsid(0), os.getpgid(0)),  # kill(0) ends the job where it is outside
        "other_process": lambda: os.kill(int(place("PID")), 0) or True,
        "descriptors": lambda: {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, 3},
        "variables": lambda: [name for name in os.environ if "TOKEN" in name],
        "capabilities": lambda: "CapEff:\t0000000000000000" not in status(),
        "new_privileges": lambda: "NoNewPrivs:\t1" not in status(),
        "user": lambda: os.setuid(os.getuid() + 1) or True,
        "group": lambda: os.setgid(os.getgid() + 1) or True,
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) or True,
        "real_time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or True,
        "spared_by_memory": lambda: Path("/proc/self/oom_score_adj").write_text("-1000", encoding="utf-8"),
        "new_host_name": lambda: _call("sethostname", b"mine", 4),
        "new_root": lambda: os.chroot("/tmp") or True,
        "mount": lambda: _call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "remount": lambda: _call("mount", b"none", b"/usr", None, 4096 | 32, None),  # MS_BIND | MS_REMOUNT
        "unmount": lambda: _call("umount2", b"/usr", 2),
        "user_namespace": lambda: _call("unshare", 0x10000000),
        "mount_namespace": lambda: _call("unshare", 0x00020000),
        "file_size": lambda: _can_raise(resource.RLIMIT_FSIZE),
        "core_file": lambda: _can_raise(resource.RLIMIT_CORE),
        "address_space": lambda: _can_raise(resource.RLIMIT_AS),
        "core_dump": lambda: resource.getrlimit(resource.RLIMIT_CORE)[1] != 0,
        "much_memory": lambda: mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ),
        "large_file": lambda: _grows(f"{os.environ['TMPDIR']}/large", 3 << 30),
        "full_memory": lambda: _room("/tmp") > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2,
        **{
            f"call_{name}": lambda numbers=numbers: _is_forbidden(*numbers)
            for name, numbers in {
                **{"program": (59, 221), "trace": (101, 117), "read_memory": (310, 270), "write_memory": (311, 271)},
                **{"programs": (321, 280), "counters": (298, 241), "page_faults": (323, 282), "rings": (425, 425)},
                **{"handles": (304, 265), "module": (313, 273), "kernel": (246, 104), "join_namespace": (308, 268)},
                **{"new_mounts": (430, 430), "old_mounts": (428, 428), "descriptor_of": (438, 438), "keys": (250, 219)},
            }.items()
        },
    }


# What honest code does there.
NEEDED: dict[str, Callable[[], Any]] = {
    "scratch": lambda: _grows(f"{os.environ['TMPDIR']}/mine", 1 << 20),
    "random_numbers": lambda: os.urandom(8),
    "threads": lambda: _starts(48),
    "pipes": os.pipe,
    "time": time.time,
    "arrays": lambda: mmap.mmap(-1, 2**30),
    "own_signals": lambda: os.kill(os.getpid(), signal.SIGCONT) is None,
}


def _tried(way: Callable[[], Any]) -> bool:
    try:
        return bool(way())
    except (OSError, FileNotFoundError):
        return False


if __name__ == "__main__":
    if "--loaded" in sys.argv:  # as the emulator's process does before it loads a candidate
        from kernelsweep.base.sandbox import before_code_is_loaded

        before_code_is_loaded()
    given = json.loads(sys.argv[1])
    tried = {name: _tried(way) for name, way in ways(given).items()}
    done = {name: _tried(way) for name, way in NEEDED.items()}
    problem = Path(given["PROJECT"], "kernels/problem.py").read_text(encoding="utf-8")
    print(json.dumps({"open": tried, "done": done, "problem": problem}))
