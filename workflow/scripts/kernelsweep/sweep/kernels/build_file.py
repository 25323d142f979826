"""A Python file whose function `build` makes a kernel's machine code: what is known of it without running it."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

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
    names = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(read_source(file)))
        for name in _imported(node)
        if not (file.parent / f"{name.partition('.')[0]}.py").is_file()
    }
    return next((name for name in sorted(names) if importlib.util.find_spec(name) is None), None)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
