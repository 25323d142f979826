"""A name means one thing in the library: no two modules, classes or shared constants are called the same."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from checkout import ROOT

LIBRARY = ROOT / "workflow/scripts/kernelsweep"

# Modules that play the same role in several folders.
ROLES = {"__init__", "report", "rows", "selection", "worker"}


@functools.cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(LIBRARY.rglob("*.py"))}


def repeated(names: Iterator[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def constants(tree: ast.Module) -> list[str]:
    """The public names in capitals that a module assigns at its top level."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = [node for statement in assigned for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [name.id for name in names if isinstance(name.ctx, ast.Store) and name.id.isupper() and name.id[0] != "_"]


def test_no_two_modules_have_one_name() -> None:
    # A figure's module is named after the figure.
    names = (path.stem for path in modules() if path.parent.name != "figures")
    assert repeated(name for name in names if name not in ROLES) == set()


def test_no_two_public_classes_have_one_name() -> None:
    nodes = (node for tree in modules().values() for node in tree.body)
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    assert repeated(name for name in classes if name[0] != "_") == set()


def test_no_constant_that_others_import_has_a_namesake() -> None:
    imports = (node for tree in modules().values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = {alias.name for node in imports for alias in node.names}
    assert repeated(name for tree in modules().values() for name in constants(tree)) & imported == set()
