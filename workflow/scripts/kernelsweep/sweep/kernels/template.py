"""Read a kernel of a problem that ships: its settings in the study, and its template in its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.expressions import NUMBER, check_kind
from kernelsweep.sweep.kernels.source import ATTRIBUTES, LAUNCHES, KernelSource, read_source

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = rf"template\s*<(?P<parameters>[^>]*)>\s*__global__\s+void\s+{ATTRIBUTES}%s\s*\("


def read_kernel(entry: Mapping[str, Any], path: Path, problem: Problem, shown: str) -> KernelSource:
    """Read the kernel in a file, which solves `problem`.

    entry  its checked settings in the study
    shown  the study's file, for messages

    Raises UserError for a plan that the problem hasn't, for an expression that is none, and for a template that the
    sweep can't instantiate.
    """
    where = f"{shown}: the kernel {entry['name']!r}"
    plan = entry["plan"] or problem.plans[0]
    if plan not in problem.plans:
        raise UserError(f"{where}: plan is {plan!r}. Plans of the problem {problem.name}: {', '.join(problem.plans)}.")
    for key, others in (("summation_depth", [LAUNCHES]), ("shared_elements", [])):
        try:
            check_kind(entry[key], [*problem.axes, *others], NUMBER)
        except UserError as error:
            raise UserError(f"{where}: {key}: {error}") from error
    text, name = read_source(path), path.stem
    file = f"kernels/{path.parent.name}/{path.name}"
    template = re.search(_ENTRY % re.escape(name), text)
    if not template:
        raise UserError(f"{file}: no kernel of the file's name; expected 'template <...> __global__ void {name}('")
    input_declared = _COMMENT.sub(" ", text[template.end() :]).split(",")[0]
    return KernelSource(
        name=name,
        path=path,
        problem=problem,
        template_parameters=_template_parameters(template["parameters"], problem, file),
        plan=plan,
        input_is_const="const" in input_declared.rpartition("*")[0].split(),
        block_size=entry["block_size"],
        smallest_block_size=entry["smallest_block_size"],
        largest_block_size=entry["largest_block_size"],
        unroll=tuple(entry["unroll"]),
        dtypes=tuple(entry["dtypes"]),
        operations=tuple(entry["operations"] or OPERATIONS),
        shared_elements=entry["shared_elements"],
        summation_depth=entry["summation_depth"],
        undefined_behaviour=entry["undefined_behaviour"],
        smallest_architecture=entry["smallest_architecture"],
        gpu_only=entry["gpu_only"],
        acknowledged=entry["acknowledged"],
    )


def _template_parameters(declarations: str, problem: Problem, file: str) -> tuple[str, ...]:
    """The names in a template's parameter list. Raises UserError for one that the problem hasn't as declared."""
    declared = [declaration.split() for declaration in declarations.split(",") if declaration.strip()]
    for *kind, parameter in declared:
        if parameter not in problem.template_parameters:
            raise UserError(
                f"{file}: template parameter {parameter!r} is not one that the problem {problem.name} has: "
                f"{', '.join(problem.template_parameters)}"
            )
        expected = problem.template_parameters[parameter]
        if " ".join(kind) not in (expected, "class" if expected == "typename" else f"{expected} int"):
            raise UserError(
                f"{file}: template parameter {parameter!r} is declared {' '.join(kind)!r}; it has to be {expected}"
            )
    return tuple(words[-1] for words in declared)
