"""The library's folders are its stages, and no stage imports a later one; few import the emulator."""

from __future__ import annotations

import ast
from pathlib import Path

from checkout import ROOT

from kernelsweep.base.code_hash import imported_modules, names_in
from kernelsweep.device.measuring_code import measuring_files

LIBRARY = ROOT / "workflow/scripts/kernelsweep"
STAGES = ["base", "study", "compile", "device", "sweep", "observe", "judge", "publish", "capture", "project"]


def stage(module: str) -> int:
    """The number of a module's stage; 0 for base and the library's top, which every stage may import."""
    first = module.partition(".")[0]
    return STAGES.index(first) if first in STAGES else 0


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


def test_few_modules_import_the_emulator_and_it_imports_none_of_the_library() -> None:
    def importing(folder: Path, package: str) -> set[str]:
        files = {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in folder.rglob("*.py")}
        roots = {file: {name.partition(".")[0] for name in names_in(ast.parse(text))} for file, text in files.items()}
        return {file for file in files if package in roots[file]}

    assert importing(LIBRARY, "cuda_emulator") == {"compile/emulated.py", "device/emulator.py"}
    assert not importing(ROOT / "emulator", "kernelsweep")


def test_the_emulator_is_code_that_results_were_made_with() -> None:
    package = ROOT / "emulator/cuda_emulator"
    assert {package / name for name in ("library.py", "lines.py", "mistakes.py")} <= {*measuring_files()}
    assert package / "compiling.py" in imported_modules(ROOT / "workflow/scripts/compile/build_kernel.py")


def test_every_folder_is_a_stage_and_the_library_says_so() -> None:
    assert sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py")) == sorted(STAGES)
    text = ast.get_docstring(ast.parse((LIBRARY / "__init__.py").read_text(encoding="utf-8"))) or ""
    told = [line.split()[0] for line in text.splitlines() if line and line.split()[0] in STAGES]
    assert told == STAGES
