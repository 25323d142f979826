"""Hashes of files, which change with code and not with comments.

That of a user's Python module doesn't change with docstrings and layout either. That of a file in C++ changes where
lines move, since messages name lines, and for what shows it with the comments before its code, the kernel's story.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import re
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kernelsweep.base.cxx import cxx_code
from kernelsweep.errors import UserError
from kernelsweep.home import HOME


def imported_modules(file: Path) -> list[Path]:
    """The files of kernelsweep that a file imports, directly or indirectly, sorted; none if it is not in Python.

    With a module come the templates, styles and scripts of pages that lie beside it.
    """
    return _all_imported(file, _imported_by_ours)


def imported_user_files(file: Path) -> list[Path]:
    """The modules of the user's and of kernelsweep that a user's file imports, directly or indirectly, sorted.

    The user's lie in the file's folder, or in a folder of Python's search path that is no library's. Of kernelsweep,
    whose release stays the same while its files are edited, these are the modules that give a problem values, such as
    kernelsweep.bounds. Raises SyntaxError for a file that is no Python.
    """
    roots = (file.parent, *_users_folders(tuple(sys.path)))

    def imported(importer: Path) -> frozenset[Path]:
        source = importer.read_text(encoding="utf-8")
        is_ours = any(map(importer.is_relative_to, _PACKAGES))
        users = frozenset() if is_ours else _imported_from(source, roots, importer)
        # The packages' own files have nothing that a value could depend on.
        return users | _imported_from_us(source) - {package / "__init__.py" for package in _PACKAGES}

    return _all_imported(file, imported)


@cache
def _users_folders(search: tuple[str, ...]) -> list[Path]:
    """The folders of a search path that may have modules of the user's."""
    folders = [Path(folder) for folder in search if folder]
    # Another kernelsweep on the path is not what is imported, and no module of the user's.
    theirs = {one for one in folders for package in _PACKAGES if (one / package.name).is_dir()}
    return [one for one in folders if not is_of_library(one) and one not in theirs]


def user_code_hash(files: Iterable[Path]) -> str:
    """A hash of the user's files: code_hash() of them, with the releases of the installed packages that they import."""
    return _user_code_hash(tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


# A job asks for each of its instances.
@cache
def _user_code_hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    every = [file for file, _, _ in files]
    names: set[str] = set()
    for file in (file for file in every if file.suffix == ".py"):
        is_ours = any(map(file.is_relative_to, _PACKAGES))
        found = _imported_names(file.read_text("utf-8")) if is_ours else names_in(ast.parse(file.read_bytes()))
        names |= {name.partition(".")[0] for name in found} - sys.stdlib_module_names
    releases = {}
    for name in sorted(names):
        with contextlib.suppress(PackageNotFoundError, ValueError):
            releases[name] = version(name)
    return hashlib.sha256(f"{code_hash(every)} {releases}".encode()).hexdigest()


@cache
def is_of_library(path: Path) -> bool:
    """Whether a file or folder is Python's, an installed package's, kernelsweep's or the system's, and no user's."""
    # Also of another environment. PyTorch reads the source of a job's script, which lies in a folder of Snakemake's.
    is_installed = not {"site-packages", "dist-packages", ".snakemake"}.isdisjoint(path.parts)
    return is_installed or any(path.is_relative_to(folder) for folder in _LIBRARIES)


# The library, and the emulator, which is a package of its own.
_PACKAGES = (Path(__file__).resolve().parents[1], HOME / "emulator/cuda_emulator")
_LIBRARIES = (
    *{Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    *(Path(folder) for folder in site.getsitepackages()),
    HOME / "Snakefile",
    HOME / "workflow",
    HOME / "emulator",
    *map(Path, ("/usr/lib", "/usr/lib64", "/usr/share", "/etc", "/proc", "/sys", "/dev")),
)


def _all_imported(file: Path, imported: Callable[[Path], frozenset[Path]]) -> list[Path]:
    """The files that a file in Python imports, directly or indirectly, of which `imported` gives the direct ones."""
    found: set[Path] = set()
    waiting = [file] if file.suffix == ".py" else []
    while waiting:
        new = imported(waiting.pop()) - found
        found |= new
        waiting += [path for path in new if path.suffix == ".py"]
    return sorted(found)


@cache
def _imported_from(source: str, roots: tuple[Path, ...], importer: Path) -> frozenset[Path]:
    """The files below `roots` that a file with this text and path imports directly."""
    found: set[Path] = set()
    for name in _imported_names(source):
        absolute = name.lstrip(".")
        level = len(name) - len(absolute)
        bases = importer.parents[level - 1 : level] if level else roots
        found.update(*(_files_of(base, absolute) for base in bases))
    return frozenset(found)


@cache
def _files_of(base: Path, module: str) -> frozenset[Path]:
    """The files of a module below a folder, and of the packages around it, whose own files run before it."""
    parts = module.split(".")
    modules = [base.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = (file for one in modules for file in (one.with_suffix(".py"), one / "__init__.py"))
    return frozenset(filter(Path.is_file, files))


# Every start of Snakemake hashes about thirty scripts, most of which import the same modules.
@cache
def _imported_by_ours(importer: Path) -> frozenset[Path]:
    """The files of kernelsweep that one of them imports directly."""
    return _imported_from_us(importer.read_text(encoding="utf-8"))


@cache
def _imported_from_us(source: str) -> frozenset[Path]:
    """The files of kernelsweep that a file with this text imports directly, by names that are not relative."""
    every = _modules()
    modules = {every[name] for name in _imported_names(source) if name in every}
    return frozenset(modules).union(*(_beside(folder) for folder in {module.parent for module in modules}))


@cache
def _modules() -> dict[str, Path]:
    """The files of kernelsweep in Python, by the names that they are imported by."""
    found = [(file.relative_to(package.parent), file) for package in _PACKAGES for file in package.rglob("*.py")]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): file for path, file in found}


# The suffixes of what the library reads beside its modules; d3's licence stands in a page, too.
_READ = frozenset({".css", ".cuh", ".html", ".j2", ".js", ".LICENSE"})


@cache
def _beside(folder: Path) -> frozenset[Path]:
    """The files in a folder that its modules read."""
    return frozenset(file for file in folder.iterdir() if file.suffix in _READ)


# An import statement on a line of its own, as all of kernelsweep's are. Every start waits for this, and parsing whole
# files would take ten times as long.
_IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|.*))$", re.MULTILINE)


