"""A kernel: its file with what that includes, its launches, and where it can run."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.base.code_hash import imported_user_files, names_in, user_code_hash
from kernelsweep.base.compilers import named_headers
from kernelsweep.base.cxx import cxx_code
from kernelsweep.base.plain_files import read_text
from kernelsweep.errors import UserError, nearest
from kernelsweep.study.kernels.launches import KernelLaunches
from kernelsweep.study.kernels.plan import Plan
from kernelsweep.study.kernels.units import EMULATOR, architecture_number
from kernelsweep.study.problem.problem_file import Problem
from kernelsweep.study.settings import KernelSettings

# The name for the number of launches in a kernel's `roundings`, which is an expression over the axes.
LAUNCHES = "launches"

# The axis of the number of thread blocks. A row has the number that its first launch had, which may be smaller.
GRID_SIZE = "grid_size"

_NAMED_BY_MACRO = re.compile(r"^[^\S\n]*#[^\S\n]*include[^\S\n]+[A-Za-z_]", re.MULTILINE)
_INCLUDE = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)', re.MULTILINE)

# Folders with the compilers' own headers; and a folder that compilers search, in which a user's libraries may lie.
_OF_COMPILERS = re.compile(r"/usr/(?:include|lib\w*|local/cuda[^/]*)(?:/|$)")
_LOCAL = Path("/usr/local/include")

# The first comment of a file, after blanks and preprocessor directives; and the marks of its lines.
_FIRST_COMMENT = re.compile(r"(?:\s++|#(?:\\\n|.)*+)*+((?:[ \t]*//.*\n?)+|/\*(?s:.*?)\*/)")
_MARKS = re.compile(r"^\s*(?://[/!]*|/?\*+[/!]?) ?|\s*\*+/$")
_LICENCE = re.compile(r"copyright|licen[cs]e|SPDX", re.IGNORECASE)


@dataclass(frozen=True)
class KernelSource:
    """A kernel of a study.

    problem   the problem that it solves
    launches  of one run
    lacks     the package that the Python file of its code imports, and that is not installed
    """

    name: str
    path: Path
    problem: Problem
    launches: KernelLaunches
    lacks: str | None = None

    @property
    def entry(self) -> KernelSettings:
        """Its settings in the study."""
        return self.launches.entry

    @property
    def options(self) -> list[str]:
        """Further options for nvcc that all variants have."""
        return [option for option in self.entry.options if "{" not in option]

    @property
    def acknowledged(self) -> dict[tuple[str, str], str]:
        """The reasons for findings that are known, by check and place, such as tree.cuh:17."""
        return {
            (one.check, f"{self.path.name}:{one.line}" if isinstance(one.line, int) else one.line): one.reason
            for one in self.entry.acknowledged
        }

    @property
    def variant_axes(self) -> list[str]:
        """The axes that are fixed when a variant is compiled."""
        return [name for name in self.problem.axes if name in self.launches.variant_names]

    @property
    def chooses_grid(self) -> bool:
        """Whether the axis grid_size says how many blocks its first launch has."""
        return GRID_SIZE in self.problem.axes and GRID_SIZE in self.launches.launch_names

    def plan(self, point: Mapping[str, Any]) -> Plan:
        """The launches of a point, with their arrays."""
        return self.launches.at(point)

    def unsupported_on(self, target: str | None) -> str | None:
        """The reason why this kernel can't be compiled for a target or run there (see points.skip_reason), or None."""
        if self.entry.gpu_only and target == EMULATOR:
            return f"only for a GPU: {self.entry.gpu_only}"
        if self.lacks:
            return f"the package {self.lacks} is not installed: {self.path.name} needs it"
        smallest, compiled_for = map(architecture_number, (self.entry.smallest_architecture, target))
        if smallest and compiled_for and compiled_for < smallest:
            return f"architecture {target}: the kernel needs {self.entry.smallest_architecture} or later"
        return None


def kernel_file(entry: KernelSettings, study: str, root: Path, where: str) -> Path:
    """The file of a study's kernel, which the study's entry names. Raises UserError where there is none.

    where  the study's file, for the message
    """
    folder = root / "kernels" / (entry.folder or study)
    path = folder / (entry.build or f"{entry.name}.cu")
    if path.parent != folder or not path.is_file():
        files = sorted(found.stem for found in folder.glob("*.cu") if found.is_file())
        raise UserError(
            f"{where}: kernels names {entry.name!r}, but there is no file kernels/{folder.name}/{path.name}"
            f"{nearest(entry.name, files) or '.'} Kernels in that folder: {', '.join(files) or 'none'}."
        )
    return path


