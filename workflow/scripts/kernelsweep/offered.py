"""Check CUDA kernels, sweep them and read their results, in a notebook, a test or a script. docs/check.md has more.

import kernelsweep as ks

ks.check("axpy.cu", ...)        is a kernel right? On the emulator, without a GPU
ks.Study(kernel="axpy.cu", ...)  a study as an object: check(), sweep() as a frame, compare(), save() as files
ks.load("results/nvidia-h200")  a platform's results: frames of pandas, and figures
ks.run("axpy")                  run a study of this folder; returns its results
ks.bounds                       error bounds of the literature, for a study's error_bound

ks.read_study, ks.checked_study and ks.sweep_kernel are what these are made of.
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

MODULES = {
    "load": "project.notebook",
    "run": "project.notebook",
    "checked_study": "study.study",
    "read_study": "study.study",
    "sweep_kernel": "sweep.sweep_kernel",
    "Study": "project.given_study",
    "check": "project.given_study",
}


NAMES = [*MODULES, "bounds"]


def __dir__() -> list[str]:
    return NAMES


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("kernelsweep.home").version()
    if name == "bounds":
        return import_module("kernelsweep.bounds")
    if name in MODULES:
        return getattr(import_module(f"kernelsweep.{MODULES[name]}"), name)
    raise AttributeError(f"module 'kernelsweep' has no attribute {name!r}")
