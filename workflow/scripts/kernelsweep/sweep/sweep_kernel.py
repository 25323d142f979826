"""Sweep one kernel by a function call: without Snakemake, a configuration file or a working folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from kernelsweep.compile import emulated
from kernelsweep.compile.binaries import Report
from kernelsweep.compile.build import Source
from kernelsweep.compile.builder import build
from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.choose import choose_platforms
from kernelsweep.device.kinds import kind_of, load
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.point.instances import second_seed
from kernelsweep.device.sampling import Criterion
from kernelsweep.device.task import BuiltKernel, measuring_protocol
from kernelsweep.home import EMULATOR_HEADERS, HEADERS, HOME
from kernelsweep.results import Row
from kernelsweep.study.axes import CACHE_STATES
from kernelsweep.study.kernel_sweep import KernelSweep, PlannedPoint, units
from kernelsweep.study.kernels.source import KernelSource, included_files, source_sha256
from kernelsweep.study.kernels.units import EMULATOR, Unit, merged_units
from kernelsweep.study.point import Point
from kernelsweep.study.problem.given import check_same
from kernelsweep.study.resolve import kernel_axes, restrictions_of
from kernelsweep.study.settings import Config
from kernelsweep.study.study import Study
from kernelsweep.sweep.against import Against, fastest
from kernelsweep.sweep.editions import note_checks
from kernelsweep.sweep.identity import identities
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.kernel_job import KernelJob
from kernelsweep.sweep.proof_rows import proof_rows
from kernelsweep.sweep.recorded import note_return
from kernelsweep.sweep.rows import measurement_rows
from kernelsweep.sweep.visit import Visit
from kernelsweep.sweep.visits import outcomes_without_runs


@dataclass(frozen=True)
class Swept:
    """A kernel's sweep.

    folder    of the platform, with the journal
    outcomes  of each point
    rows      of measurements.csv
    refused   the further functions with which the compiler refused the kernel
    seconds   that the visits took
    proofs    what checks found where the platform watches, as in proofs/
    """

    study: str
    kernel: KernelSource
    folder: Path
    planned: Sequence[PlannedPoint]
    outcomes: dict[Point, Outcome]
    rows: Sequence[Row]
    unit: BuiltUnit
    refused: Collection[str] = ()
    seconds: float = 0.0
    proofs: Sequence[Row] = ()

    def against(self, axes: Sequence[str]) -> Against:
        """The points as partners of another kernel's, with which they agree on these axes; the fastest of several."""
        axes = [axis for axis in axes if axis in self.kernel.problem.axes]
        ran = ((one, self.outcomes[one.point]) for one in self.planned)
        timed = ((one, outcome, self.unit) for one, outcome in ran if outcome.status == "ok" and outcome.visits)
        return fastest(axes, self.kernel.launches.as_values(), timed)


@dataclass(frozen=True)
class ToDecide:
    """What a sweep is for that makes no more visits than decide on an edit, or on another kernel.

    margin  the smallest difference that matters, as a fraction
    other   the other kernel, of the same problem; None for the version before the latest edit
    """

    margin: float
    other: Swept | None = None