def included_files(path: Path, include: Sequence[Path], options: Sequence[str] = ()) -> list[Path]:
    """The files that a source includes, directly or through other files, in the order of their first use.

    options  the kernel's further options for nvcc

    They lie beside the including file, in a folder of `include` or of an option or an environment variable, or at an
    absolute path, or in /usr/local/include. Where a macro names a file, all headers in the other folders may be meant.
    The compilers' own headers are left out, as they change with the compiler's release. So are missing ones, which the
    compiler names.
    """
    if path.suffix == ".py":
        return imported_user_files(path)
    named, headers = named_headers(options)
    include = [*include, *(folder for folder in named if not _OF_COMPILERS.match(f"{folder}"))]
    # A file may include itself, under another name.
    included = {path.resolve(): path}
    waiting = [path, *filter(Path.is_file, headers)]
    named_by_macro = False
    while waiting:
        source = waiting.pop(0)
        text = read_source(source).replace("\\\n", "")
        named_by_macro |= bool(_NAMED_BY_MACRO.search(text))
        folders = {"quoted": [source.parent, *include, _LOCAL], "angled": [*include, _LOCAL]}
        for match in _INCLUDE.finditer(text):
            kind = match.lastgroup or ""
            places = (Path(os.path.normpath(folder / match[kind])) for folder in folders[kind])
            file = next((one for one in places if one.exists() and not one.is_dir()), None)  # A pipe is refused below.
            if file and file.resolve() not in included:
                included[file.resolve()] = file
                waiting.append(file)
    included |= {header.resolve(): header for header in headers if header.is_file()}
    if named_by_macro:
        for folder in (path.parent, *include):
            files = (one for one in sorted(folder.glob("**/*.[hci]*")) if one.is_file() and one.suffix != ".gch")
            included |= {file.resolve(): file for file in files if file.resolve() not in included}
    return list(included.values())[1:]


# Headers of CUDA and of C++, which ask for no macro but NDEBUG.
_STANDARD_HEADER = re.compile(
    r"[a-z_]+|(?:sys/)?(?:assert|errno|fcntl|float|inttypes|limits|malloc|math|omp|std\w+|stat|string|time|types|unistd)\.h"
    r"|cuda/\w+|(?:cuda|cooperative_groups|curand|device|driver|math|mma|nv|sm|surface|texture|vector)\w*(?:/\w+)*\.h(?:pp)?"
)


def check_macros(
    names: Iterable[str],
    path: Path,
    include: Sequence[Path],
    options: Sequence[str],
    where: str,
    known: Sequence[str] = (),
) -> None:
    """Raise UserError for a macro, or another word, that neither a kernel's file nor a header of it names.

    A header that can't be read may name any.

    where  begins the message
    known  what may be meant; without any, the words in capital letters
    """
    files = [path, *included_files(path, include, options)]
    texts = [read_source(file) for file in files]
    headers = [match["quoted"] or match["angled"] for text in texts for match in _INCLUDE.finditer(text)]
    read = {file.name for file in files}
    if any(Path(header).name not in read and not _STANDARD_HEADER.fullmatch(header) for header in headers):
        return
    words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", cxx_code(text, keep_leading=False))}
    for name in names:
        if name not in words and name != "NDEBUG":
            found = nearest(name, known or sorted(word for word in words if word.upper() == word))
            raise UserError(f"{where} {name!r}, which {path.name} and its headers never name{found or '.'}")


def read_source(path: Path) -> str:
    """The text of a kernel's file or of an included file. Raises UserError if it is not in UTF-8 or can't be read."""
    try:
        text = read_text(path, "utf-8-sig")
        if (zero := text.find("\0")) >= 0:  # As in UTF-16, or after a power cut.
            raise UnicodeDecodeError("utf-8", b"", len(text[:zero].encode()), zero, "")
        return text.replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: not a text in UTF-8. Save the file in that encoding.") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}.") from error


def code_sha256(path: Path, included: Iterable[Path]) -> str:
    """SHA-256 over the code of a kernel's source and of the files that it includes, without comments and blanks."""
    if path.suffix == ".py":
        return user_code_hash([path, *sorted(included)])
    digest = hashlib.sha256()
    for file in (path, *sorted(included)):
        digest.update(" ".join(cxx_code(read_source(file), keep_leading=False).split()).encode())
    return digest.hexdigest()


def source_text(path: Path, included: Iterable[Path]) -> str:
    """A kernel's source and the files that it includes, each below its name."""
    texts = [(file, file.read_text(encoding="utf-8", errors="replace")) for file in (path, *sorted(included))]
    return "\n".join(f"// {file}\n{text}" for file, text in texts)


def source_sha256(path: Path, included: Iterable[Path]) -> str:
    """SHA-256 over a kernel's source and the files that it includes, which may come in any order."""
    digest = hashlib.sha256()
    for file in (path, *sorted(included)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def story(text: str) -> str:
    """The paragraphs of a file's first comment, "" without one, or for a licence.

    A kernel's file begins with what this step of the study's story changes, and why.
    """
    found = _FIRST_COMMENT.match(text)
    told = "\n".join(_MARKS.sub("", line).rstrip() for line in (found[1].splitlines() if found else ())).strip()
    return "" if _LICENCE.search(told) else told


FUNCTION = "build"
# What it may name besides axes: the GPU's architecture, such as sm_90.
ARCH = "arch"


def parameters_of(file: Path, where: str) -> list[str]:
    """The names that the file's function `build` asks for; the file isn't run. UserError without that function."""
    try:
        tree = ast.parse(read_source(file))
    except SyntaxError as error:
        raise UserError(f"{where}, line {error.lineno}: {error.msg}.") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == FUNCTION:
            return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    raise UserError(f"{where} has no function {FUNCTION}, which would make the kernel's machine code.")


def missing_package(file: Path) -> str | None:
    """The first package that the file's import statements name and that is not installed; None where all are."""
    names = {name.partition(".")[0] for name in names_in(ast.parse(read_source(file)))} - {""}
    others = [name for name in sorted(names) if not (file.parent / f"{name}.py").is_file()]
    return next((name for name in others if importlib.util.find_spec(name) is None), None)
