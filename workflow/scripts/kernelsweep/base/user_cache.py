"""The user's folder of what is compiled outside of a repository, by `kernelsweep check` and `ks.Study`."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

_KEPT_DAYS = 30


def cache_folder() -> Path:
    """The folder of the user's in which compiled kernels are kept. What was not used for a month is deleted."""
    return _cleared(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelsweep")


@cache
def _cleared(folder: Path) -> Path:
    until = time.time() - _KEPT_DAYS * 24 * 3600
    for file in folder.glob("**/*"):
        if file.is_file() and file.stat().st_mtime < until:
            file.unlink(missing_ok=True)
    return folder
