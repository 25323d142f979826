"""Generate the source of a translation unit, which includes a kernel's file and names its functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.sweep.kernels.source import ATTRIBUTES, read_source
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
    source = read_source(kernel_file)
    entries = "".join(
        f'    emulator::entry("{name}", &{name}, {launch_bounds(source, name)}),\n' for name in unit.functions
    )
    symbols = "".join(f"EMULATOR_SYMBOL({name})\n" for name in constants)
    return (
        _HEAD
        + f'#include "emulator.hpp"\n#include "{kernel_file}"\n\n'
        + f"static const emulator::Entry entries[] = {{\n{entries}}};\nEMULATOR_EXPORT(entries)\n{symbols}"
    )


def launch_bounds(source: str, function: str) -> str:
    """The threads that a function's __launch_bounds__ allows a block, as C++ for this instance; "0" without bounds.

    The bounds of functions in namespaces, and of template arguments with commas, are not found.
    """
    name, _, arguments = function.partition("<")
    declared = re.search(rf"(?:template\s*<([^<>]*)>\s*)?__global__([^;{{}}]*?)\b{re.escape(name)}\s*\(", source)
    bounds = declared and re.search(r"__launch_bounds__\s*\(\s*([^(),]+)", declared[2])
    if not declared or not bounds:
        return "0"
    parameters = [parameter.partition("=")[0].split()[-1] for parameter in (declared[1] or "").split(",") if parameter]
    values = arguments.removesuffix(">").split(", ") if arguments else []
    if len(parameters) != len(values):
        return "0"
    by_name = dict(zip(parameters, values, strict=True))
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: by_name.get(word[0], word[0]), bounds[1]).strip()


def parameter_names(source: str, kernel: str) -> list[str]:
    """The names of a kernel's function parameters, in order; empty if the source has no such kernel."""
    match = _kernel_function(source, kernel)
    parameters = match[1].split(",") if match else []
    return [re.findall(r"\w+", parameter)[-1] for parameter in parameters if parameter.strip()]


def _kernel_function(source: str, kernel: str) -> re.Match[str] | None:
    """A match of the kernel's function, with its parameters as the first group."""
    return re.search(rf"__global__\s+void\s+{ATTRIBUTES}{kernel}\s*\(([^)]*)\)", source)
