"""Leases of GPUs: one job at a time has a GPU, or several that time nothing; several GPUs have a job each.

A lease is a lock on a file in /tmp, taken before CUDA starts. It ends with its process. All users of a machine share
/tmp, while TMPDIR may differ from job to job, and /run/lock is not writable for users everywhere. /dev/shm won't do
either: systemd deletes a user's files there at logout, while jobs still run.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernelsweep.base.locks import lock_first, lock_now
from kernelsweep.device.gpus import Gpu, check_state, gpus_of
from kernelsweep.device.kinds import kind_of
from kernelsweep.errors import UserError

FOLDER = Path("/tmp")

# Jobs of one run wait for each other, too, which is no news.
NOTICE_SECONDS = 30.0


@contextmanager
def free_gpus(devices: Sequence[str]) -> Iterator[list[str]]:
    """Keep the `devices` that are free now for this process. Yields their UUIDs."""
    with ExitStack() as leases:
        free = []
        for device in devices:
            if (file := lock_now(_lock_of(device), _opened)) is not None:
                leases.callback(os.close, file)
                free.append(device)
        yield free


@contextmanager
def leased_gpu(
    platform: str, notify: Callable[[str], None] = print, *, only: str = "", shared: bool = False
) -> Iterator[Gpu]:
    """A free GPU of the platform's model, which is the only visible GPU for processes started meanwhile.

    notify  gets a line for the user if the wait exceeds NOTICE_SECONDS
    only    the UUID of the GPU that it has to be, if any
    shared  other jobs that share it may have it, too
    """
    gpus = {_lock_of(gpu.uuid): gpu for gpu in gpus_of(platform) if only in ("", gpu.uuid)}

    def waiting() -> None:
        which = f"GPU {next(iter(gpus.values())).uuid}" if len(gpus) == 1 else f"any of {len(gpus)} GPUs"
        notify(f"waiting for {which}, which another process uses")

    path, file = lock_first(list(gpus), _opened, waiting, patience=NOTICE_SECONDS, shared=shared)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[path].uuid
    try:
        yield gpus[path]
    finally:
        os.close(file)
        del os.environ["CUDA_VISIBLE_DEVICES"]
        if visible is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible


@contextmanager
def leased_device(
    platform: str,
    device: Mapping[str, Any],
    notify: Callable[[str], None] = print,
    *,
    only: str = "",
    shared: bool = False,
) -> Iterator[str]:
    """Lease the platform's device: a GPU, or nothing if the platform needs none. Yields the GPU's UUID, or "".

    device  the platform's description, as in device.json
    only    the UUID of the GPU that it has to be, if any
    shared  other jobs that share it may have it, too

    Prints which GPU it is and when, for the log. Raises UserError if its driver or a limit is not the description's.
    """
    if not kind_of(platform).needs_gpu:
        yield ""
        return
    with leased_gpu(platform, notify, only=only, shared=shared) as gpu:
        check_state(gpu, device)
        print(f"on {gpu.name}, {gpu.uuid}, from {datetime.now(UTC).isoformat()}", flush=True)
        yield gpu.uuid
        print(f"until {datetime.now(UTC).isoformat()}", flush=True)


def _lock_of(device: str) -> Path:
    return FOLDER / f"kernelsweep-{device}.lock"


def _opened(path: Path) -> int:
    """Open a lock file, which another user may own: read-only, and not through a planted link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    mask = os.umask(0)
    try:
        # O_CREAT without O_EXCL is refused for a file of another user if /tmp is protected.
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o444)
    except FileExistsError:
        pass
    except OSError as error:
        raise UserError(f"{path}, the lock file of a GPU, can't be created: {error.strerror}.") from error
    finally:
        os.umask(mask)
    try:
        return os.open(path, flags)
    except FileNotFoundError:  # Deleted in between.
        return _opened(path)
    except OSError as error:
        what = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise UserError(
            f"{path}, the lock file of a GPU, can't be opened: {what}. Remove it while no measurement runs, or ask its "
            "owner to remove it."
        ) from error
