"""Leases of GPUs: one job at a time has a GPU, or several that time nothing; several GPUs have a job each.

A lease is a lock on a file in /tmp, taken before CUDA starts. It ends with its process. All users of a machine share
/tmp, while TMPDIR may differ from job to job, and /run/lock is not writable for users everywhere. /dev/shm won't do
either: systemd deletes a user's files there at logout, while jobs still run.

A file of each user's beside the lock says which job has the GPU, at which point, so that a job that waits can tell.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from kernelsweep.base.locks import lock_first, lock_now
from kernelsweep.base.logs import in_minutes, notifier
from kernelsweep.base.plain_files import read_text
from kernelsweep.device.gpus import Gpu, check_state, gpus_of
from kernelsweep.device.kinds import kind_of
from kernelsweep.errors import UserError

FOLDER = Path("/tmp")

# Jobs of one run wait for each other, too, which is no news.
NOTICE_SECONDS = 30.0

# The bytes of a note, which is written at once.
_NOTE_BYTES = 2048


class Lease:
    """A device that this process has.

    uuid  its GPU's; "" where the platform needs none
    """

    def __init__(self, uuid: str = "", job: str = "") -> None:
        self.uuid, self._job, self._since = uuid, job, time.time()
        self._note: int | None = None
        if uuid:
            with suppress(OSError):  # Another user may have planted something there.
                flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                self._note = os.open(_lock_of(uuid).with_suffix(f".{os.getuid()}.json"), flags, 0o644)
        self.tell("")

    def tell(self, point: object) -> None:
        """Note the point that runs now, for jobs that wait; "" for none."""
        if self._note is not None:
            noted = {"job": self._job, "since": self._since, "point": str(point), "at": time.time()}
            with suppress(OSError):
                os.pwrite(self._note, json.dumps(noted).encode().ljust(_NOTE_BYTES), 0)

    def close(self) -> None:
        """Note that the job has given the device back."""
        if self._note is not None:
            with suppress(OSError):
                os.ftruncate(self._note, 0)
            os.close(self._note)
            self._note = None


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
    platform: str, notify: Callable[[str], None] = print, *, job: str = "", only: str = "", shared: bool = False
) -> Iterator[tuple[Gpu, Lease]]:
    """A free GPU of the platform's model, which is the only visible GPU for processes started meanwhile.

    notify  gets a line for the user if the wait exceeds NOTICE_SECONDS
    job     its name, for others that wait
    only    the UUID of the GPU that it has to be, if any
    shared  other jobs that share it may have it, too
    """
    gpus = {_lock_of(gpu.uuid): gpu for gpu in gpus_of(platform) if only in ("", gpu.uuid)}

    def waiting() -> None:
        which = f"GPU {next(iter(gpus.values())).uuid}" if len(gpus) == 1 else f"any of {len(gpus)} GPUs"
        notify(f"waiting for {which}, which {_holder(gpu.uuid for gpu in gpus.values())}")

    path, file = lock_first(list(gpus), _opened, waiting, patience=NOTICE_SECONDS, shared=shared)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[path].uuid
    lease = Lease(gpus[path].uuid, job)
    try:
        yield gpus[path], lease
    finally:
        lease.close()
        os.close(file)
        del os.environ["CUDA_VISIBLE_DEVICES"]
        if visible is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible


@contextmanager
def leased_device(
    platform: str,
    device: Mapping[str, Any],
    job: str,
    terminal: TextIO,
    *,
    only: str = "",
    shared: bool = False,
) -> Iterator[Lease]:
    """Lease the platform's device: a GPU, or nothing if the platform needs none.

    terminal  gets a line if the job waits for long itself

    Prints which GPU it is and when, for the log. Raises UserError if its driver or a limit is not the description's.
    """
    if not kind_of(platform).needs_gpu:
        yield Lease()
        return
    with leased_gpu(platform, notifier(terminal, job), job=job, only=only, shared=shared) as (gpu, lease):
        check_state(gpu, device)
        print(f"on {gpu.name}, {gpu.uuid}, from {datetime.now(UTC).isoformat()}", flush=True)
        yield lease
        print(f"until {datetime.now(UTC).isoformat()}", flush=True)


def _lock_of(device: str) -> Path:
    return FOLDER / f"kernelsweep-{device}.lock"


def _holder(devices: Iterable[str]) -> str:
    """Who has one of these devices, and for how long: "axpy/axpy has had for 0:40, now at n 510 for 0:31"."""
    notes = [path for device in devices for path in FOLDER.glob(f"{_lock_of(device).stem}.*.json")]
    with suppress(OSError, ValueError, KeyError, TypeError):  # A note is anybody's, and may be gone.
        note = json.loads(read_text(max(notes, key=lambda path: path.stat().st_mtime), most=_NOTE_BYTES))
        now = time.time()
        at = f", now at {note['point']} for {in_minutes(now - note['at'])}" if note["point"] else ""
        told = f"{note['job'] or 'another process'} has had for {in_minutes(now - note['since'])}{at}"
        return told if told.isprintable() else "another process uses"
    return "another process uses"


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
