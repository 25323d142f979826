"""Compile the kernels of emulator_kernels/ for the emulator, and name their lines as its messages do."""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import shutil
import tempfile
from pathlib import Path

from cuda_emulator import compile_runtime

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "emulator/tests/emulator_kernels"
# What all processes of a test run share: the process that starts the others makes it.
if "KERNELSWEEP_TESTS" not in os.environ:
    os.environ["KERNELSWEEP_TESTS"] = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, os.environ["KERNELSWEEP_TESTS"], ignore_errors=True)
SHARED = Path(os.environ["KERNELSWEEP_TESTS"])
UNITS = SHARED / "units"
INCLUDE = [ROOT / "kernels/include", ROOT]


def write_unit(path: Path, kernels: list[Path], names: list[str]) -> Path:
    includes = "".join(f'#include "{kernel}"\n' for kernel in kernels)
    table = "".join(f'    EMULATOR_ENTRY("{name}", {name}),\n' for name in names)
    path.write_text(
        f'#include "emulator.hpp"\n{includes}'
        f"static const emulator::Entry entries[] = {{\n{table}}};\n"
        f"static const emulator::Symbol symbols[] = {{{{}}}};\nEMULATOR_EXPORT(entries, symbols)\n",
        encoding="utf-8",
    )
    return path


@functools.cache
def runtime() -> Path:
    """The emulator's runtime, compiled once in a test run."""
    compiled = SHARED / "runtime.o"
    with (SHARED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not compiled.exists():
            compile_runtime(compiled)
    return compiled


def line_of(stem: str, mark: str) -> str:
    """file:line, as in the messages, of the line that ends with the comment `mark`."""
    for number, line in enumerate((KERNELS / f"{stem}.cu").read_text().splitlines(), start=1):
        if line.endswith(f"// {mark}"):
            return f"emulator_kernels/{stem}.cu:{number}"
    raise AssertionError(mark)
