"""Compile one unit of a kernel, for a GPU architecture or for the emulator, and report on each of its variants."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernelsweep.base.code_hash import code_hash, sha256_of, user_code_hash
from kernelsweep.base.compilers import code_variables, language_standard, named_headers, preprocessor_lines
from kernelsweep.compile import emulated, nvcc
from kernelsweep.compile.candidate_code import check_preprocessed, check_source, mark_branches, other_branch
from kernelsweep.compile.device_code import constant_names, lacking_headers, left_out, write_device_code
from kernelsweep.compile.toolkit import find_tool
from kernelsweep.compile.unit_store import Compiled
from kernelsweep.compile.user_code import compile_by_user
from kernelsweep.errors import BuildError
from kernelsweep.reasons import Reason
from kernelsweep.results import OTHER_CODE
from kernelsweep.study.kernels.source import KernelSource, included_files, read_source
from kernelsweep.study.kernels.units import EMULATOR, Unit, variant_name

# As which GPU the emulator compiles where no GPU is swept: one with its limits (launch.hpp).
DEFAULT_ARCHITECTURE = "sm_90"

_NAMED = re.compile(r"\b(?:__CUDA\w+|__NVCC\w*|CUDART_VERSION|CUDA_VERSION)\b")


def names_gpu(files: Iterable[Path]) -> bool:
    """Whether sources name a macro that nvcc defines: what they are may depend on it. Raises UserError."""
    return any(_NAMED.search(read_source(file)) for file in files)


_HEAD = "// Generated: the kernel's file and the variants that are compiled with it. Edit the kernel instead.\n"


# CUDA's headers of types that a launch may name, though only the host's code includes them.
_TYPES = {"half2?|__half2?": "cuda_fp16.h", "(__)?nv_bfloat162?": "cuda_bf16.h"}


def headers_of_types(functions: Iterable[str]) -> str:
    """The lines that include CUDA's headers of the types that functions name, such as ``scale<half>``."""
    words = {word for function in functions for word in re.findall(r"\w+", function)}
    needed = [header for types, header in _TYPES.items() if any(re.fullmatch(types, word) for word in words)]
    return "".join(f"#include <{header}>\n" for header in needed)


def cuda_unit(kernel_file: Path, unit: Unit) -> str:
    """The unit for nvcc: a table of the functions' addresses, which has nvcc compile each of them.

    The table ends with a null, since C++ has no empty arrays and a unit may have no functions. Macros are defined for
    the kernel only: CUDA's own names may be the same.
    """
    defined = headers_of_types(unit.functions)
    defined += "".join(f"#define {name} {value}\n" for name, value in unit.macros.items())
    addresses = "".join(f"    (void *)&{name},\n" for name in unit.functions)
    table = f"void *kernelsweep_functions[] = {{\n{addresses}    nullptr,\n}};\n"
    return f'{_HEAD}{defined}#include "{kernel_file}"\n#line 1 "launches of {kernel_file.name}"\n{table}'


_COMPILING = ("build.py", "candidate_code.py", "device_code.py", "emulated.py", "nvcc.py", "torch.cuh", "user_code.py")

# The resources of a variant that launches several functions, from the resources of the functions.
_COMBINED = {"registers": max, "shared_bytes": max, "spill_store_bytes": max, "spill_load_bytes": max}


@dataclass(frozen=True)
class Source:
    """The source of a kernel's units.

    emulator   the folder of the emulator's C++ headers; None where no unit is for the emulator
    runtime    the emulator's runtime, as emulated.compiled_runtime() gives it; None as above
    options    further options for nvcc, of which g++ is given what they define, undefine and include
    constants  the variables in constant and global memory that the host sets or reads
    without    headers that the compiler lacks something of (device_code.lacking_headers)
    cuts       what is cut out: 2 for what the unit's functions don't use, 1 for the host's functions, 0 for nothing
    gpu        the architecture as which the emulator compiles, such as sm_90
    is_candidate  whether nobody trusts it, so that its words are checked as compilers read them
    """

    file: Path
    include: Sequence[Path]
    emulator: Path | None = None
    runtime: Path | None = None
    options: Sequence[str] = ()
    constants: Sequence[str] = ()
    without: frozenset[str] = frozenset()
    cuts: int = 2
    gpu: str = DEFAULT_ARCHITECTURE
    is_candidate: bool = False


