"""Compile a kernel's units side by side, when they are asked for, so that the first run while others are built.

A sweep of many units asks for all of them in the order of its points; a search asks for each that it proposes. build()
waits for all of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

from kernelsweep.base.logs import notifier
from kernelsweep.compile.binaries import Report, new_report, write_binary
from kernelsweep.compile.build import (
    DEFAULT_ARCHITECTURE,
    Source,
    compile_unit,
    compiler_of,
    content_of,
    content_of_unit,
    variant_reports,
)
from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.compile.toolkit import find_tool
from kernelsweep.compile.unit_store import Compiled, UnitStore
from kernelsweep.errors import BuildError
from kernelsweep.reasons import Reason
from kernelsweep.study.kernels.units import Unit, variant_name


class Builder:
    """A kernel's variants by name, each compiled when it is asked for. A context manager that deletes their binaries.

    store    keeps compiled units; None to keep none

    Raises BuildError if the compiler is missing.
    """

    def __init__(self, source: Source, target: str, store: UnitStore | None, workers: int) -> None:
        self._source, self._target, self._store = source, target, store
        self._units: list[Unit] = []
        self._number_of: dict[str, int] = {}
        self._report = new_report(target, compiler_of(target))
        self._content = content_of(source, target, self._report["compiler"]) if store else {}
        self._threads = ThreadPoolExecutor(workers)
        self._folder = tempfile.TemporaryDirectory()
        self._lock = Lock()
        self._built: dict[int, Future[BuiltUnit]] = {}

    def offer(self, units: Iterable[Unit]) -> None:
        """Units whose variants may be asked for. None has variants of another, unless it has the same."""
        for unit in units:
            if _names(unit)[0] not in self._number_of:
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
                found = None
                with suppress(BuildError):  # wait() raises it, too.
                    found = self._store.kept(self._content_of(number), stem) if self._store else None
                if found is None:
                    return None
                self._built[number] = Future()
                self._built[number].set_result(self._unit(number, stem, found))
            future = self._built[number]
        return future.result() if future.done() and not future.exception() else None

    def is_built(self, variant: str, seconds: float) -> bool:
        """Whether the unit of a variant is compiled, or refused, within so many seconds."""
        return bool(wait([self._asked(variant)[1]], seconds).done)

    def wait(self, variant: str) -> BuiltUnit:
        """The unit of a variant, once it is compiled. Raises BuildError, with the compiler's message.

        The variants of a unit that is refused are compiled again, each alone: another one may be at fault.
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
            self._number_of |= dict.fromkeys(_names(unit), len(self._units))
            self._units.append(unit)

    def _compiled(self, number: int) -> BuiltUnit:
        unit, stem = self._units[number], self._stem(number)

        def compiled() -> Compiled:
            return compile_unit(self._source, stem, self._target, unit)

        try:
            found = self._store.compiled(self._content_of(number), stem, compiled) if self._store else compiled()
            return self._unit(number, stem, found)
        except BuildError:
            for each in self._alone(unit, stem):
                self._add(each)
                self.ask(_names(each))
            raise

    def _alone(self, unit: Unit, stem: Path) -> list[Unit]:
        """The variants of a refused unit, each in a unit of its own; none where the file is refused without them, too.

        Variants of several functions stay together, as in spread_units().
        """
        if len(unit.variants) == 1 or any(len(functions) > 1 for functions in unit.variants):
            return []
        try:
            compile_unit(self._source, stem, self._target, Unit(unit.given, []))
        except BuildError:
            return []
        return [Unit(unit.given, [functions]) for functions in unit.variants]

    def _content_of(self, number: int) -> dict[str, Any]:
        unit = self._units[number]
        return {**self._content, "functions": unit.functions, **content_of_unit(unit, self._target)}

    def _unit(self, number: int, file: Path, compiled: Compiled) -> BuiltUnit:
        warnings, functions = compiled
        return BuiltUnit(file, variant_reports(self._units[number], functions), warnings)

    def _stem(self, number: int) -> Path:
        return Path(self._folder.name, str(number))

    def __enter__(self) -> Builder:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()


