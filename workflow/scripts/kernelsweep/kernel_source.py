"""What a kernel's source file says of itself: its template parameters, its launch plan, and what it supports."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kernelsweep.axes import Expression
from kernelsweep.errors import UserError
from kernelsweep.problems.operations import OPERATIONS, supports
from kernelsweep.schema import check

# An exchange's own arguments, each with its type as a template parameter.
EXCHANGE_ARGUMENTS: Mapping[str, str] = {
    "source_lane": "unsigned",
    "delta": "unsigned",
    "offset": "int",
    "lane_mask": "unsigned",
    "first": "unsigned",
    "second": "unsigned",
}

# The template parameters a kernel may have, each with its type; the sweep supplies them by name.
TEMPLATE_PARAMETERS: Mapping[str, str] = {
    "Element": "typename",
    "Operation": "typename",
    "block_size": "unsigned",
    "unroll": "unsigned",
    "width": "unsigned",
    **EXCHANGE_ARGUMENTS,
}

# What a summation depth is computed from besides the axes.
LAUNCHES = "launches"

_BLOCK_SIZE_RULES: Mapping[str, Callable[[int], bool]] = {
    "any": lambda size: True,
    "multiple_of_32": lambda size: size % 32 == 0,
    "power_of_two": lambda size: size & (size - 1) == 0,
}
_ENTRY = r"template\s*<(?P<parameters>[^>]*)>\s*__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?%s\s*\("
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class KernelSource:
    """One kernel file, parsed.

    template_parameters  names of TEMPLATE_PARAMETERS in the order of the template
    updates_input        whether it writes to its input, which then is restored before every launch
    shared_elements      an expression for the elements of dynamic shared memory a block
    summation_depth      an expression for the longest chain of roundings an element's value goes through on the device
    """

    name: str
    path: Path
    description: str
    template_parameters: tuple[str, ...]
    plan: str
    updates_input: bool
    block_size: str
    smallest_block_size: int
    largest_block_size: int
    unroll: tuple[int, ...]
    dtypes: tuple[str, ...]
    operations: tuple[str, ...]
    shared_elements: str
    summation_depth: str
    undefined_behaviour: str | None

    def unsupported(self, point: Mapping[str, Any]) -> str | None:
        """Why this kernel can't run at a point (a mapping of axis values), or None where it can."""
        if point["unroll"] not in self.unroll:
            return f"unroll {point['unroll']}: the kernel supports {_listed(self.unroll)}"
        smallest, largest = self.smallest_block_size, self.largest_block_size
        if not smallest <= point["block_size"] <= largest:
            return f"block size {point['block_size']}: the kernel supports {smallest} to {largest}"
        if not _BLOCK_SIZE_RULES[self.block_size](point["block_size"]):
            return f"block size {point['block_size']}: the kernel needs a {self.block_size.replace('_', ' ')}"
        if point["dtype"] not in self.dtypes:
            return f"element type {point['dtype']}: the kernel supports {_listed(self.dtypes)}"
        if "Operation" in self.template_parameters:
            if point["operation"] not in self.operations:
                return f"operation {point['operation']}: the kernel supports {_listed(self.operations)}"
            if not supports(point["operation"], point["dtype"]):
                return f"operation {point['operation']}: not defined for {point['dtype']}"
        return None

    @property
    def exchange_arguments(self) -> tuple[str, ...]:
        """The names of an exchange's own arguments, in the order of the template."""
        return tuple(name for name in self.template_parameters if name in EXCHANGE_ARGUMENTS)


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)


def _header(text: str) -> tuple[str, str]:
    """The leading // comment, split into the description and the YAML under ``kernelsweep:``."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    description, *settings = re.split(r"^kernelsweep:[ \t]*$", "\n".join(lines), maxsplit=1, flags=re.MULTILINE)
    return description.strip(), "".join(settings)


def read_kernel(path: Path, root: Path) -> KernelSource:
    """Parse a kernel file; `root` is the project's folder, for the paths in messages and the schema.

    Raises UserError, naming file and key, for a file that is missing, a header that breaks the schema, or a template
    that the sweep can't instantiate.
    """
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    if not path.is_file():
        raise UserError(f"{shown}: no such kernel; a study's kernel NAME is the file kernels/<study>/NAME.cu")
    text = path.read_text(encoding="utf-8")
    description, header = _header(text)
    try:
        settings = yaml.safe_load(header) or {}
    except yaml.YAMLError as error:
        raise UserError(f"{shown}: the header under 'kernelsweep:' is no YAML: {error}") from error
    if not isinstance(settings, dict):
        raise UserError(f"{shown}: the header under 'kernelsweep:' holds no keys with values: {settings!r}")
    settings = check(settings, root / "workflow/schemas/kernel.schema.yaml", f"{shown}, header")
    for key, others in (("summation_depth", [LAUNCHES]), ("shared_elements", [])):
        try:
            Expression(settings[key], others)
        except UserError as error:
            raise UserError(f"{shown}, header: {key}: {error}") from error

    name = path.stem
    match = re.search(_ENTRY % re.escape(name), text)
    if not match:
        raise UserError(f"{shown}: no kernel of the file's name; expected 'template <...> __global__ void {name}('")
    declared = [parameter.split() for parameter in match["parameters"].split(",") if parameter.strip()]
    for *kind, parameter in declared:
        if parameter not in TEMPLATE_PARAMETERS:
            raise UserError(
                f"{shown}: template parameter {parameter!r} is not one the sweep can supply: "
                f"{', '.join(TEMPLATE_PARAMETERS)}"
            )
        expected = TEMPLATE_PARAMETERS[parameter]
        if " ".join(kind) not in (expected, "class" if expected == "typename" else f"{expected} int"):
            raise UserError(
                f"{shown}: template parameter {parameter!r} is declared {' '.join(kind)!r}; it has to be {expected}"
            )
    first_parameter = text[match.end() :].split(",")[0]
    return KernelSource(
        name=name,
        path=path,
        description=description,
        template_parameters=tuple(words[-1] for words in declared),
        plan=settings["plan"],
        updates_input="const" not in first_parameter.split(),
        block_size=settings["block_size"],
        smallest_block_size=settings["smallest_block_size"],
        largest_block_size=settings["largest_block_size"],
        unroll=tuple(settings["unroll"]),
        dtypes=tuple(settings["dtypes"]),
        operations=tuple(settings["operations"] or OPERATIONS),
        shared_elements=settings["shared_elements"],
        summation_depth=settings["summation_depth"],
        undefined_behaviour=settings["undefined_behaviour"],
    )


def included_files(path: Path, include: Path) -> list[Path]:
    """The files that a source includes with quotes, directly or through others, in the order first met.

    Looked for beside the including file, then in the folder `include`. Those found nowhere are the compiler's to
    complain about.
    """
    found: list[Path] = []
    waiting = [path]
    while waiting:
        source = waiting.pop(0)
        for name in _INCLUDE.findall(source.read_text(encoding="utf-8")):
            for candidate in (source.parent / name, include / name):
                if candidate.is_file() and candidate not in found:
                    found.append(candidate)
                    waiting.append(candidate)
                    break
    return found


def source_sha256(path: Path, include: Path) -> str:
    """SHA-256 over a kernel's source and everything it includes."""
    digest = hashlib.sha256()
    for file in (path, *sorted(included_files(path, include))):
        digest.update(file.read_bytes())
    return digest.hexdigest()
