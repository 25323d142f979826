"""Read what a kernel's source file says of itself, in the comment that it begins with and in its template."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from kernelsweep.errors import UserError
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.sweep.axes import Expression
from kernelsweep.sweep.kernel_source import ATTRIBUTES, LAUNCHES, TEMPLATE_PARAMETERS, KernelSource
from kernelsweep.sweep.schema import check, parse_yaml

_ENTRY = rf"template\s*<(?P<parameters>[^>]*)>\s*__global__\s+void\s+{ATTRIBUTES}%s\s*\("


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
        settings = parse_yaml(header) or {}
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
        smallest_architecture=settings["smallest_architecture"],
        gpu_only=settings["gpu_only"],
    )
