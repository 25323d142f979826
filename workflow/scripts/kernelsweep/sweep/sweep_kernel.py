"""Sweep one kernel by a function call: without Snakemake, a configuration file or a working folder."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernelsweep.code_hash import code_hash
from kernelsweep.compile import emulated
from kernelsweep.compile.binaries import Report
from kernelsweep.compile.build import Source
from kernelsweep.compile.builder import build
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.choose import choose_platforms
from kernelsweep.device.kinds import kind_of, load
from kernelsweep.device.lease import leased_device
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.point.instances import second_seed
from kernelsweep.device.task import BuiltKernel, measuring_protocol
from kernelsweep.home import EMULATOR_HEADERS, HEADERS, HOME
from kernelsweep.results import Row
from kernelsweep.study.axes import CACHE_STATES
from kernelsweep.study.kernel_sweep import KernelSweep, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import kernel_axes, restrictions_of
from kernelsweep.study.settings import Config
from kernelsweep.study.study import Study
from kernelsweep.sweep.full import sweep_points
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.rows import measurement_rows
from kernelsweep.sweep.visit import Visit
from kernelsweep.sweep.visits import outcomes_without_runs


@dataclass(frozen=True)
class Swept:
    """A kernel's sweep: the outcome of each point, and what its rows have besides."""

    kernel: KernelSource
    outcomes: dict[Point, Outcome]
    report: Report
    device: Mapping[str, Any]
    relative_precision: float

    def rows(self, study: str, source_sha256: str) -> list[Row]:
        """The rows of measurements.csv."""
        known = {"study": study, "kernel": self.kernel.name, "platform": self.device["kind"]}
        known["source_sha256"] = source_sha256
        return measurement_rows(self.kernel, self.report, self.outcomes, self.device, known, self.relative_precision)


def sweep_kernel(
    study: Study,
    kernel: str,
    folder: Path,
    platform: str = EMULATOR,
    axes: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    show: Callable[[Visit, Outcome], None] = lambda *_: None,
    **measuring: Any,
) -> dict[Point, Outcome]:
    """The outcome of every point of a kernel's sweep, in the order of its axes.

    study      from study.read_study(), or from study.checked_study() of a mapping with a study's keys and the files of
               its kernels
    kernel     the name of one of its kernels
    folder     keeps compiled units and the journal: a second call runs only what is missing
    platform   "emulator", or "gpu" for this machine's
    axes       values in place of the study's, by axis
    points     those to run in place of all combinations, each its values by axis
    show       gets each visit with its outcome, once it is made
    measuring  keys of config.yaml's `measuring`, such as visits=1

    An outcome has a status of results.STATUSES. Where that is "ok" and the platform has a clock, its `samples` are
    microseconds. Raises UserError for a wrong study, and where the platform can't be used.
    """
    return swept(study, kernel, folder, platform, axes, points, show, **measuring).outcomes


def swept(
    study: Study,
    kernel: str,
    folder: Path,
    platform: str = EMULATOR,
    axes: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    show: Callable[[Visit, Outcome], None] = lambda *_: None,
    **measuring: Any,
) -> Swept:
    """As sweep_kernel(), with what rows of results need."""
    config = Config.read({"axes": dict(axes or {}), "measuring": measuring}, "sweep_kernel()")
    (name,), models = choose_platforms(platform, study.root, {})
    kind, source = kind_of(name), study.kernels[kernel]
    target = kind.target or models[name].arch
    device = load(kind.implementation).describe(name)
    all_axes = kernel_axes(config, study, kernel, name)
    restrictions, tied = restrictions_of(study, kernel), study.settings.tied
    sweep = KernelSweep(source, all_axes, device["multiprocessors"], restrictions, target, tied)
    cold = {"cache": CACHE_STATES[0]}
    chosen = [Point({axis: {**cold, **point}[axis] for axis in study.problem.axes}) for point in points or ()]
    planned = sweep.planned(None if points is None else chosen)

    binary = folder / f"{study.name}.{kernel}.{target}.bin"
    variants = units(source, [each.point for each in planned if not each.skipped])
    report = build(_source(source, folder, target), binary, target, variants, store=UnitStore(folder / "units"))
    protocol = measuring_protocol(config.measuring.values(), config.seed, kind)
    task = BuiltKernel(source, report, binary).task(kind.implementation, protocol)
    run, seeds = [each.point for each in planned if not each.skipped], (protocol.seed, second_seed(protocol.seed))
    task = replace(task, problem=source.problem.for_workers(study.root, kernel, run, seeds))
    with Journal(folder / f"{study.name}.{kernel}.{name}.jsonl") as journal, leased_device(name, device):
        outcomes = sweep_points(task, planned, outcomes_without_runs(planned, report), journal, device, show)
    return Swept(source, outcomes, report, device, config.measuring.relative_precision)


def _source(kernel: KernelSource, folder: Path, target: str) -> Source:
    """The source of a kernel's units, with the emulator's runtime where that is the target."""
    is_emulated = target == EMULATOR
    return Source(
        kernel.path,
        include=[kernel.path.parent, HOME / HEADERS],
        emulator=HOME / EMULATOR_HEADERS if is_emulated else None,
        runtime=compiled_runtime(folder) if is_emulated else None,
        options=kernel.options,
        constants=list(kernel.entry.constants),
    )


def compiled_runtime(folder: Path) -> Path:
    """The emulator's runtime in a folder, compiled unless it is there for these sources and this compiler."""
    emulator = HOME / EMULATOR_HEADERS
    sources = [*sorted(emulator.glob("**/*.?pp")), *emulated.CODE]
    version = hashlib.sha256(f"{code_hash(sources)} {emulated.version()}".encode()).hexdigest()
    kept = folder / f"emulator-{version[:16]}"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made, suppress(OSError):  # Another process may have been first.
            emulated.compile_runtime(emulator, Path(made) / "runtime.o")
            Path(made).rename(kept)
            Path(made).mkdir()
    return kept / "runtime.o"
