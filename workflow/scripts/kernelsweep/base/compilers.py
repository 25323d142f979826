"""What compilers are given besides the kernel: environment variables, which are few, so that a kept unit can name all
of them.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from kernelsweep.base.sandbox import compiling
from kernelsweep.errors import FULL, UserError

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
    "CXX",  # the command for g++, with options: see gxx()
)
# The variables without which programs don't start or have no place for temporary files. They are no part of a unit's
# identity: the release of a compiler that the PATH finds is.
_OF_PROCESSES = ("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT")

_MOST_PRINTED = 2**24

# A killed compiler's exit status, without the sandbox and within; and what g++ and nvcc say of a process of theirs.
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_KILLED_WITHIN = ("Killed signal terminated program", "died due to signal 9")


def code_variables() -> dict[str, str]:
    """The environment variables that change what compilers make of a file, where they are set."""
    return {name: os.environ[name] for name in _OF_CODE if os.environ.get(name)}


def run_compiler(command: Sequence[str], is_ours: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a compiler, with `variables` and no other variables of the environment than are listed here.

    So nothing changes what it compiles unless code_variables() has it. Its messages are in English. Where this run's
    kernels are untrusted, it runs in the sandbox, unless the code `is_ours`. One that was killed is run once more: that
    says nothing of the code. Raises OSError where the disk is full, and UserError where it was killed again.
    """
    for _ in range(2):
        run = _run(command, is_ours, variables)
        if not (run.returncode in _KILLED or any(words in run.stderr for words in _KILLED_WITHIN)):
            return run
    raise UserError(
        f"The compiler {command[0]} was killed twice (signal 9), as where memory runs out. It found nothing wrong with "
        "the kernel: the same command compiles it again. If memory is short, run one job at a time, with --cores 1."
    )


def _run(command: Sequence[str], is_ours: bool, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in _OF_PROCESSES if name in os.environ}
    environment = {**kept, **code_variables(), "LC_ALL": "C", **variables}
    command = command if is_ours else compiling(command, [command[0], gxx()[0]])
    # A file's macros can print more than the memory holds.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment
        ).returncode
        run = subprocess.CompletedProcess(command, status, _text(output), _text(errors))
    for number in FULL:
        if run.returncode and os.strerror(number) in run.stderr:
            raise OSError(number, os.strerror(number), command[-1])
    return run


def _text(printed: IO[bytes]) -> str:
    printed.seek(0)
    return printed.read(_MOST_PRINTED).decode("utf-8", "replace")


def gxx() -> list[str]:
    """The command for g++, from CXX if that is set."""
    return shlex.split(os.environ.get("CXX", "")) or ["g++"]


def named_headers(options: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """The folders of headers, and the headers, that nvcc's options and variables name besides its command."""
    folders = [part for name in _FOLDERS for part in os.environ.get(name, "").split(os.pathsep) if part]
    given = [*_option_values(options)]
    folders += [value for name, value in given if name in _OF_FOLDER]
    return [Path(folder) for folder in folders], [Path(value) for name, value in given if name in _OF_FILE]


def preprocessor_lines(options: Sequence[str]) -> str:
    """What nvcc's options and variables define and include before a source, as lines for the preprocessor."""
    lines = []
    for name, value in _option_values(options):
        if name in _OF_MACRO:
            macro, _, defined = value.partition("=")
            lines.append(f"#define {macro} {defined if '=' in value else 1}\n")
        elif name in _OF_NO_MACRO:
            lines.append(f"#undef {value}\n")
        elif name in _OF_FILE:
            lines.append(f'#include "{value}"\n')
    return "".join(lines)


def language_standard(options: Sequence[str]) -> list[str]:
    """The option of g++ for the language standard that nvcc's options and variables name, if they do."""
    return [f"-std={value}" for name, value in _option_values(options) if name in _OF_STANDARD][-1:]


def source_options(words: Sequence[str], folder: Path) -> list[str]:
    """The options among a compiler's words that say something of a source, each one word, with paths from `folder`."""
    found = []
    for name, value in _values_of(words):
        if name in _OF_FOLDER:
            found.append(f"-I{(folder / value).resolve()}")
        elif name in _OF_FILE:
            found.append(f"-include={(folder / value).resolve()}")
        else:
            of_macro = "-D" if name in _OF_MACRO else "-U" if name in _OF_NO_MACRO else "-std="
            found.append(f"{of_macro}{value}")
    return list(dict.fromkeys(found))


def _option_values(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options that say something of a source, each with its value, however the two are written."""
    words = [*shlex.split(os.environ.get("NVCC_PREPEND_FLAGS", "")), *options]
    words += shlex.split(os.environ.get("NVCC_APPEND_FLAGS", ""))
    return _values_of(words)


def _values_of(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """As _option_values(), of a command's words."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, _, value = word.partition("=")
        if name in (*_OF_FOLDER, *_OF_FILE, *_OF_MACRO, *_OF_NO_MACRO, *_OF_STANDARD):
            yield name, value or following
        elif word[:2] in ("-I", "-D", "-U"):
            yield word[:2], word[2:]


_FOLDERS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_OF_FOLDER = ("-I", "--include-path", "-isystem", "--system-include")
_OF_FILE = ("-include", "--pre-include")
_OF_MACRO = ("-D", "--define-macro")
_OF_NO_MACRO = ("-U", "--undefine-macro")
_OF_STANDARD = ("-std", "--std")
