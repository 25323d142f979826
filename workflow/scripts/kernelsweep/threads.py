"""The threads of this process. With one it is safe to fork; a fork would keep the locks that others held."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_TASKS = Path("/proc/self/task")


def thread_count() -> int:
    """The number of threads, those of libraries included; elsewhere than on Linux, of Python's threads only."""
    return len(os.listdir(_TASKS)) if _TASKS.is_dir() else threading.active_count()
