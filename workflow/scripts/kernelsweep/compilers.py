"""What compilers are given besides their command: environment variables, which are few, so that a kept unit can name
all of them.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.errors import BuildError

# The variables that change what g++ and nvcc make of a file, by their documents (GCC's manual, "Environment Variables
# Affecting GCC"; NVIDIA CUDA Compiler Driver, "NVCC Environment Variables").
_OF_CODE = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LIBRARY_PATH",
    "SOURCE_DATE_EPOCH",
    "CUDA_HOME",
)
# The variables without which programs don't start or have no place for temporary files. They are no part of a unit's
# identity: the release of a compiler that the PATH finds is.
_OF_PROCESSES = ("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT")


def code_variables() -> dict[str, str]:
    """The environment variables that change what compilers make of a file, where they are set."""
    return {name: os.environ[name] for name in _OF_CODE if os.environ.get(name)}


def run_compiler(command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a compiler, with `variables` and no other variables of the environment than are listed here.

    So nothing changes what it compiles unless code_variables() has it. Its messages are in English.
    """
    kept = {name: os.environ[name] for name in _OF_PROCESSES if name in os.environ}
    environment = {**kept, **code_variables(), "LC_ALL": "C", **variables}
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=environment)


def gxx() -> list[str]:
    """The command for g++, from CXX if that is set. Raises BuildError if CXX is no command."""
    try:
        return shlex.split(os.environ.get("CXX", "")) or ["g++"]
    except ValueError as error:
        raise BuildError(
            f"the environment variable CXX is {os.environ['CXX']!r}, which is no command ({error}): "
            "name a C++ compiler, such as g++-12"
        ) from error


def preprocessed_files(source: Path, include: Sequence[Path], options: Sequence[str]) -> list[Path] | None:
    """The files that g++'s preprocessor reads for a source, without the source itself, as absolute paths.

    include  folders of headers
    options  nvcc's options, of which g++ gets those that change what is included

    They are those with the GPU's macros, and then those without. None where g++ can't say: it is missing, or a macro
    that names a file is defined by the sweep.
    """
    # g++ guesses what stands at a missing file's place, which compilers then report: -MG.
    command = [*gxx(), "-x", "c++", "-M", "-MG", *(f"-I{folder}" for folder in include), *_of_preprocessor(options)]
    found: dict[Path, None] = {}
    for macros in (["-D__CUDACC__", "-D__NVCC__", "-D__CUDA_ARCH__=900"], []):
        try:
            run = run_compiler([*command, *macros, str(source)])
        except OSError:
            return None
        if run.returncode:
            return None
        names = shlex.split(run.stdout.replace("\\\n", " "))[2:]
        found |= dict.fromkeys(Path(os.path.abspath(name)) for name in names if os.path.isfile(name))
    return list(found)


def _of_preprocessor(options: Sequence[str]) -> list[str]:
    """The options, with those that nvcc's variables add, that change what a preprocessor includes."""
    every = [
        *shlex.split(os.environ.get("NVCC_PREPEND_FLAGS", "")),
        *options,
        *shlex.split(os.environ.get("NVCC_APPEND_FLAGS", "")),
    ]
    kept: list[str] = []
    for number, option in enumerate(every):
        for long, short in _SPELLINGS.items():
            if option in (long, short):
                kept += [short, *every[number + 1 : number + 2]]
            elif option.startswith(f"{long}="):
                kept += [short, option.removeprefix(f"{long}=")]
            elif option.startswith(short) and len(short) == 2:
                kept.append(option)
    return kept


# nvcc's long names of such options, and the short ones, which are g++'s.
_SPELLINGS = {
    "--include-path": "-I",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--system-include": "-isystem",
    "--pre-include": "-include",
}
