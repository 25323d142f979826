"""What `import kernelsweep` offers, for notebooks and tests. A name is imported when it is first used.

check(file, ...)       is a kernel right? On the emulator, without a GPU
Study(kernel=..., ...)  the same as an object: check(), sweep() as a frame, save() as a study's files
load(folder)           the results of a platform as frames
run(study)             run a study of this folder, by its file or name
read_study, checked_study, sweep_kernel  what these are made of
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# The emulator is a package of its own. Each process that imports this library finds the one that belongs to it.
_EMULATOR = str(Path(__file__).resolve().parents[3] / "emulator")
if _EMULATOR not in sys.path:
    sys.path.insert(0, _EMULATOR)

_MODULES = {
    "load": "project.notebook",
    "run": "project.notebook",
    "checked_study": "study.study",
    "read_study": "study.study",
    "sweep_kernel": "sweep.sweep_kernel",
    "Study": "project.given_study",
    "check": "project.given_study",
}


NAMES = [*_MODULES]


def __dir__() -> list[str]:
    return NAMES


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"kernelsweep.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'kernelsweep' has no attribute {name!r}")
