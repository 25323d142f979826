"""What `import kernelsweep` offers, for notebooks: load() and run(), which are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("load", "run"):
        return getattr(import_module("kernelsweep.project.notebook"), name)
    raise AttributeError(f"module 'kernelsweep' has no attribute {name!r}")