def gpu_source(file: Path, kernel: KernelSource, include: Iterable[str]) -> Source:
    """The source of a kernel's units for a GPU."""
    return Source(file, list(map(Path, include)), options=kernel.options, constants=kernel.entry.host_variables)


def compile_unit(source: Source, file: Path, target: str, unit: Unit) -> Compiled:
    """Compile a unit into `file`. Raises BuildError."""
    if source.file.suffix == ".py":
        warnings, report = compile_by_user(source.file, file, target, unit.macros)
        return warnings, dict.fromkeys(unit.functions, report)
    try:
        warnings, reports = (_for_emulator if target == EMULATOR else _for_gpu)(source, file, target, unit)
        return left_out(warnings)[0], reports
    except BuildError as error:
        files = [source.file, *included_files(source.file, source.include, source.options)]
        without = source.without | lacking_headers(str(error), files)
        if without != source.without:
            return compile_unit(replace(source, without=without), file, target, unit)
        if source.cuts > (target == EMULATOR) and error.reason != Reason.NOT_SUPPLIED:
            with suppress(BuildError):
                return compile_unit(replace(source, cuts=source.cuts - 1), file, target, unit)
        message, headers = left_out(str(error))
        if headers:
            named = [name for name in headers if name[0] != "<"]
            folders = ". Name their folders in the options, as -Iinclude" if named else ""
            message = f"{message.rstrip()}\nHeaders that were not found, and left out: {', '.join(headers)}{folders}."
        raise BuildError(message, error.reason, error.cause) from error


def compiler_of(target: str) -> str:
    """The release of a target's compiler. Raises BuildError if it is missing."""
    return emulated.version() if target == EMULATOR else nvcc.version()


def content_of(source: Source, target: str, compiler: str) -> dict[str, Any]:
    """All that determines a kernel's units, besides what differs between them."""
    headers = [source.runtime, *sorted(source.emulator.glob("**/*.h*"))] if source.emulator and source.runtime else []
    included = included_files(source.file, source.include, source.options)
    return {
        "files": [sha256_of(file) for file in (source.file, *included, *headers)],
        # Warnings and findings name them: a copy of a file has its own.
        "names": [os.path.relpath(file) for file in (source.file, *included)],
        "packages": user_code_hash([source.file, *included]) if source.file.suffix == ".py" else "",
        "options": list(source.options),
        "constants": list(source.constants),
        "target": target,
        "compiler": compiler,
        "gpu": emulated.gpu_macros(source.gpu) if headers and names_gpu([source.file, *included]) else {},
        "variables": code_variables(),
        **({"is_candidate": True} if source.is_candidate else {}),
        "code": code_hash([*map(Path(__file__).with_name, _COMPILING), *emulated.CODE]),
    }


def content_of_unit(unit: Unit, target: str) -> dict[str, Any]:
    """What determines a unit besides content_of(); of options, g++ reads only some. Raises BuildError."""
    if target == EMULATOR:
        read = [preprocessor_lines(unit.options), *language_standard(unit.options)]
        return {"macros": unit.macros, "options of the unit": read}
    toolkit = nvcc.version(unit.toolkit) if unit.toolkit else ""
    return {"macros": unit.macros, "options of the unit": unit.options, "toolkit": toolkit}


