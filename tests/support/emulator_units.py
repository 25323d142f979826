"""Compile the kernels of emulator_kernels/ for the emulator, and name their lines as its messages do."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from checkout import ROOT

from kernelsweep.build import gcc

KERNELS = ROOT / "tests/support/emulator_kernels"
_FOLDER = tempfile.TemporaryDirectory()
INCLUDE = [ROOT / "workflow/emulator", ROOT / "workflow/emulator/include", ROOT / "kernels/include", ROOT]


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
    """The emulator's runtime, compiled once in this process."""
    compiled = Path(_FOLDER.name) / "runtime.o"
    gcc.compile_runtime(ROOT / "workflow/emulator", compiled)
    return compiled


def line_of(stem: str, mark: str) -> str:
    """file:line, as in the messages, of the line that ends with the comment `mark`."""
    for number, line in enumerate((KERNELS / f"{stem}.cu").read_text().splitlines(), start=1):
        if line.endswith(f"// {mark}"):
            return f"emulator_kernels/{stem}.cu:{number}"
    raise AssertionError(mark)
