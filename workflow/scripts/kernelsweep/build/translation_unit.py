"""Generate the source of a translation unit, which includes a kernel's file and names its functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.sweep.kernels.source import read_source
from kernelsweep.sweep.kernels.units import Unit

_HEAD = "// Generated: the kernel's file and the variants that are compiled with it. Edit the kernel instead.\n"


def cuda_unit(kernel_file: Path, unit: Unit) -> str:
    """The unit for nvcc: a table of the functions' addresses, which has nvcc compile each of them.

    The table ends with a null, since C++ has no empty arrays and a unit may have no functions. Macros are defined for
    the kernel only: CUDA's own names may be the same.
    """
    defined = "".join(f"#define {name} {value}\n" for name, value in unit.macros.items())
    addresses = "".join(f"    (void *)&{name},\n" for name in unit.functions)
    table = f"void *kernelsweep_functions[] = {{\n{addresses}    nullptr,\n}};\n"
    return f'{_HEAD}{defined}#include "{kernel_file}"\n#line 1 "launches of {kernel_file.name}"\n{table}'


def emulator_unit(
    kernel_file: Path, unit: Unit, constants: Sequence[str] = (), given: str = "", code: str | None = None
) -> str:
    """The unit for g++: the emulator's header, the kernel, and a table of its functions, which are called by index.

    constants  the variables in constant memory whose addresses the library gives
    given      lines before the kernel, such as macros
    code       the kernel's source for its launch bounds, if it is not the file's

    Macros are defined for the kernel only: the emulator's own names may be the same.
    """
    defined = given + "".join(f"#define {name} {value}\n" for name, value in unit.macros.items())
    undefined = "".join(f"#undef {name}\n" for name in unit.macros)
    source = read_source(kernel_file) if code is None else code
    bounds = entries = ""
    for number, name in enumerate(unit.functions):
        struct = f"kernelsweep_bounds_{number}"
        of_kernel, bracket, arguments = name.partition("<")
        declared = launch_bounds(source, of_kernel, struct)
        bounds += declared
        threads = f"{struct}{bracket}{arguments}::kernelsweep_threads" if declared else "0"
        entries += f'    EMULATOR_ENTRY("{name}", ({threads}), {name}),\n'
    symbols = "".join(f"EMULATOR_SYMBOL({name}), " for name in constants)
    table = f"static const emulator::Entry entries[] = {{\n{entries}}};\n"
    table += f"static const emulator::Symbol symbols[] = {{{symbols}{{}}}};\nEMULATOR_EXPORT(entries, symbols)\n"
    # The emulator is compiled with a sanitizer, and no GPU's code is.
    kernel = f'#include "emulator.hpp"\n#undef __SANITIZE_THREAD__\n{defined}#include "{kernel_file}"\n'
    return f'{_HEAD}{kernel}#line 1 "launches of {kernel_file.name}"\n{bounds}{undefined}{table}'


def launch_bounds(source: str, kernel: str, struct: str) -> str:
    """A C++ struct whose `threads` is the block that a kernel's __launch_bounds__ allows; empty without bounds.

    It has the kernel's template parameters. The bounds of kernels in namespaces are not found.
    """
    declared = re.search(rf"(template\s*<[^;{{}}]*?>\s*)?__global__([^;{{}}]*?)\b{re.escape(kernel)}\s*\(", source)
    bounds = declared and re.search(r"__launch_bounds__\s*\((.*)", declared[2], re.DOTALL)
    if not declared or not bounds:
        return ""
    template = " ".join((declared[1] or "").split())
    threads = " ".join(_first_argument(bounds[1]).split())
    return f"{template} struct {struct} {{ static constexpr size_t kernelsweep_threads = {threads}; }};\n".lstrip()


def _first_argument(text: str) -> str:
    """The first of the arguments that a text begins with, up to a comma or a parenthesis that none has opened."""
    depth = 0
    for place, character in enumerate(text):
        if depth == 0 and character in ",)":
            return text[:place]
        depth += (character == "(") - (character == ")")
    return text
