"""Compile for the emulator, a package of its own (emulator/): with this library's errors, and in its sandbox."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import cuda_emulator.compiling
import cuda_emulator.symbols
import cuda_emulator.unit
from cuda_emulator.errors import Refused
from cuda_emulator.unit import Compiled
from kernelsweep.base.code_hash import code_hash
from kernelsweep.base.compilers import code_variables, run_compiler
from kernelsweep.base.sandbox import is_untrusted
from kernelsweep.base.user_cache import cache_folder
from kernelsweep.compile import nvcc
from kernelsweep.errors import BuildError
from kernelsweep.reasons import Reason

# The folder of the emulator's C++; CUDA's headers are in its folder include.
HEADERS = cuda_emulator.compiling.HEADERS
# What of the package decides how a unit is compiled.
CODE = tuple(Path(str(one.__file__)) for one in (cuda_emulator.compiling, cuda_emulator.symbols, cuda_emulator.unit))
# What reads no file of a user's needs no sandbox.
_run_ours = partial(run_compiler, is_ours=True)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Refused as error:
        reason = Reason.NOT_SUPPLIED if error.is_lacking else Reason.NONE
        raise BuildError(str(error), reason, error.cause) from error


def version() -> str:
    """The compiler's release, such as "g++ 12.2.0". Raises BuildError if the command is no g++."""
    with _refusals():
        return cuda_emulator.compiling.version(_run_ours)


def compiled_runtime(headers: Path) -> Path:
    """The object file with what every kernel's library contains, in the user's cache.

    It is compiled unless it is there for these sources and this compiler. Raises BuildError.
    """
    sources = [*sorted(headers.glob("**/*.*")), *CODE]
    made_from = f"{headers} {code_hash(sources)} {version()} {code_variables()}"
    kept = cache_folder() / f"emulator-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    if not (runtime := kept / "runtime.o").exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with _refusals(), tempfile.TemporaryDirectory(dir=kept.parent) as made:
            cuda_emulator.compiling.compile_runtime(Path(made) / runtime.name, headers, _run_ours)
            with suppress(OSError):  # Another process may be first.
                Path(made).rename(kept)
                Path(made).mkdir()
    for file in kept.iterdir():
        os.utime(file)  # It was used today.
    return runtime


def compile_kernel(kernel: Path, functions: Sequence[str], **settings: Any) -> Compiled:
    """As cuda_emulator.unit.compile(), whose further arguments are `settings`. Raises BuildError."""
    of_process: dict[str, Any] = {"release": _release(), "is_untrusted": is_untrusted(), "run": run_compiler}
    with _refusals():
        return cuda_emulator.unit.compile(kernel, functions, **settings, **of_process)


def preprocess_kernel(kernel: Path, **settings: Any) -> str:
    """As cuda_emulator.unit.preprocess(), whose further arguments are `settings`. Raises BuildError."""
    with _refusals():
        return cuda_emulator.unit.preprocess(kernel, release=_release(), run=run_compiler, **settings)


def gpu_macros(gpu: str) -> dict[str, str]:
    """The macros of an architecture, such as sm_90, and of nvcc's release."""
    return cuda_emulator.unit.gpu_macros(gpu, _release())


def _release() -> str:
    """The release of nvcc that is installed; another where none is."""
    try:
        return nvcc.version().removeprefix("nvcc ")
    except BuildError:
        return cuda_emulator.unit.RELEASE
