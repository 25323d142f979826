"""A hash of what Python modules do: it changes with their code, not with comments, docstrings or layout."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def imported_modules(file: Path, package: Path) -> list[Path]:
    """The files of `package` that a Python file imports, directly or through one another, sorted."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        for name in _imported_names(waiting.pop().read_text(encoding="utf-8")):
            parts = name.split(".")
            if parts[0] != package.name:
                continue
            base = package.joinpath(*parts[1:])
            for candidate in (base.with_suffix(".py"), base / "__init__.py"):
                if candidate.is_file() and candidate not in found:
                    found.add(candidate)
                    waiting.append(candidate)
    return sorted(found)


# An import statement. Parsing these alone takes a tenth of the time that whole files do, which every start waits for.
_IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|.*))$", re.MULTILINE)


# A run asks some forty times, for a script each, and most scripts import the same modules.
@cache
def _imported_names(source: str) -> tuple[str, ...]:
    """What a file's text imports: modules, and what may be modules in them."""
    try:
        tree = ast.parse("\n".join(_IMPORT.findall(source)))
    except SyntaxError:  # a text that only looks like one, or one written in another way
        tree = ast.parse(source)
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return tuple(names)


def code_hash(files: Iterable[Path]) -> str:
    """SHA-256 over the files' code as Python itself would write it, without comments and docstrings."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(_code(file.read_text(encoding="utf-8")))
    return digest.hexdigest()


@cache
def _code(source: str) -> bytes:
    """A file's text without comments and docstrings, laid out in one way."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.unparse(tree).encode()


def sha256_of(path: str | Path) -> str:
    """SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
