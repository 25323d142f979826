"""A kernel's source: its template parameters, its launch plan, the points that it supports, and its files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelsweep.code_hash import cxx_code
from kernelsweep.compilers import code_variables, preprocessed_files
from kernelsweep.errors import UserError, nearest
from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.kernels.build_targets import architecture_number, target_named

if TYPE_CHECKING:
    from kernelsweep.sweep.kernels.launch_function import LaunchFunction
    from kernelsweep.sweep.kernels.launch_list import LaunchList

# The name for the number of launches in a summation depth, which is an expression over the axes.
LAUNCHES = "launches"

_BLOCK_SIZE_RULES: Mapping[str, Callable[[int], bool]] = {
    "any": lambda size: True,
    "multiple_of_32": lambda size: size % 32 == 0,
    "power_of_two": lambda size: size & (size - 1) == 0,
}
# The attributes allowed between a kernel's `void` and its name.
ATTRIBUTES = r"(?:__(?:launch_bounds|cluster_dims)__\s*\([^)]*\)\s*)*"
_NAMED_BY_MACRO = re.compile(r"^[^\S\n]*#[^\S\n]*include[^\S\n]+[A-Za-z_]", re.MULTILINE)
_INCLUDE = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)', re.MULTILINE)


@dataclass(frozen=True)
class KernelSource:
    """One kernel file, parsed.

    problem              the problem that it solves
    template_parameters  the names of its template parameters, in their order
    input_is_const       whether its first parameter points to const; only a run shows whether it changes its input
    shared_elements      an expression for the elements of dynamic shared memory a block
    summation_depth      an expression for the longest chain of roundings of an element's value on the device
    listed               its own launches, in place of a plan and of what belongs to a plan
    options              further options for nvcc
    acknowledged         the reasons for notes (results.NOTES), by array
    """

    name: str
    path: Path
    problem: Problem
    template_parameters: tuple[str, ...]
    plan: str
    input_is_const: bool
    block_size: str
    smallest_block_size: int
    largest_block_size: int
    unroll: tuple[int, ...]
    dtypes: tuple[str, ...]
    operations: tuple[str, ...]
    shared_elements: str
    summation_depth: str
    undefined_behaviour: str | None
    smallest_architecture: str | None
    gpu_only: str | None
    listed: LaunchList | LaunchFunction | None = None
    options: tuple[str, ...] = ()
    acknowledged: Mapping[str, str] = field(default_factory=dict)

    @property
    def variant_axes(self) -> list[str]:
        """The axes that are fixed when a variant is compiled."""
        if self.listed:
            return [name for name in self.problem.axes if name in self.listed.variant_names]
        return [name for name, axis in self.problem.axes.items() if axis.in_variant]

    def unsupported(self, point: Mapping[str, Any]) -> str | None:
        """The reason why this kernel can't run at a point, or None."""
        if self.listed:
            return None  # Restrictions say which points it can have.
        if point["unroll"] not in self.unroll:
            return f"unroll {point['unroll']}: the kernel supports {_listed(self.unroll)}"
        smallest, largest = self.smallest_block_size, self.largest_block_size
        if not smallest <= point["block_size"] <= largest:
            return f"block size {point['block_size']}: the kernel supports {smallest} to {largest}"
        if not _BLOCK_SIZE_RULES[self.block_size](point["block_size"]):
            return f"block size {point['block_size']}: the kernel needs a {self.block_size.replace('_', ' ')}"
        if point["dtype"] not in self.dtypes:
            return f"element type {point['dtype']}: the kernel supports {_listed(self.dtypes)}"
        if "Operation" in self.template_parameters and point["operation"] not in self.operations:
            return f"operation {point['operation']}: the kernel supports {_listed(self.operations)}"
        return None

    def unsupported_on(self, target: str | None) -> str | None:
        """The reason why this kernel can't be compiled for a target or run there (see points.skip_reason), or None."""
        compiled_for = target_named(target)
        if self.gpu_only and compiled_for.is_emulator:
            return f"only for a GPU: {self.gpu_only}"
        smallest = architecture_number(self.smallest_architecture)
        if smallest and compiled_for.architecture and compiled_for.architecture < smallest:
            return f"architecture {target}: the kernel needs {self.smallest_architecture} or later"
        return None


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)


def kernel_file(entry: Mapping[str, Any], study: str, root: Path, shown: str) -> Path:
    """The file of a study's kernel, which the study's entry names. Raises UserError where there is none.

    shown  the study's file, for the message
    """
    folder = root / "kernels" / (entry.get("from") or study)
    path = folder / f"{entry['name']}.cu"
    if path.parent != folder or not path.is_file():
        files = sorted(found.stem for found in folder.glob("*.cu"))
        raise UserError(
            f"{shown}: kernels names {entry['name']!r}, but there is no file kernels/{folder.name}/{entry['name']}.cu"
            f"{nearest(entry['name'], files) or '.'} Kernels in that folder: {', '.join(files) or 'none'}."
        )
    return path


def included_files(path: Path, include: Sequence[Path], options: Sequence[str] = ()) -> list[Path]:
    """The files that a source includes, directly or through other files, in the order of their first use.

    options  the kernel's further options for nvcc

    They lie beside the including file, in a folder of `include`, or at an absolute path. Where a macro names a file, or
    an option or an environment variable names a folder, the preprocessor is asked, too. Files below /usr are left out:
    they change with the compiler's release. So are missing ones, which the compiler names.
    """
    # A file may include itself, under another name.
    found = {path.resolve(): path}
    waiting = [path]
    named_by_macro = False
    while waiting:
        source = waiting.pop(0)
        text = read_source(source)
        named_by_macro |= bool(_NAMED_BY_MACRO.search(text))
        for file in _directly_included(source, text, include):
            if file.resolve() not in found:
                found[file.resolve()] = file
                waiting.append(file)
    if named_by_macro or options or code_variables():
        files = preprocessed_files(path, include, options)
        if files is None and named_by_macro:  # Any header may be meant.
            files = [file for folder in (path.parent, *include) for file in sorted(folder.glob("**/*.[hci]*"))]
        for file in files or []:
            if not file.is_relative_to("/usr"):
                found.setdefault(file.resolve(), file)
    return list(found.values())[1:]


def read_source(path: Path) -> str:
    """The text of a kernel's file or of an included file. Raises UserError if it is not in UTF-8 or can't be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: not a text in UTF-8. Save the file in that encoding.") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}.") from error


def _directly_included(path: Path, text: str, include: Sequence[Path]) -> list[Path]:
    """The files that a source with this text itself includes, in their order, found as by included_files()."""
    folders = {"quoted": [path.parent, *include], "angled": include}
    places = [
        [Path(os.path.normpath(folder / found[kind])) for folder in folders[kind]]
        for found in _INCLUDE.finditer(text)
        for kind in [found.lastgroup or ""]
    ]
    return [file for candidates in places if (file := next(filter(os.path.isfile, candidates), None))]


def code_sha256(path: Path, included: Iterable[Path]) -> str:
    """SHA-256 over the code of a kernel's source and of the files that it includes, without comments and blanks."""
    digest = hashlib.sha256()
    for file in (path, *sorted(included)):
        digest.update(" ".join(cxx_code(read_source(file), keep_leading=False).split()).encode())
    return digest.hexdigest()


def source_sha256(path: Path, included: Iterable[Path]) -> str:
    """SHA-256 over a kernel's source and the files that it includes, which may come in any order."""
    digest = hashlib.sha256()
    for file in (path, *sorted(included)):
        digest.update(file.read_bytes())
    return digest.hexdigest()
