"""Generate the source that includes one kernel file and instantiates all variants of a sweep."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelsweep.sweep.kernels.source import ATTRIBUTES

_HEAD = "// Generated: one translation unit a kernel, all its variants inside. Edit the kernel instead.\n"


def cuda_unit(kernel_file: str, source: str, instantiations: Sequence[str]) -> str:
    """The unit for nvcc: explicit instantiations, whose mangled names are in the compiler's output and in the cubin.

    kernel_file     the kernel's path for the include
    source          the kernel file's text, since an explicit instantiation repeats the parameters
    instantiations  names such as ``unrolled<int, Sum, 2u>``
    """
    lines = [f"template __global__ void {name}({_parameters(source, name)});" for name in instantiations]
    return _HEAD + f'#include "{kernel_file}"\n\n' + "\n".join(lines) + "\n"


def emulator_unit(kernel_file: str, instantiations: Sequence[str]) -> str:
    """The unit for g++: the emulator's header, the kernel, and a table of its variants, which are called by index."""
    entries = "".join(f'    emulator::entry("{name}", &{name}),\n' for name in instantiations)
    return (
        _HEAD
        + f'#include "emulator.hpp"\n#include "{kernel_file}"\n\n'
        + f"static const emulator::Entry entries[] = {{\n{entries}}};\nEMULATOR_EXPORT(entries)\n"
    )


def parameter_names(source: str, kernel: str) -> list[str]:
    """The names of a kernel's function parameters, in order; empty if the source has no such kernel."""
    match = _kernel_function(source, kernel)
    parameters = match[1].split(",") if match else []
    return [re.findall(r"\w+", parameter)[-1] for parameter in parameters if parameter.strip()]


def _kernel_function(source: str, kernel: str) -> re.Match[str] | None:
    """A match of the kernel's function, with its parameters as the first group."""
    return re.search(rf"__global__\s+void\s+{ATTRIBUTES}{kernel}\s*\(([^)]*)\)", source)


def _parameters(source: str, instantiation: str) -> str:
    """The kernel's function parameters with the template's Element replaced by this instantiation's type."""
    kernel, _, arguments = instantiation.partition("<")
    match = _kernel_function(source, kernel)
    template = re.search(rf"template\s*<([^>]*)>\s*__global__[^;{{]*?\b{kernel}\s*\(", source)
    if match is None or template is None:
        raise ValueError(f"no template kernel {kernel} in the source")
    names = [parameter.split()[-1] for parameter in template[1].split(",")]
    values = dict(zip(names, arguments.rstrip(">").split(", "), strict=True))
    return re.sub(r"\b(\w+)\b", lambda word: values.get(word[1], word[1]), match[1])