def _names(unit: Unit) -> list[str]:
    return [variant_name(functions, unit.given) for functions in unit.variants]


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

    The report names the variants that don't compile, with the reason; the others run. Where none does, it has the
    status build_failed and the binary is empty, so that the run continues with the other kernels. Raises BuildError if
    the compiler is missing.
    """
    binary.parent.mkdir(parents=True, exist_ok=True)
    variants = [variant for unit in units for variant in _names(unit)]
    built: dict[Path, BuiltUnit] = {}
    report = new_report(target, compiler_of(target))
    with Builder(source, target, store, workers or os.cpu_count() or 1) as builder:
        builder.offer(units)
        builder.ask(variants)
        for variant in variants:
            try:
                unit = builder.wait(variant)
                built[unit.file] = unit
            except BuildError as error:
                report["failed"][variant] = {"message": str(error), "reason": error.reason}
        write_binary(binary, list(built))
    if report["failed"] and not built:
        return {**report, "status": "build_failed", **next(iter(report["failed"].values())), "failed": {}}
    report["message"] = "\n".join(dict.fromkeys(filter(None, (unit.warnings for unit in built.values()))))
    for number, unit in enumerate(built.values()):
        report["variants"] |= {
            name: {**entry, "unit": number} if "unit" in entry else entry for name, entry in unit.variants.items()
        }
    return report


def build_of_job(
    settings: Mapping[str, Any], kernel: Path, binary: Path, workers: int = 1, terminal: TextIO | None = None
) -> Report:
    """Compile a kernel's units into `binary`, or copy them from the store.

    settings  the rule's parameter, as project.building.build_settings() makes it
    terminal  is told at once that something doesn't compile

    Raises BuildError if the compiler is missing.
    """
    runtime = settings["runtime"]
    source = Source(
        file=kernel,
        include=[Path(name) for name in settings["include"]],
        emulator=Path(settings["emulator"]),
        runtime=Path(runtime) if runtime else None,
        options=settings["options"],
        constants=settings["constants"],
        gpu=settings["gpu"],
        is_candidate=settings["is_candidate"],
    )
    store = UnitStore(Path(settings["store"]))
    report = build(source, binary, settings["target"], settings["units"], workers, store)
    print(report["message"])
    for variant, failure in report["failed"].items():
        print(f"{variant}:\n{failure['message']}")
    if terminal and (report["status"] != "ok" or report["failed"]):
        count, failures = len(report["failed"]), [*report["failed"].values()] or [report]
        place, words = str(kernel), f"{count} variants do not compile" if count else "does not compile"
        if all(failure["reason"] == Reason.NOT_SUPPLIED for failure in failures):  # nvcc may compile it.
            place, _, words = failures[0]["message"].partition(". ")[0].rpartition(": ")
        notifier(terminal, place or str(kernel))(words)
    return report


def gpu_resources(settings: Mapping[str, Any], kernel: Path) -> dict[str, list[int]]:
    """What ptxas gives each variant for DEFAULT_ARCHITECTURE: registers a thread, and bytes of spilled ones.

    The arguments are those of build_of_job(). Empty without nvcc; without what doesn't compile.
    """
    if not find_tool("nvcc"):
        return {}
    source = Source(kernel, list(map(Path, settings["include"])), options=settings["options"])
    with tempfile.TemporaryDirectory() as folder:
        units, store = settings["units"], UnitStore(Path(settings["store"]))
        report = build(source, Path(folder, "binary"), DEFAULT_ARCHITECTURE, units, store=store)
    return {
        name: [one["registers"], one["spill_store_bytes"] + one["spill_load_bytes"]]
        for name, one in report["variants"].items()
    }


def as_nvcc_decides(report: Report, settings: Mapping[str, Any], kernel: Path) -> Report:
    """The emulator's report, in which variants that g++ alone refuses are such that the emulator lacks something.

    The arguments are those of build_of_job(). Without nvcc, the report as it is.
    """
    if report["status"] == "ok" and not report["failed"]:
        return report
    compiled = gpu_resources(settings, kernel)

    def decided(failure: Mapping[str, Any], is_compiled: bool) -> dict[str, Any]:
        if not is_compiled or failure["reason"] != Reason.NONE:
            return {**failure}
        return {**failure, "message": f"nvcc compiles it. {failure['message']}", "reason": Reason.NOT_SUPPLIED}

    failed = {name: decided(failure, name in compiled) for name, failure in report["failed"].items()}
    return {**(report if report["status"] == "ok" else decided(report, bool(compiled))), "failed": failed}


@contextmanager
def built_meanwhile(
    settings: Mapping[str, Any], kernel: Path, workers: int = 1, terminal: TextIO | None = None
) -> Iterator[tuple[Report, Path]]:
    """A kernel's build report and its binary, which is deleted in the end; the arguments of build_of_job()."""
    store = Path(settings["store"])
    store.mkdir(parents=True, exist_ok=True)
    # Not in the system's folder of temporary files, from which nothing can be run on some machines.
    with tempfile.TemporaryDirectory(dir=store, ignore_cleanup_errors=True) as folder:
        binary = Path(folder, f"{kernel.stem}.bin")
        yield build_of_job(settings, kernel, binary, workers, terminal), binary
