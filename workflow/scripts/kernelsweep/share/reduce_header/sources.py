"""Kernels' sources and the files that they include as one C++ text, each file in its own namespace.

Only includes change: includes of the project's files become using-directives, and includes of libraries are collected
for the top of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelsweep.share.reduce_header.offered import needed_architecture
from kernelsweep.sweep.kernels.source import KernelSource, directly_included, read_source

_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*\n', re.MULTILINE)
_LIBRARY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[^>]+>).*\n", re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once.*\n", re.MULTILINE)


@dataclass(frozen=True)
class SourceFile:
    """One file.

    path          relative to the folder of kernels
    namespace     the namespace of its names
    uses          the namespaces of the files that it includes
    architecture  the smallest architecture, such as 90, of any kernel that needs the file; 0 for any architecture
    text          its text without includes
    """

    path: str
    namespace: str
    uses: tuple[str, ...]
    architecture: int
    text: str


def source_files(kernels: Sequence[KernelSource], folder: Path) -> list[SourceFile]:
    """The files of the kernels and their includes, each once, after the files that it includes.

    folder  the folder of all kernels, which contains the folder `include`
    """
    needed: dict[Path, int] = {}
    for kernel in kernels:
        for path in _after_what_they_include(kernel.path, folder):
            architecture = needed_architecture(kernel)
            needed[path] = min(architecture, needed.get(path, architecture))
    return [_source_file(path, folder, architecture) for path, architecture in needed.items()]


def library_includes(kernels: Sequence[KernelSource], folder: Path) -> list[str]:
    """The library headers that these files include, such as <limits>, sorted."""
    files = {path for kernel in kernels for path in _after_what_they_include(kernel.path, folder)}
    return sorted({name for path in files for name in _LIBRARY_INCLUDE.findall(path.read_text(encoding="utf-8"))})


def namespace(path: Path, folder: Path) -> str:
    """The namespace of a file: include_warp_cuh for include/warp.cuh."""
    return re.sub(r"\W", "_", path.relative_to(folder).as_posix())


def _after_what_they_include(path: Path, folder: Path, including: Sequence[Path] = ()) -> list[Path]:
    """All direct and indirect includes of a file, then the file; `including` is the chain of files that include it."""
    found: list[Path] = []
    for included in directly_included(path, read_source(path), [folder / "include"]):
        if included not in including:
            files = _after_what_they_include(included, folder, [*including, path])
            found += [file for file in files if file not in found]
    return [*found, path]


def _source_file(path: Path, folder: Path, architecture: int) -> SourceFile:
    text = path.read_text(encoding="utf-8")
    for pattern in (_OWN_INCLUDE, _LIBRARY_INCLUDE, _ONCE):
        text = pattern.sub("", text)
    return SourceFile(
        path=path.relative_to(folder).as_posix(),
        namespace=namespace(path, folder),
        uses=tuple(
            namespace(file, folder) for file in directly_included(path, read_source(path), [folder / "include"])
        ),
        architecture=architecture,
        text=re.sub(r"\n{3,}", "\n\n", text).strip(),
    )
