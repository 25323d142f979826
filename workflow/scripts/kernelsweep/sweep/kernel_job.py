"""Measure a kernel's sweep, or the points that a search proposes: when it waits for compilers, references and the GPU.

What is known is looked up first: a job that only makes rows keeps no GPU. Neither does one that waits for another job's
journal. CUDA starts in the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import Any, TextIO

from kernelsweep.base.logs import notifier
from kernelsweep.compile.builder import Builder
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.gpus import gpus_of
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.lease import Lease, free_gpus, leased_device
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.client import Workers
from kernelsweep.study.kernel_sweep import KernelSweep, PlannedPoint, axes_of_places, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.spaces import ValidPoints
from kernelsweep.sweep.against import Against
from kernelsweep.sweep.bench import Bench, Front
from kernelsweep.sweep.earlier import EarlierVersions
from kernelsweep.sweep.full import FullSweep
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.loop import run
from kernelsweep.sweep.progress import EarlyVerdict, Progress, progress
from kernelsweep.sweep.references import References
from kernelsweep.sweep.search.search import Laboratory, Show, search
from kernelsweep.sweep.verdict import VerdictSweep, leave_out_known_verdicts
from kernelsweep.sweep.visit import Partners, Visit
from kernelsweep.sweep.visits import Groups, find_visits


@dataclass(frozen=True)
class KernelJob:
    """A kernel that is measured at a platform's device.

    name           of the job, in lines of progress
    device         the device's description
    source_sha256  of the kernel's source, which the journal notes
    builder        compiles the variants meanwhile; None where the task has a binary
    terminal       the stream for lines of progress
    processes      compute references at once
    kernel, store  the kernel and the store of its compiled units, in which earlier versions are found; None for a
                   function of a library
    margin         the smallest difference between two versions that matters, as a fraction
    decides        whether points get no more visits than decide on an edit
    against        another kernel, which takes the place of earlier versions
    log            the stream that names failed points; left out: standard output
    seconds        after which no further visit of a full sweep begins
    """

    name: str
    task: KernelTask
    platform: str
    device: Mapping[str, Any]
    journal: Journal
    source_sha256: str
    builder: Builder | None
    terminal: TextIO
    processes: int = 1
    kernel: KernelSource | None = None
    store: UnitStore | None = None
    margin: float = 0.01
    decides: bool = False
    against: Against | None = None
    log: TextIO | None = None
    seconds: float = inf

    def sweep(
        self,
        planned: Sequence[PlannedPoint],
        known: Mapping[Point, Outcome],
        show: Callable[[Visit, Outcome], None] = lambda *_: None,
    ) -> dict[Point, Outcome]:
        """The outcome of every planned point.

        known  outcomes of points that are not to be run here
        show   gets each visit with its outcome, once it is made
        """
        visits = find_visits(self.task, planned, known, self.journal, self.device, self.builder, self.decides)
        if self.decides:
            leave_out_known_verdicts(visits, self.margin)
        if visits.is_done:
            return visits.results()
        # Without a clock, no device waits for references: the worker computes them.
        checked = [visit.point for visit in visits.missing[0]] if kind_of(self.platform).has_clock else []
        front = Front(self.journal, self.builder, self.source_sha256, self.decides)
        # The processes first, and then the compilers: whatever forks this process comes before its threads.
        with (
            Workers(self.task, visits.numbers) as workers,
            self._references(checked, small_here=True) as references,
            Bench(self.task, front, workers, self._lease, tell=notifier(self.terminal, self.name)) as bench,
        ):

            def in_order(groups: Groups, number: int) -> Iterator[list[Visit]]:
                first = next(iter(groups.values()))[0]
                if self.decides:  # Somebody waits: the device is opened while the kernel is compiled.
                    bench.begin(first)
                return iter(groups.values()) if number else references.in_order(groups, bench.give_back)

            find_partners, early = partial(self._partners, planned), None
            strategy: FullSweep
            if self.decides:
                strategy = verdict = VerdictSweep(visits, self.margin, in_order, find_partners)
                early = EarlyVerdict(self.margin, len(verdict.first), notifier(self.terminal, self.name))
            else:
                strategy = FullSweep(visits, in_order, find_partners, self.margin, self.seconds)
            with self._progress("", early) as progress:
                if self.builder:
                    self.builder.ask(strategy.variants())

                def show_made(visit: Visit, outcome: Outcome) -> None:
                    progress.show(strategy.done, strategy.total, visit.point, outcome)
                    show(visit, outcome)

                run(strategy, bench, show_made)
        return visits.results()

    def search(self, candidates: ValidPoints, sweep: KernelSweep, budget: int, by: str) -> dict[Point, Outcome]:
        """The outcomes of the points that a search has measured; `budget` and `by` as for search()."""
        problem = sweep.kernel.problem
        with ExitStack() as at_the_device:

            @cache
            def references() -> References:
                places = candidates.groups(axes_of_places(candidates, problem))
                planned = [sweep.plan(candidates[int(numbers[0])]) for numbers in places]
                checked = [each.point for each in planned if not each.skipped]
                return at_the_device.enter_context(self._references(checked))

            @cache
            def gpus() -> list[str]:
                # A search runs on all that are free. A lease leaves one visible.
                needs_gpu = kind_of(self.platform).needs_gpu
                return [gpu.uuid for gpu in gpus_of(self.platform)] if needs_gpu else []

            def open_device(phase: str) -> Show:
                gpus()
                references()
                return at_the_device.enter_context(self._progress(phase)).show

            laboratory = Laboratory(
                self.journal,
                self.device,
                open_device,
                sweep.plan,
                self.source_sha256,
                self._lease,
                lambda: free_gpus(gpus()),
                self.builder,
                lambda point: units(sweep.kernel, [point]),
                lambda point, most: references().wait([problem.data_of(point)], most),
                self._partners,
                self.margin,
                notifier(self.terminal, self.name),
            )
            return search(self.task, candidates, budget, laboratory, by)

    def _partners(self, planned: Sequence[PlannedPoint]) -> Partners | None:
        if self.against:
            return self.against
        if self.kernel is None or self.store is None or not kind_of(self.platform).has_clock:
            return None
        points = [each.point for each in planned if not each.skipped]
        return EarlierVersions(self.journal, self.store, units(self.kernel, points), self.source_sha256)

    def _references(self, checked: Sequence[Point], small_here: bool = False) -> References:
        return References(self.task, checked, notifier(self.terminal, self.name), self.processes, small_here)

    def _lease(self, only: str = "") -> AbstractContextManager[Lease]:
        return leased_device(self.platform, self.device, self.name, self.terminal, only=only)

    def _progress(self, phase: str, early: EarlyVerdict | None = None) -> AbstractContextManager[Progress]:
        return progress(f"{self.name} {phase}".strip(), early, self.log)