def sweep_kernel(
    study: Study,
    kernel: str,
    folder: Path,
    platform: str = EMULATOR,
    axes: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    show: Callable[[Visit, Outcome], None] = lambda *_: None,
    criterion: Criterion | None = None,
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
    criterion  ends the samples of a visit, such as device.sampling.FixedCount(20); left out: as `measuring` says
    measuring  keys of config.yaml's `measuring`, such as visits=1

    An outcome has a status of results.STATUSES. Where that is "ok" and the platform has a clock, its `samples` are
    microseconds. Raises UserError for a wrong study, and where the platform can't be used.
    """
    return swept(study, kernel, folder, platform, axes, points, show, None, criterion, **measuring).outcomes


def swept(
    study: Study,
    kernel: str,
    folder: Path,
    platform: str = EMULATOR,
    axes: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    show: Callable[[Visit, Outcome], None] = lambda *_: None,
    to_decide: ToDecide | None = None,
    criterion: Criterion | None = None,
    together: Sequence[str] = (),
    seconds: float = inf,
    **measuring: Any,
) -> Swept:
    """As sweep_kernel(), with rows of results; `to_decide` for a comparison.

    together  functions of the kernel's file that are compiled in its unit as well
    seconds   after which no further visit begins
    """
    config = Config.read({"axes": dict(axes or {}), "measuring": measuring}, "sweep_kernel()")
    (name,), models = choose_platforms(platform, study.root, {})
    kind, source = kind_of(name), study.kernels[kernel]
    target = kind.target or models[name].arch
    device = load(kind.implementation).describe(name)
    all_axes = kernel_axes(config, study, kernel, name)
    restrictions, tied = restrictions_of(study, kernel), study.settings.tied
    sweep = KernelSweep(source, all_axes, device["multiprocessors"], restrictions, target, tied)
    each = ({"cache": CACHE_STATES[0], **point} for point in points or ())
    chosen = [Point({axis: values[axis] for axis in study.problem.axes}) for values in each]
    planned = sweep.planned(None if points is None else chosen)
    run = [each.point for each in planned if not each.skipped]

    place, protocol = folder / name, measuring_protocol(config.measuring.values(), config.seed, kind)
    protocol = replace(protocol, criterion=criterion)
    place.mkdir(parents=True, exist_ok=True)
    store, binary = UnitStore(folder / "units"), place / f"{study.name}.{kernel}.bin"
    report, refused = _built(source, binary, target, units(source, run), together, store)
    task = BuiltKernel(source, report, binary).task(kind.implementation, protocol)
    seeds = (protocol.seed, second_seed(protocol.seed))
    task = replace(task, problem=source.problem.for_workers(study.root, kernel, run, seeds))
    against = None
    if to_decide and to_decide.other:
        check_same(source.problem, to_decide.other.kernel.problem)
        if kind.has_clock:
            against = to_decide.other.against([*study.problem.axes])
            task = replace(task, against=against.digest)
    source_hash = source_sha256(source.path, included_files(source.path, [source.path.parent, HOME / HEADERS]))
    known = {"study": study.name, "kernel": kernel, "platform": name, "source_sha256": source_hash}
    with (
        Journal(place / f"journal/{study.name}/{kernel}.jsonl") as journal,
        Path(os.devnull).open("w", encoding="utf-8") as silent,
    ):
        at_device = (name, device, journal, source_hash)
        margin = to_decide.margin if to_decide else config.compare.same_within
        terminal = sys.stderr if sys.stderr.isatty() else silent  # A line of progress; the rest is for a job's log.
        job = KernelJob(kernel, task, *at_device, None, terminal, 1, source, store, margin)
        job = replace(job, decides=to_decide is not None, against=against, log=silent, seconds=seconds)
        started = time.perf_counter()
        with redirect_stdout(silent), redirect_stderr(silent):
            outcomes = job.sweep(planned, outcomes_without_runs(planned, report), _on_these_streams(show))
        took = time.perf_counter() - started
        precision = config.measuring.relative_precision
        rows = measurement_rows(source, report, outcomes, device, known, precision, identities(task, device))
        note_return(journal, {row["identity_sha256"]: source_hash for row in rows})
        proofs = proof_rows(source, outcomes, report, known)
        note_checks(journal, source_hash, proofs)
    unit = BuiltUnit(binary, report["variants"])
    return Swept(study.name, source, place, planned, outcomes, rows, unit, refused, took, proofs)


def _built(
    source: KernelSource, binary: Path, target: str, own: Sequence[Unit], together: Sequence[str], store: UnitStore
) -> tuple[Report, Sequence[str]]:
    """The report of a kernel's build with further functions in its unit; and these, if the compiler refused them."""
    code = _source(source, target)
    if not together:
        return build(code, binary, target, own, store=store), []
    report = build(code, binary, target, merged_units([own, [Unit({}, [[one] for one in together])]]), store=store)
    if report["status"] == "ok" and not report["failed"]:
        return report, []
    return build(code, binary, target, own, store=store), together


def _on_these_streams(show: Callable[[Visit, Outcome], None]) -> Callable[[Visit, Outcome], None]:
    """The function, which prints to what are standard output and error now."""
    output, error = sys.stdout, sys.stderr

    def shown(visit: Visit, outcome: Outcome) -> None:
        with redirect_stdout(output), redirect_stderr(error):
            show(visit, outcome)

    return shown


def _source(kernel: KernelSource, target: str) -> Source:
    """The source of a kernel's units, with the emulator's runtime where that is the target."""
    is_emulated = target == EMULATOR
    return Source(
        kernel.path,
        include=[kernel.path.parent, HOME / HEADERS],
        emulator=HOME / EMULATOR_HEADERS if is_emulated else None,
        runtime=emulated.compiled_runtime(HOME / EMULATOR_HEADERS) if is_emulated else None,
        options=kernel.options,
        constants=kernel.entry.host_variables,
    )
