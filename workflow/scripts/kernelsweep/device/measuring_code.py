"""The code that measurements depend on, besides the binary, the point and the protocol."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kernelsweep.base.code_hash import imported_modules

# What runs in a worker's process, on any platform. Modules that these import belong to it, too.
MEASURING = (
    "device/point/runner.py",
    "device/emulator.py",
    "device/gpu.py",
    "device/compare.ptx",
    "device/within.ptx",
)


@cache
def measuring_files() -> tuple[Path, ...]:
    """The files of that code, sorted."""
    package = Path(__file__).parents[1]
    starts = [package / name for name in MEASURING]
    return tuple(sorted({*starts, *(module for file in starts for module in imported_modules(file))}))
