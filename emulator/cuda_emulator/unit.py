"""Compile a kernel's functions: their translation unit, and the macros of the GPU as which it is compiled."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuda_emulator.compiling import (
    HEADERS,
    Run,
    compile_for_emulator,
    compile_runtime,
    preprocessed,
    run_plainly,
)
from cuda_emulator.errors import Refused

# The release of nvcc that the macros tell unless another is named.
RELEASE = "13.0.0"


@dataclass(frozen=True)
class Compiled:
    """A kernel's shared library.

    warnings  the compiler's
    lacks     why the code for the GPU can't run here, so that the library has the code for other compilers; else empty
    """

    path: Path
    warnings: str
    lacks: str = ""


def compile(
    source: Path,
    functions: Sequence[str],
    include: Sequence[Path] = (),
    macros: Mapping[str, str] | None = None,
    constants: Sequence[str] = (),
    as_gpu: str | None = "sm_90",
    *,
    library: Path | None = None,
    runtime: Path | None = None,
    given: str = "",
    release: str = RELEASE,
    options: Sequence[str] = (),
    files: Sequence[Path] | None = None,
    constant_names: Collection[str] = (),
    headers: Path = HEADERS,
    is_untrusted: bool = False,
    run: Run = run_plainly,
) -> Compiled:
    """Compile a kernel's file to a shared library for the emulator.

    functions  the kernels that can be launched, in the library's order, such as "scale<float>"
    include    the folders of its headers
    macros     are defined for the kernel
    constants  the variables in constant memory whose addresses the library gives
    as_gpu     the architecture whose macros are defined, if g++ takes the code that they choose; None: no such macros
    library    its path; beside the source if None
    runtime    compile_runtime()'s, which all libraries can share; None: one is made for this process
    given      lines before the kernel, such as macros
    release    of nvcc, for the macros

    The others are as compile_for_emulator() has them. Raises Refused.
    """
    library, macros = library or source.with_suffix(".so"), macros or {}
    unit = library.with_suffix(".cpp")

    def compiled(first: str, lacks: str = "") -> Compiled:
        unit.write_text(emulator_unit(source.absolute(), functions, macros, constants, first), encoding="utf-8")
        made, named = runtime or _runtime_of_process(headers, run), {*constants, *constant_names}
        told = compile_for_emulator(unit, library, made, include, options, files, named, headers, is_untrusted, run)
        return Compiled(library, told, lacks)

    if as_gpu is None:
        return compiled(given)
    of_gpu = _defined(gpu_macros(as_gpu, release))
    try:
        return compiled(of_gpu + given)
    except Refused as error:
        try:
            return compiled(given, error.cause)
        except Refused:
            raise error from None


def preprocess(
    source: Path,
    include: Sequence[Path],
    macros: Mapping[str, str],
    as_gpu: str | None,
    *,
    given: str,
    options: Sequence[str],
    release: str = RELEASE,
    headers: Path = HEADERS,
    run: Run = run_plainly,
) -> str:
    """What the preprocessor makes of a kernel's file. The arguments are those of compile().

    The emulator's macros, such as `threadIdx`, stay words. Raises Refused.
    """
    texts = (file.read_text(encoding="utf-8") for file in sorted(headers.glob("**/*.hpp")))
    own = dict.fromkeys(name for text in texts for name in _OWN_MACRO.findall(text))
    before = _defined(gpu_macros(as_gpu, release)) if as_gpu else ""
    before += given + "".join(f"#undef {name}\n#define {name} {name}\n" for name in own)
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder, "unit.cpp")
        unit.write_text(emulator_unit(source.absolute(), (), macros, (), before), encoding="utf-8")
        return preprocessed(unit, include, options, headers, run)


# A macro of the emulator's headers, and no setting of the C++ library's.
_OWN_MACRO = re.compile(r"^#define ([A-Za-z]\w*|__[a-z]\w*__)", re.MULTILINE)


def _defined(macros: Mapping[str, str]) -> str:
    return "".join(f"#define {name} {value}\n" for name, value in macros.items())


@cache
def _runtime_of_process(headers: Path, run: Run) -> Path:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return compile_runtime(Path(folder) / "runtime.o", headers, run)


def gpu_macros(architecture: str, release: str = RELEASE) -> dict[str, str]:
    """The macros that a release of nvcc defines for an architecture, such as sm_90."""
    number = re.sub(r"\D", "", architecture) + "0"
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


_HEAD = "// Generated: the kernel's file and the variants that are compiled with it. Edit the kernel instead.\n"


def emulator_unit(
    kernel_file: Path,
    functions: Sequence[str],
    macros: Mapping[str, str],
    constants: Sequence[str] = (),
    given: str = "",
) -> str:
    """The unit for g++: the emulator's header, the kernel, and a table of its functions, which are called by index.

    Macros are defined for the kernel only: the emulator's own names may be the same.
    """
    defined = given + _defined(macros)
    undefined = "".join(f"#undef {name}\n" for name in macros)
    entries = "".join(f'    EMULATOR_ENTRY("{name}", {name}),\n' for name in functions)
    symbols = "".join(f"EMULATOR_SYMBOL({name}), " for name in constants)
    table = f"static const emulator::Entry entries[] = {{\n{entries}}};\n"
    table += f"static const emulator::Symbol symbols[] = {{{symbols}{{}}}};\nEMULATOR_EXPORT(entries, symbols)\n"
    # The emulator is compiled with a sanitizer, and no GPU's code is. Of g++'s own functions on memory, nvcc has these:
    # g++ writes short ones out, as accesses that no hook sees.
    words = "#undef __SANITIZE_THREAD__\n#define __builtin_memcpy memcpy\n#define __builtin_memset memset\n"
    kernel = f'#include "emulator.hpp"\n{words}{defined}#include "{kernel_file}"\n'
    return f'{_HEAD}{kernel}#line 1 "launches of {kernel_file.name}"\n{undefined}{table}'
