"""Compile one unit of a kernel, for a GPU architecture or for the emulator, and report on each of its variants."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.build import gcc, nvcc
from kernelsweep.build.device_code import included_folders, write_device_code
from kernelsweep.build.translation_unit import cuda_unit, emulator_unit
from kernelsweep.build.unit_store import Compiled
from kernelsweep.code_hash import code_hash, sha256_of
from kernelsweep.compilers import code_variables
from kernelsweep.sweep.kernels.build_targets import target_named
from kernelsweep.sweep.kernels.source import KernelSource, included_files, read_source
from kernelsweep.sweep.kernels.units import Unit, variant_name

# A declaration of a name, of a variable or a parameter.
_DECLARED = (
    r"\b(?:bool|char|short|int|long|unsigned|float|double|half|auto|\w+_t)\b"
    r"[\s*&]*(?:const\s+|__restrict__\s+)*\b({name})\b"
)

# The resources of a variant that launches several functions, from the resources of the functions.
_COMBINED = {"registers": max, "shared_bytes": max, "spill_store_bytes": max, "spill_load_bytes": max}


@dataclass(frozen=True)
class Source:
    """The source of a kernel's units.

    file       the kernel's
    include    the folders of its headers
    emulator   the folder of the emulator's C++ headers; None where no unit is for the emulator
    runtime    the emulator's runtime, compiled by gcc.compile_runtime(); None as above
    options    further options for nvcc
    constants  the variables in constant memory that the host sets
    """

    file: Path
    include: Sequence[Path]
    emulator: Path | None = None
    runtime: Path | None = None
    options: Sequence[str] = ()
    constants: Sequence[str] = ()


def gpu_source(file: Path, kernel: KernelSource, include: Iterable[str]) -> Source:
    """The source of a kernel's units for a GPU.

    file     the kernel's, as messages name it
    include  the folders of its headers
    """
    constants = list(kernel.launches.entry.constants)
    return Source(file, [Path(name) for name in include], options=kernel.options, constants=constants)


def compile_unit(source: Source, file: Path, target: str, unit: Unit) -> Compiled:
    """Compile a unit into `file`. Raises BuildError."""
    return (_for_emulator if target_named(target).is_emulator else _for_gpu)(source, file, target, unit)


def compiler_of(target: str) -> str:
    """The release of a target's compiler. Raises BuildError if it is missing."""
    return gcc.version() if target_named(target).is_emulator else nvcc.version()


def macro_clash(file: Path, macros: Iterable[str]) -> str:
    """A sentence on a macro that has the name of a variable or parameter of the kernel's file; empty without one."""
    text = read_source(file)
    for name in macros:
        if declared := re.search(_DECLARED.format(name=re.escape(name)), text):
            line = text.count("\n", 0, declared.start(1)) + 1
            return f"{file}:{line}: {name} is a variable here, and the kernel's macros define {name}. Rename one. "
    return ""


def content_of(source: Source, target: str, compiler: str) -> dict[str, Any]:
    """All that determines a kernel's units, besides what differs between them."""
    headers = [source.runtime, *sorted(source.emulator.glob("**/*.h*"))] if source.emulator and source.runtime else []
    included = included_files(source.file, source.include, source.options)
    return {
        "files": [sha256_of(file) for file in (source.file, *included, *headers)],
        "options": list(source.options),
        "constants": list(source.constants),
        "target": target,
        "compiler": compiler,
        "variables": code_variables(),
        "code": code_hash(
            map(Path(__file__).with_name, ("build.py", "device_code.py", "gcc.py", "nvcc.py", "translation_unit.py"))
        ),
    }


def _for_emulator(source: Source, library: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with g++. Returns its warnings, and what the report says of each function."""
    text = library.with_suffix(".cpp")
    kernel, include = _device_code(source, library.with_suffix(".source"), unit)
    text.write_text(emulator_unit(kernel, unit, source.constants), encoding="utf-8")
    assert source.emulator is not None and source.runtime is not None
    include = [source.emulator, source.emulator / "include", *include]
    warnings = gcc.compile_for_emulator(text, library, source.runtime, include)
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    return warnings, {name: {"entry": entry, "binary_sha256": digest} for entry, name in enumerate(unit.functions)}


def _for_gpu(source: Source, cubin: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with nvcc. Returns its warnings, and what the report says of each function."""
    text = cubin.with_suffix(".cu")
    kernel, include = _device_code(source, cubin.with_suffix(".source"), unit)
    text.write_text(cuda_unit(kernel, unit), encoding="utf-8")
    output = nvcc.compile_cubin(text, cubin, target, include, unit.macros, source.options)
    return nvcc.warnings(output), nvcc.function_reports(output, cubin, unit.functions)


def _device_code(source: Source, folder: Path, unit: Unit) -> tuple[Path, list[Path]]:
    """Copies of the source in a folder, less what the unit doesn't need: the kernel's file, and folders of headers."""
    files = [source.file, *included_files(source.file, source.include, source.options)]
    kernel = write_device_code(folder, files, unit.functions, [*source.constants, *unit.macros.values()])
    return kernel, list(included_folders(folder, source.include))


def variant_reports(unit: Unit, functions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The report's entries of a unit: one for each function, and one for each variant of several functions.

    The unit's number is 0, as of a binary that has no other.
    """
    entries = {variant_name([name], unit.macros): {**functions[name], "unit": 0} for name in functions}
    for names in unit.variants:
        if len(names) > 1:
            entries[variant_name(names, unit.macros)] = _combined([functions[name] for name in names])
    return entries


def _combined(functions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The resources of functions that are launched one after another: the largest of each, and one hash."""
    each = list(functions)
    digest = hashlib.sha256("".join(function["binary_sha256"] for function in each).encode()).hexdigest()
    resources = {name: pick(one[name] for one in each) for name, pick in _COMBINED.items() if name in each[0]}
    return {**resources, "binary_sha256": digest}
