"""Build one kernel with all its variants, for a GPU architecture or for the emulator, and report on each variant."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.build import gcc, nvcc
from kernelsweep.build.binaries import write_binary
from kernelsweep.build.build_report import Report, new_report
from kernelsweep.build.translation_unit import cuda_unit, emulator_unit
from kernelsweep.build.unit_store import Compiled, UnitStore
from kernelsweep.code_hash import code_hash, sha256_of
from kernelsweep.compilers import code_variables
from kernelsweep.errors import BuildError
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
    constants = list(kernel.launches.constants)
    return Source(file, [Path(name) for name in include], options=kernel.options, constants=constants)


def build(
    source: Source,
    binary: Path,
    target: str,
    units: Sequence[Unit],
    workers: int | None = None,
    store: UnitStore | None = None,
) -> Report:
    """Compile a kernel's units into `binary`.

    target   an architecture such as sm_90, or an emulator's
    workers  how many units are compiled side by side; None for a unit a core
    store    keeps the units

    The report names the variants that don't compile, with the reason; the others run. Where none does, it has the
    status build_failed and the binary is empty, so that the run continues with the other kernels. Raises BuildError if
    the compiler is missing.
    """
    binary.parent.mkdir(parents=True, exist_ok=True)
    report = new_report(target, compiler_of(target))
    compiler = UnitCompiler(source, target, report["compiler"], store)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers or os.cpu_count()) as threads:
        stems = (Path(folder, str(number)) for number in itertools.count())
        built: list[tuple[Unit, Path, Compiled]] = []

        def compile_all(several: Sequence[Unit], files: Iterable[Path]) -> list[Unit]:
            """Compile units side by side. Returns the units in which the variants of refused ones may compile."""
            submitted = [
                (unit, file, threads.submit(compiler.compiled, unit, file))
                for unit, file in zip(several, files, strict=False)
            ]
            refused = []
            for unit, file, future in submitted:
                error = future.exception()
                if error is None:
                    built.append((unit, file, future.result()))
                elif isinstance(error, BuildError):
                    message = macro_clash(source.file, [unit]) + str(error)
                    report["failed"] |= {variant_name(each, unit.macros): message for each in unit.variants}
                    refused.append((unit, file))
                else:
                    raise error
            alone = threads.map(lambda each: compiler.alone(*each), refused)
            return [unit for units in alone for unit in units]

        # A single unit stays beside its binary, for readers.
        for each in (alone := compile_all(units, [binary] if len(units) == 1 else stems)):
            del report["failed"][variant_name(each.variants[0], each.macros)]
        compile_all(alone, stems)
        write_binary(binary, [file for _, file, _ in built])
        if not built and report["failed"]:
            report.update(status="build_failed", message=next(iter(report["failed"].values())), failed={})
            return report
        report["message"] = "\n".join(dict.fromkeys(filter(None, (warnings for _, _, (warnings, _) in built))))
        for place, (unit, _, (_, functions)) in enumerate(built):
            report["variants"] |= variant_reports(unit, functions, place)
    return report


class UnitCompiler:
    """Compiles units of one kernel for one target. Several threads may use it at once.

    compiler  its release, as compiler_of() returns it
    store     keeps compiled units; None to keep none
    """

    def __init__(self, source: Source, target: str, compiler: str, store: UnitStore | None) -> None:
        self._source, self._target, self._store = source, target, store
        self._compile = _for_emulator if target_named(target).is_emulator else _for_gpu
        self._content = _content(source, target, compiler) if store else {}

    def compiled(self, unit: Unit, stem: Path) -> Compiled:
        """Compile a unit into `stem`, or copy it there. Raises BuildError."""
        if self._store is None:
            return self._compile(self._source, stem, self._target, unit)
        return self._store.compiled(self._by_macros(unit), stem, lambda: self._by_code(unit, stem))

    def alone(self, unit: Unit, stem: Path) -> list[Unit]:
        """The variants of a refused unit, each in a unit of its own; none where the file is refused without them, too.

        Variants of several functions stay together, as in spread_units().
        """
        if len(unit.variants) == 1 or any(len(functions) > 1 for functions in unit.variants):
            return []
        try:
            self._compile(self._source, stem, self._target, Unit(unit.macros, []))
        except BuildError:
            return []
        return [Unit(unit.macros, [functions]) for functions in unit.variants]

    def kept(self, unit: Unit, stem: Path) -> Compiled | None:
        """A copy of the unit, if the store has it."""
        return self._store.kept(self._by_macros(unit), stem) if self._store else None

    def _by_macros(self, unit: Unit) -> dict[str, Any]:
        return {**self._content, "functions": unit.functions, "macros": dict(unit.macros)}

    def _by_code(self, unit: Unit, stem: Path) -> Compiled:
        """The unit, shared with all whose macros come to the same code."""
        assert self._store is not None
        code = None if target_named(self._target).is_emulator else _preprocessed(self._source, stem, self._target, unit)
        if code is None:
            return self._compile(self._source, stem, self._target, unit)
        content = {**self._content, "functions": unit.functions, "code": code}
        return self._store.compiled(content, stem, lambda: self._compile(self._source, stem, self._target, unit))


def compiler_of(target: str) -> str:
    """The release of a target's compiler. Raises BuildError if it is missing."""
    return gcc.version() if target_named(target).is_emulator else nvcc.version()