def _imported_names(source: str) -> list[str]:
    """The names that a file imports: modules, and names in modules, which may be modules themselves.

    Names relative to the file's own package begin with as many points as in the file.
    """
    try:
        return names_in(ast.parse("\n".join(_IMPORT.findall(source))))
    except SyntaxError:  # The pattern has matched part of a string, or missed part of a statement.
        return names_in(ast.parse(source))


def names_in(tree: ast.AST) -> list[str]:
    """The names that import statements anywhere in a file name: modules, and names that may be modules themselves.

    Names relative to the file's own package begin with as many points as in the file.
    """
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names += [
                module,
                *(f"{module}.{alias.name}" if node.module else f"{module}{alias.name}" for alias in node.names),
            ]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def code_hash(files: Iterable[Path], with_story: bool = False) -> str:
    """SHA-256 of the files' code: of Python and C++ as the module's docstring says, and of others as they are."""
    digest = hashlib.sha256()
    for file in files:
        try:
            is_ours = os.path.abspath(file).startswith(_OURS)
            if file.suffix == ".py" and not is_ours:
                digest.update(_code(file.read_text(encoding="utf-8-sig")).encode())
            elif file.suffix in _CXX and not is_ours:
                digest.update(cxx_code(file.read_text(encoding="utf-8-sig"), with_story).encode())
            else:
                digest.update((_sha256_of_ours if is_ours else sha256_of)(file).encode())
        except (SyntaxError, UnicodeDecodeError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            raise UserError(f"{file}{line}: not valid Python: {getattr(error, 'msg', error)}") from error
    return digest.hexdigest()


def sha256_of(path: str | Path) -> str:
    """SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Kernelsweep's own files are hashed as they are: to parse them would take each start a second, and each job, too.
_OURS = (f"{HOME}/workflow/scripts/", f"{HOME}/emulator/")
_sha256_of_ours = cache(sha256_of)  # This process runs what it has read of them.


@cache
def _code(source: str) -> str:
    """A file's code in Python's own layout, without comments and docstrings."""
    tree = ast.parse(source)
    waiting: list[ast.AST] = [tree]
    while waiting:  # Statements only: ast.walk would take longer than everything else.
        node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(node, field, None)
            waiting += children if isinstance(children, list) else []
    return ast.unparse(tree)


# The suffixes of files in C++.
_CXX = frozenset({".cu", ".cuh", ".cpp", ".h", ".hpp"})
