"""A Python file whose function `build` makes a kernel's machine code: what is known of it without running it."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from kernelsweep.code_hash import names_in
from kernelsweep.errors import UserError
from kernelsweep.sweep.kernels.source import read_source

FUNCTION = "build"
# What it may name besides axes: the GPU's architecture, such as sm_90.
ARCH = "arch"


def parameters_of(file: Path, shown: str) -> list[str]:
    """The names that the file's function `build` asks for; the file isn't run. UserError without that function."""
    try:
        tree = ast.parse(read_source(file))
    except SyntaxError as error:
        raise UserError(f"{shown}, line {error.lineno}: {error.msg}.") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == FUNCTION:
            return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    raise UserError(f"{shown} has no function {FUNCTION}, which would make the kernel's machine code.")


def missing_package(file: Path) -> str | None:
    """The first package that the file's import statements name and that is not installed; None where all are."""
    names = {name.partition(".")[0] for name in names_in(ast.parse(read_source(file)))} - {""}
    others = [name for name in sorted(names) if not (file.parent / f"{name}.py").is_file()]
    return next((name for name in others if importlib.util.find_spec(name) is None), None)
