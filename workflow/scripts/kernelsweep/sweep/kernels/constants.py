"""Variables in constant memory that a kernel's file declares, and that nothing sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kernelsweep.home import HEADERS, HOME
from kernelsweep.sweep.kernels.source import KernelSource, included_files, read_source

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"__constant__\b[^;={(]*?(?P<name>\w+)\s*(?:\[[^;={]*\]\s*)?(?P<end>[;={])")


def hint_of_constants(kernel: KernelSource) -> str:
    """A sentence about variables in constant memory that a kernel's file declares and nothing sets; "" without any."""
    without_values = [name for name, end in _declared(_text(kernel.path)).items() if end == ";"]
    unset = ", ".join(name for name in without_values if name not in kernel.launches.entry.constants)
    return f". Nothing sets {unset} in constant memory: list it in the kernel's constants" if unset else ""


def _text(path: Path) -> str:
    """The text of a kernel's file, kernels/<study>/<kernel>.cu, and of the files that it includes, without comments."""
    folders = [path.parents[1] / "include", HOME / HEADERS]
    return "\n".join(_COMMENT.sub(" ", read_source(file)) for file in (path, *included_files(path, folders)))


def _declared(text: str) -> Mapping[str, str]:
    """What stands after each variable in constant memory, by the variable's name."""
    return {found["name"]: found["end"] for found in _DECLARATION.finditer(text)}
