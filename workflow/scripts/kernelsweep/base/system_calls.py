"""The system calls that a process gives up before it loads code that nobody trusts (seccomp, of Linux)."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from functools import cache

from kernelsweep.errors import UserError

# The numbers of system calls, on x86-64 and on ARM: new processes, sockets and what is used like them, namespaces and
# mounts, other processes' memory, keys, and what only the machine's owner needs.
_CALLS = {
    **{"fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281)},
    **{"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "io_uring_setup": (425, 425)},
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "chroot": (161, 51)},
    **{"pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430)},
    **{"fsmount": (432, 432), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272)},
    **{"pidfd_getfd": (438, 438), "userfaultfd": (323, 282), "perf_event_open": (298, 241), "bpf": (321, 280)},
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "syslog": (103, 116)},
    **{"init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "reboot": (169, 142)},
}
# By machine: linux/audit.h's number, the column above, and the numbers of clone and seccomp.
_MACHINES = {"x86_64": (0xC000003E, 0, 56, 317), "aarch64": (0xC00000B7, 1, 220, 277)}
_CLONE3 = 435
# linux/bpf_common.h, linux/seccomp.h, linux/sched.h, linux/prctl.h
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _FAIL, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_FIRST_OF_X32, _CLONE_THREAD = 0x40000000, 0x00010000
_SET_MODE_FILTER, _OF_ALL_THREADS, _PR_SET_NO_NEW_PRIVS = 1, 1, 38


@cache
def give_up_calls() -> None:
    """Have the calls above, and new processes, fail in all threads of this process. Threads stay possible.

    Machines of other kinds have no such list, and keep all calls. Raises UserError where Linux refuses.
    """
    if (machine := platform.machine()) not in _MACHINES:
        return
    audit, column, clone, seccomp = _MACHINES[machine]
    fails = [(_RETURN, 0, 0, _FAIL | errno.EPERM)]
    rules = [(_LOAD, 0, 0, 4), (_IF_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    rules += [(_IF_AT_LEAST, 0, 1, _FIRST_OF_X32), *fails]
    for numbers in _CALLS.values():
        if (number := numbers[column]) is not None:
            rules += [(_IF_EQUAL, 0, 1, number), *fails]
    rules += [(_IF_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]  # The C library then takes clone.
    rules += [(_IF_EQUAL, 0, 3, clone), (_LOAD, 0, 0, 16), (_IF_SET, 1, 0, _CLONE_THREAD), *fails]
    rules += [(_RETURN, 0, 0, _ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    described = struct.pack("@HP", len(rules), ctypes.addressof(program))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if library.syscall(seccomp, _SET_MODE_FILTER, _OF_ALL_THREADS, described) != 0:
        raise UserError(f"The sandbox can't forbid system calls here (seccomp): {os.strerror(ctypes.get_errno())}.")