def macro_clash(file: Path, units: Sequence[Unit]) -> str:
    """A sentence on a macro that has the name of a variable or parameter of the kernel's file; empty without one."""
    text = read_source(file)
    for name in dict.fromkeys(name for unit in units for name in unit.macros):
        if declared := re.search(_DECLARED.format(name=re.escape(name)), text):
            line = text.count("\n", 0, declared.start(1)) + 1
            return f"{file}:{line}: {name} is a variable here, and the kernel's macros define {name}. Rename one. "
    return ""


def _content(source: Source, target: str, compiler: str) -> dict[str, Any]:
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
        "code": code_hash(map(Path(__file__).with_name, ("build.py", "gcc.py", "nvcc.py", "translation_unit.py"))),
    }


def _for_emulator(source: Source, library: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with g++. Returns its warnings, and what the report says of each function."""
    text = library.with_suffix(".cpp")
    text.write_text(emulator_unit(source.file.resolve(), unit, source.constants), encoding="utf-8")
    assert source.emulator is not None and source.runtime is not None
    include = [source.emulator, source.emulator / "include", *source.include]
    warnings = gcc.compile_for_emulator(text, library, source.runtime, include)
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    return warnings, {name: {"entry": entry, "binary_sha256": digest} for entry, name in enumerate(unit.functions)}


def _for_gpu(source: Source, cubin: Path, target: str, unit: Unit) -> tuple[str, dict[str, Any]]:
    """Compile a unit with nvcc. Returns its warnings, and what the report says of each function."""
    text = cubin.with_suffix(".cu")
    text.write_text(cuda_unit(source.file.resolve(), unit), encoding="utf-8")
    output = nvcc.compile_cubin(text, cubin, target, source.include, unit.macros, source.options)
    return nvcc.warnings(output), nvcc.function_reports(output, cubin, unit.functions)


def _preprocessed(source: Source, stem: Path, target: str, unit: Unit) -> str | None:
    """A hash of what a unit's macros make of it; None without macros, and where the preprocessor refuses the unit."""
    if not unit.macros:
        return None
    text = stem.with_suffix(".cu")
    text.write_text(cuda_unit(source.file.resolve(), unit), encoding="utf-8")
    code = nvcc.preprocessed(text, target, source.include, unit.macros, source.options)
    return hashlib.sha256(code.encode()).hexdigest() if code else None


def variant_reports(unit: Unit, functions: Mapping[str, Mapping[str, Any]], number: int) -> dict[str, Any]:
    """The report's entries of a unit: one for each function, and one for each variant of several functions."""
    entries = {variant_name([name], unit.macros): {**functions[name], "unit": number} for name in functions}
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
