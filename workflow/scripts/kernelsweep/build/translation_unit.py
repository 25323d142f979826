"""Generate the source of a translation unit, which includes a kernel's file and names its functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.sweep.kernels.source import ATTRIBUTES
from kernelsweep.sweep.kernels.units import Unit

_HEAD = "// Generated: the kernel's file and the variants that are compiled with it. Edit the kernel instead.\n"


def cuda_unit(kernel_file: Path, unit: Unit) -> str:
    """The unit for nvcc: a table of the functions' addresses, which has nvcc compile each of them."""
    addresses = "".join(f"    (void *)&{name},\n" for name in unit.functions)
    return _HEAD + f'#include "{kernel_file}"\n\nvoid *kernelsweep_functions[] = {{\n{addresses}}};\n'


def emulator_unit(kernel_file: Path, unit: Unit, constants: Sequence[str] = ()) -> str:
    """The unit for g++: the emulator's header, the kernel, and a table of its functions, which are called by index.

    constants  the variables in constant memory whose addresses the library gives
    """
    entries = "".join(f'    emulator::entry("{name}", &{name}),\n' for name in unit.functions)
    symbols = "".join(f"EMULATOR_SYMBOL({name})\n" for name in constants)
    return (
        _HEAD
        + f'#include "emulator.hpp"\n#include "{kernel_file}"\n\n'
        + f"static const emulator::Entry entries[] = {{\n{entries}}};\nEMULATOR_EXPORT(entries)\n{symbols}"
    )


def parameter_names(source: str, kernel: str) -> list[str]:
    """The names of a kernel's function parameters, in order; empty if the source has no such kernel."""
    match = _kernel_function(source, kernel)
    parameters = match[1].split(",") if match else []
    return [re.findall(r"\w+", parameter)[-1] for parameter in parameters if parameter.strip()]


def _kernel_function(source: str, kernel: str) -> re.Match[str] | None:
    """A match of the kernel's function, with its parameters as the first group."""
    return re.search(rf"__global__\s+void\s+{ATTRIBUTES}{kernel}\s*\(([^)]*)\)", source)
