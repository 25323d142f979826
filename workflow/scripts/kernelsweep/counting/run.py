"""Run points of one kernel while counting, and look for mistakes in their use of memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kernelsweep.counting.findings import Finding, describe
from kernelsweep.counting.library import Request, Site
from kernelsweep.counting.lines import Variable
from kernelsweep.counting.metrics import Counts, Metric, metrics
from kernelsweep.counting.platform import CountingPlatform
from kernelsweep.runner import KernelTask, Outcome, Runner
from kernelsweep.sweep import Point
from kernelsweep.translation_unit import parameter_names


@dataclass(frozen=True)
class Counted:
    """A point, how it ended, its metrics by name, and the mistakes found where they were looked for."""

    point: Point
    outcome: Outcome
    metrics: dict[str, Metric]
    findings: list[Finding]


@dataclass(frozen=True)
class Traced:
    """One warp's requests in order, with what their numbers mean.

    lines    file:line of each of `sites`
    buffers  names of the device buffers, by number
    shared   the kernel's `__shared__` arrays
    """

    requests: list[Request]
    sites: list[Site]
    lines: list[str]
    buffers: dict[int, str]
    shared: list[Variable]


class CountingRunner:
    """One kernel's points, each on memory of exactly its size. The task's binary is one that counts."""

    def __init__(self, task: KernelTask, source: str) -> None:
        """`source` is the kernel file's text, for the names of the kernel's parameters."""
        self._platform = CountingPlatform()
        # Nothing is timed, and a second run would be counted with the first.
        self._runner = Runner(self._platform, replace(task, repeated_runs=1, sampling=None))
        self._names = parameter_names(source, task.kernel)

    def count(self, point: Point, variant: str, check: bool) -> Counted:
        """Run a point once. `check`: look for mistakes too, which takes longer and 16 bytes for each byte of memory."""
        outcome = self._run(point, variant, check)
        library = self._platform.library
        counts = Counts(library.sites(), library.synchronisations())
        return Counted(point, outcome, metrics(counts), self._findings(point))

    def trace(self, point: Point, variant: str, block: int, warp: int, capacity: int) -> Traced:
        """Run a point once and keep the first `capacity` requests of one warp."""
        library = self._platform.library
        library.trace(block, warp, capacity)
        self._run(point, variant, check=False)
        requests, sites = library.traced(), library.sites()
        library.trace(block, warp, 0)
        buffers = {number: self._buffer_name(number) for number in self._platform.parameters}
        lines = [self._platform.lines.line(site.address) for site in sites]
        return Traced(requests, sites, lines, buffers, self._platform.shared)

    def _run(self, point: Point, variant: str, check: bool) -> Outcome:
        self._runner.rest()
        self._platform.parameters.clear()
        self._platform.library.start(check)
        return self._runner.run(point, variant)

    def _buffer_name(self, number: int) -> str:
        return self._names[self._platform.parameters[number]]

    def _findings(self, point: Point) -> list[Finding]:
        platform = self._platform
        return describe(
            platform.library.mistakes(),
            platform.library.sites(),
            platform.lines.line,
            lambda number: (self._buffer_name(number), platform.sizes[number]),
            platform.shared,
            np.dtype(point.dtype).itemsize,
        )


def count_points(
    task: KernelTask, source: Path, requests: Iterable[tuple[Point, str]], check: bool
) -> list[Counted]:
    """Count points, each given with its variant's C++ name; see CountingRunner."""
    runner = CountingRunner(task, source.read_text())
    return [runner.count(point, variant, check) for point, variant in requests]
