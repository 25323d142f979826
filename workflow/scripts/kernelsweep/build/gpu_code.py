"""The code of a source as nvcc's macros choose it, and the lines where it is other code without them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from kernelsweep.build import nvcc
from kernelsweep.errors import BuildError
from kernelsweep.sweep.kernels.source import read_source

# As which GPU the emulator compiles where no GPU is swept: one with its limits (launch.hpp).
DEFAULT_ARCHITECTURE = "sm_90"
_DEFAULT_RELEASE = "13.0.0"

_NAMED = re.compile(r"\b(?:__CUDA\w+|__NVCC\w*|CUDART_VERSION|CUDA_VERSION)\b")
_PLACE = re.compile(r'^# (\d+) "([^"]*)"', re.MULTILINE)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|[^\w\s]')

# Before a source, so that code_of() has what launch_bounds() looks for.
KEEPS_SPECIFIERS = "#undef __global__\n#undef __launch_bounds__\n"


def names_gpu(files: Iterable[Path]) -> bool:
    """Whether sources name a macro that nvcc defines: what they are may depend on it. Raises UserError."""
    return any(_NAMED.search(read_source(file)) for file in files)


def gpu_macros(architecture: str) -> dict[str, str]:
    """The macros that nvcc defines for an architecture, such as sm_90, with the release of nvcc that is installed."""
    number = re.sub(r"\D", "", architecture) + "0"
    try:
        release = nvcc.version().removeprefix("nvcc ")
    except BuildError:
        release = _DEFAULT_RELEASE
    major, minor, build = [*release.split("."), "0", "0"][:3]
    of_family = {f"__CUDA_ARCH_FEAT_SM{number[:-1]}_ALL": "1"} if architecture.endswith("a") else {}
    return {
        "__CUDACC__": "1",
        "__NVCC__": "1",
        "__CUDACC_VER_MAJOR__": major,
        "__CUDACC_VER_MINOR__": minor,
        "__CUDACC_VER_BUILD__": build,
        "__CUDA_API_VER_MAJOR__": major,
        "__CUDA_API_VER_MINOR__": minor,
        "CUDART_VERSION": f"{major}0{minor}0",
        "__CUDA_ARCH__": number,
        "__CUDA_ARCH_LIST__": number,
        **of_family,
    }


def other_lines(one: str, another: str, files: Iterable[Path]) -> str:
    """The lines with other tokens in one output of the preprocessor than in another: file:first-last; empty if none.

    files  whose lines count, as messages name them
    """
    tokens: dict[tuple[str, int], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, text in enumerate((one, another)):
        for token, file, line in _tokens(text, files):
            tokens[file, line][side].append(token)
    lines: dict[str, list[int]] = defaultdict(list)
    for file, line in sorted(place for place, (first, second) in tokens.items() if first != second):
        lines[file].append(line)
    return ", ".join(f"{file}:{_ranges(found)}" for file, found in lines.items())


def code_of(text: str, files: Iterable[Path]) -> str:
    """The tokens of these files in an output of the preprocessor."""
    return " ".join(token for token, _, _ in _tokens(text, files))


def _tokens(text: str, files: Iterable[Path]) -> Iterator[tuple[str, str, int]]:
    """The tokens of files in an output of the preprocessor, each with its file and its line."""
    shown = {file.resolve(): str(file) for file in files}
    names = {name: shown.get(Path(name).resolve(), "") for name in {place[2] for place in _PLACE.finditer(text)}}
    file, line = "", 0
    for row in text.splitlines():
        if place := _PLACE.match(row):
            file, line = names[place[2]], int(place[1])
            continue
        if file and not row.startswith("#"):
            yield from ((token, file, line) for token in _TOKEN.findall(row))
        line += 1


def _ranges(lines: Sequence[int]) -> str:
    """Such as 3-5, 9."""
    starts = [lines[0], *(after for before, after in pairwise(lines) if after != before + 1)]
    ends = [*(before for before, after in pairwise(lines) if after != before + 1), lines[-1]]
    return ", ".join(f"{start}-{end}" if end > start else str(start) for start, end in zip(starts, ends, strict=True))
