"""Measure a kernel's sweep, or the points that a search proposes: when it waits for compilers, references and the GPU.

What is known is looked up first: a job that only makes rows keeps no GPU. Neither does one that waits for another job's
journal. CUDA starts in the workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TextIO

from kernelsweep.build.builder import Builder
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.logs import notifier
from kernelsweep.measure.against import Against
from kernelsweep.measure.earlier import EarlierVersions
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.progress import EarlyVerdict, Progress, progress
from kernelsweep.measure.references import References
from kernelsweep.measure.search.search import Bench, search
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.work import Partners, Turns, begin_to_build, do_work, find_work
from kernelsweep.measure.work import Progress as Show
from kernelsweep.measure.worker.client import Workers
from kernelsweep.platforms.gpus import gpus_of
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.lease import free_gpus, leased_device
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint, axes_of_places, units
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.spaces import ValidPoints


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
    decides        whether points get no more visits than decide that, as in Work
    against        another kernel, which takes the place of earlier versions
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

    def sweep(self, planned: Sequence[PlannedPoint], known: Mapping[Point, Outcome]) -> dict[Point, Outcome]:
        """The outcome of every planned point.

        known  outcomes of points that are not to be run here
        """
        decides = self.margin if self.decides else None
        work = find_work(self.task, planned, known, self.journal, self.device, self.builder, decides)
        if work.is_done:
            return work.results()
        # Without a clock, no device waits for references: the worker computes them.
        checked = [one.point for one in work.missing[0]] if kind_of(self.platform).has_clock else []
        early = None
        if self.decides:
            early = EarlyVerdict(self.margin, len(work.first), notifier(self.terminal, self.name))
        with (
            Workers(self.task, work.visits) as workers,
            self._references(checked, small_here=True) as references,
            Turns(references, self._lease) as turns,
            self._progress("", early) as shown,
        ):
            if self.builder:  # After what forks this process, which has threads then.
                begin_to_build(work, self.builder)
            try:
                at_device = (workers, shown.show, self.source_sha256, self.builder, turns)
                do_work(work, self.journal, *at_device, partial(self._versions, planned))
            finally:
                # Before another job has the device: the ends of contexts would disturb its samples.
                workers.stop()
        return work.results()

    def search(self, candidates: ValidPoints, sweep: KernelSweep, budget: int) -> dict[Point, Outcome]:
        """The outcomes of the points that a search has measured, with `budget` points at each place."""
        problem = sweep.kernel.problem
        with ExitStack() as at_the_device:

            @cache
            def references() -> References:
                places = candidates.groups(axes_of_places(candidates, problem))
                planned = [sweep.plan(candidates[int(numbers[0])]) for numbers in places]
                checked = [each.point for each in planned if not each.skipped]
                return at_the_device.enter_context(self._references(checked))

            @cache
            def lease() -> list[str]:
                # A search runs on all GPUs that are free. The lease leaves one visible.
                needs_gpu = kind_of(self.platform).needs_gpu
                gpus = [gpu.uuid for gpu in gpus_of(self.platform)] if needs_gpu else []
                at_the_device.enter_context(self._lease())
                return gpus

            def open_device(phase: str) -> Show:
                lease()
                return at_the_device.enter_context(self._progress(phase)).show

            bench = Bench(
                self.journal,
                self.device,
                open_device,
                sweep.plan,
                self.source_sha256,
                lambda: free_gpus(lease()),
                self.builder,
                lambda point: units(sweep.kernel, [point]),
                lambda point: references().wait([problem.data_of(point)]),
                self._versions,
                notifier(self.terminal, self.name),
            )
            return search(self.task, candidates, budget, bench)

    def _versions(self, planned: Sequence[PlannedPoint]) -> Partners | None:
        if self.against:
            return self.against
        if self.kernel is None or self.store is None or not kind_of(self.platform).has_clock:
            return None
        points = [each.point for each in planned if not each.skipped]
        return EarlierVersions(self.journal, self.store, units(self.kernel, points), self.margin)

    def _references(self, checked: Sequence[Point], small_here: bool = False) -> References:
        return References(self.task, checked, notifier(self.terminal, self.name), self.processes, small_here)

    def _lease(self, only: str = "") -> AbstractContextManager[str]:
        return leased_device(self.platform, self.device, notifier(self.terminal, self.name), only=only)

    def _progress(self, phase: str, early: EarlyVerdict | None = None) -> AbstractContextManager[Progress]:
        return progress(f"{self.name} {phase}".strip(), self.terminal, early)
