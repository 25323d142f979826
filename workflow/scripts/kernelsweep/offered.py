"""What `import kernelsweep` offers, for notebooks and tests. A name is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "load": "project.notebook",
    "run": "project.notebook",
    "checked_study": "sweep.study",
    "read_study": "sweep.study",
    "sweep_kernel": "measure.sweep_kernel",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"kernelsweep.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'kernelsweep' has no attribute {name!r}")