def _for_emulator(source: Source, library: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with g++. Returns its warnings, and what the report says of each function.

    Code that names macros of nvcc's is compiled with them; without these macros where g++ refuses that.
    """
    options = [*source.options, *unit.options]
    assert source.emulator is not None and source.runtime is not None
    files = [source.file, *included_files(source.file, source.include, source.options)]
    other = _check_preprocessed(source, library, unit, files) if source.is_candidate else ""
    kernel, include = _device_code(source, files, library.with_suffix(".source"), unit)
    compiled = [kernel, *included_files(kernel, include, options)]
    made = emulated.compile_kernel(
        kernel,
        unit.functions,
        include=include,
        macros=unit.macros,
        constants=source.constants,
        as_gpu=source.gpu if names_gpu(files) else None,
        library=library,
        runtime=source.runtime,
        given=headers_of_types(unit.functions) + preprocessor_lines(options),
        options=language_standard(options),
        files=compiled,
        constant_names={name for file in compiled for name in constant_names(read_source(file))},
        headers=source.emulator,
    )
    found = {"binary_sha256": sha256_of(library)}
    if made.lacks:
        found[OTHER_CODE] = f"{source.file}: the emulator can't run the GPU's code ({made.lacks})"
    elif other:
        found[OTHER_CODE] = f"{source.file}: {other}"
    return made.warnings, {name: {"entry": entry, **found} for entry, name in enumerate(unit.functions)}


def _check_preprocessed(source: Source, library: Path, unit: Unit, files: Sequence[Path]) -> str:
    """Check the words of an untrusted kernel as compilers read them. Raises BuildError for those it may not have.

    Returns why nvcc may compile other code than g++, in words; "" where both read the same lines, or without nvcc.
    """
    options, folder = [*source.options, *unit.options], library.with_suffix(".words")

    def marked(source: Source) -> tuple[Path, list[Path], list[str]]:
        kernel, include = _device_code(source, files, folder, unit)
        return kernel, include, mark_branches(sorted(file for file in folder.rglob("*") if file.is_file()))

    kernel, include, conditions = marked(source)
    known = {check for file in files for check in check_source(read_source(file), str(file))}
    try:
        of_gxx = emulated.preprocess_kernel(
            kernel,
            include=include,
            macros=unit.macros,
            as_gpu=source.gpu if names_gpu(files) else None,
            given=headers_of_types(unit.functions) + preprocessor_lines(options),
            options=language_standard(options),
            headers=source.emulator,
        )
    except BuildError as error:  # With it, g++ refuses the unit, or compiles other code.
        return str(error)
    check_preprocessed(of_gxx, files, known)
    if not find_tool("nvcc"):
        return ""
    kernel, include, _ = marked(replace(source, without=frozenset()))  # nvcc may have what g++ lacks.
    text = folder.with_suffix(".cu")
    text.write_text(cuda_unit(kernel, unit), encoding="utf-8")
    try:
        of_nvcc = nvcc.preprocess(text, text.with_suffix(".ii"), source.gpu, include, options)
    except BuildError as error:
        return str(error)
    other = other_branch(of_gxx, of_nvcc, conditions)
    return f"nvcc reads other lines than g++, after {other[:100]!r}" if other else ""


def _for_gpu(source: Source, cubin: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with nvcc. Returns its warnings, and what the report says of each function."""
    text = cubin.with_suffix(".cu")
    files = [source.file, *included_files(source.file, source.include, source.options)]
    kernel, include = _device_code(source, files, cubin.with_suffix(".source"), unit)
    text.write_text(cuda_unit(kernel, unit), encoding="utf-8")
    output = nvcc.compile_cubin(text, cubin, target, include, [*source.options, *unit.options], unit.toolkit)
    return nvcc.warnings(output), nvcc.function_reports(output, cubin, unit.functions)


def _device_code(source: Source, files: Sequence[Path], folder: Path, unit: Unit) -> tuple[Path, list[Path]]:
    """Copies of a source in a folder, less what the unit doesn't need: the kernel's file, and folders of headers."""
    functions = (None, [], unit.functions)[source.cuts]
    kernel = write_device_code(folder, files, functions, unit.macros, source.constants, source.without)
    folders = [*source.include, *named_headers(source.options)[0]]
    return kernel, [path for each in folders for path in (folder / os.path.abspath(each)[1:], each)]


def variant_reports(unit: Unit, functions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The report's entries of a unit: one for each function, and one for each variant of several functions.

    The unit's number is 0, as of a binary that has no other.
    """
    entries = {variant_name([name], unit.given): {**functions[name], "unit": 0} for name in functions}
    for names in unit.variants:
        if len(names) > 1:
            entries[variant_name(names, unit.given)] = _combined([functions[name] for name in names])
    return entries


def _combined(functions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The resources of functions that are launched one after another: the largest of each, and one hash."""
    each = list(functions)
    digest = hashlib.sha256("".join(function["binary_sha256"] for function in each).encode()).hexdigest()
    resources = {name: pick(one[name] for one in each) for name, pick in _COMBINED.items() if name in each[0]}
    return {**resources, "binary_sha256": digest}
