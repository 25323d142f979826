"""The library's folders are its stages, and no stage imports a later one."""

from __future__ import annotations

import ast
from pathlib import Path

from checkout import ROOT

import kernelsweep

LIBRARY = ROOT / "workflow/scripts/kernelsweep"
STAGES = [
    "problems",
    "sweep",
    "build",
    "platforms",
    "measure",
    "baselines",
    "analysis",
    "drawing",
    "observe",
    "judge",
    "publish",
    "share",
    "project",
]


def stage(module: str) -> int:
    """The number of a module's stage; -1 for the modules at the library's top, which every stage may import."""
    first = module.partition(".")[0]
    return STAGES.index(first) if first in STAGES else -1


def imports(file: Path) -> set[str]:
    """The modules that a file imports from the library, without the library's name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "kernelsweep":
            names |= {f"kernelsweep.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.removeprefix("kernelsweep.") for name in names if name.startswith("kernelsweep.")}


def test_no_stage_imports_a_later_one() -> None:
    files = {".".join(file.relative_to(LIBRARY).with_suffix("").parts): file for file in LIBRARY.rglob("*.py")}
    assert not {(name, other) for name, file in files.items() for other in imports(file) if stage(other) > stage(name)}


def test_every_folder_is_a_stage_and_the_library_says_so() -> None:
    assert sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py")) == sorted(STAGES)
    told = [line.split()[0] for line in (kernelsweep.__doc__ or "").splitlines() if line and line.split()[0] in STAGES]
    assert told == STAGES
