"""Compile a kernel's units in the background, when they are asked for, so that the first run while others are built.

A sweep of many units asks for all of them in the order of its points; a search asks for each that it proposes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from kernelsweep.build.build import Source, UnitCompiler, compiler_of, macro_clash, variant_reports
from kernelsweep.build.build_report import Report, new_report
from kernelsweep.build.built_unit import BuiltUnit
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.errors import BuildError
from kernelsweep.sweep.kernels.units import Unit, variant_name


class Builder:
    """A kernel's variants by name, each compiled when it is asked for. A context manager that deletes their binaries.

    store    keeps compiled units
    workers  how many units are compiled side by side

    Raises BuildError if the compiler is missing.
    """

    def __init__(self, source: Source, target: str, store: UnitStore, workers: int) -> None:
        self._source = source
        self._units: list[Unit] = []
        self._number_of: dict[str, int] = {}
        self._report = new_report(target, compiler_of(target))
        self._compiler = UnitCompiler(source, target, self._report["compiler"], store)
        self._threads = ThreadPoolExecutor(workers)
        self._folder = tempfile.TemporaryDirectory()
        self._lock = Lock()
        self._built: dict[int, Future[BuiltUnit]] = {}

    def offer(self, units: Iterable[Unit]) -> None:
        """Units whose variants may be asked for. None has variants of another, unless it has the same."""
        for unit in units:
            if variant_name(unit.variants[0], unit.macros) not in self._number_of:
                self._add(unit)

    def ask(self, variants: Iterable[str]) -> None:
        """Have the units of these variants compiled, in this order, after those that were asked for before."""
        for variant in variants:
            self._asked(variant)

    def kept(self, variant: str) -> BuiltUnit | None:
        """The unit of a variant, if that needs no compiling and no waiting."""
        number = self._number_of[variant]
        with self._lock:
            if number not in self._built:
                stem = self._stem(number)
                found = self._compiler.kept(self._units[number], stem)
                if found is None:
                    return None
                self._built[number] = Future()
                self._built[number].set_result(self._unit(number, stem, found[1]))
            future = self._built[number]
        return future.result() if future.done() and not future.exception() else None

    def wait(self, variant: str) -> BuiltUnit:
        """The unit of a variant, once it is compiled. Raises BuildError, with the compiler's message.

        A variant whose unit is refused is compiled again alone: another one may be at fault.
        """
        number, built = self._asked(variant)
        try:
            return built.result()
        except BuildError:
            if self._number_of[variant] == number:
                raise
            return self.wait(variant)

    def report(self) -> Report:
        """The report on all that was compiled so far, and on nothing else."""
        done = [future.result() for future in self._built.values() if future.done() and not future.exception()]
        return {**self._report, "variants": {name: entry for unit in done for name, entry in unit.variants.items()}}

    def _asked(self, variant: str) -> tuple[int, Future[BuiltUnit]]:
        with self._lock:
            number = self._number_of[variant]
            if number not in self._built:
                self._built[number] = self._threads.submit(self._compiled, number)
            return number, self._built[number]

    def _add(self, unit: Unit) -> None:
        """Have the unit's variants compiled in it from now on."""
        with self._lock:
            self._number_of |= {variant_name(functions, unit.macros): len(self._units) for functions in unit.variants}
            self._units.append(unit)

    def _compiled(self, number: int) -> BuiltUnit:
        unit, stem = self._units[number], self._stem(number)
        try:
            _, functions = self._compiler.compiled(unit, stem)
        except BuildError as error:
            for each in self._compiler.alone(unit, stem):
                self._add(each)
            raise BuildError(macro_clash(self._source.file, [unit]) + str(error)) from error
        return self._unit(number, stem, functions)

    def _unit(self, number: int, file: Path, functions: Mapping[str, Mapping[str, Any]]) -> BuiltUnit:
        return BuiltUnit(file, variant_reports(self._units[number], functions, 0))

    def _stem(self, number: int) -> Path:
        return Path(self._folder.name, str(number))

    def __enter__(self) -> Builder:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()
