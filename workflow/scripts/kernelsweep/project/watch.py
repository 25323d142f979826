"""`kernelsweep watch`: what an edit did, after each saved file.

Each comparison is a fork of one process that has imported Snakemake and this library.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

_SECONDS_BETWEEN_LOOKS = 0.2
_SAVED = frozenset({".cu", ".cuh", ".cpp", ".h", ".hpp", ".py", ".yaml", ".yml"})


def watch(compare: Callable[[], NoReturn]) -> NoReturn:
    """Compare now, and after each saved file below this folder, until Ctrl-C."""
    for module in ("snakemake.cli", "kernelsweep.project.targets", "pandas"):  # the last by Snakemake, once a job ends
        importlib.import_module(module)

    saved = _saved()
    while True:
        if (pid := os.fork()) == 0:
            compare()
        try:
            os.waitpid(pid, 0)
        except KeyboardInterrupt:  # It is the comparison's, too, which says what it has kept.
            os.waitpid(pid, 0)
            raise
        print("Waiting for a saved file. Ctrl-C ends it.", file=sys.stderr, flush=True)
        while (now := _saved()) == saved:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        while saved != now:  # An editor may write several files, or one in parts.
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            saved, now = now, _saved()


def _saved() -> dict[str, int]:
    """When each source below this folder was written, ns; without hidden folders and results."""
    found = {}
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith((".", "__")) and name != "results"]
        for path in (Path(folder, name) for name in files if Path(name).suffix in _SAVED):
            if path.exists():
                found[str(path)] = path.stat().st_mtime_ns
    return found
