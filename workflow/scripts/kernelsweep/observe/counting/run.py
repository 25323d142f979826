"""Count the memory accesses of a kernel's points, and look for mistakes in their use of memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kernelsweep.build.binaries import unit_files
from kernelsweep.build.translation_unit import parameter_names
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.point.runner import Runner
from kernelsweep.measure.task import KernelTask
from kernelsweep.observe.counting.counting_platform import CountingPlatform
from kernelsweep.observe.counting.library import Request
from kernelsweep.observe.counting.lines import shared_array
from kernelsweep.observe.counting.mistakes import Buffer, MemoryMistake, in_words
from kernelsweep.observe.counting.quantities import Counts, Metric, metrics
from kernelsweep.sweep.kernels.planner import planner
from kernelsweep.sweep.points import Point


@dataclass(frozen=True)
class CountedPoint:
    """A point with its outcome, its metrics by name, and its mistakes, if they were looked for."""

    point: Point
    outcome: Outcome
    metrics: dict[str, Metric]
    mistakes: list[MemoryMistake]


@dataclass(frozen=True)
class TracedRequest:
    """One request of the traced warp, in terms of the source.

    line    file:line of the access
    memory  "global" or "shared"
    array   the name of the kernel's parameter or of the shared array
    step    the number of synchronisations of the warp before it
    places  bytes from the array's start, one a lane; None for an inactive lane
    """

    line: str
    memory: str
    operation: str
    array: str
    size: int
    step: int
    sectors: int
    wavefronts: int
    conflicts: int
    places: list[int | None]


class CountingRunner:
    """Runs one kernel's points, each on memory of exactly its size. The task's binary is a counting build."""

    def __init__(self, task: KernelTask, source: str) -> None:
        """`source` is the kernel file's text, for the names of the kernel's parameters."""
        # One run, because a second run would be counted with the first; no samples, because nothing is timed.
        once = replace(task.protocol, repeated_runs=1, sampling=None)
        self._variants = task.variants
        self._plan = planner(task.plan, task.listed)
        with TemporaryDirectory() as folder:  # What is loaded needs no file any more.
            self._units = []
            for number, file in enumerate(unit_files(Path(task.binary), Path(folder))):
                variants = {name: one for name, one in task.variants.items() if one.get("unit") == number}
                of_unit = replace(task, protocol=once, binary=str(file), variants=variants)
                self._units.append(_UnitRunner(of_unit, source))

    def count(self, point: Point, variant: str, check: bool) -> CountedPoint:
        """Run a point once. `check`: look for mistakes, too, which takes longer and 8 bytes for each byte of memory."""
        return self._unit(point, variant).count(point, variant, check)

    def trace(self, point: Point, variant: str, block: int, warp: int, capacity: int) -> list[TracedRequest]:
        """Run a point once, and return the first `capacity` requests of one warp in its first launch."""
        return self._unit(point, variant).trace(point, variant, block, warp, capacity)

    def _unit(self, point: Point, variant: str) -> _UnitRunner:
        """The runner of the translation unit that has all of a point's functions."""
        launched = self._plan(point).launches[0].variant or variant
        unit: int = self._variants[launched]["unit"]
        return self._units[unit]


class _UnitRunner:
    """Runs the points of one translation unit."""

    def __init__(self, task: KernelTask, source: str) -> None:
        self._platform = CountingPlatform()
        self._runner = Runner(self._platform, task)
        self._source = source

    def count(self, point: Point, variant: str, check: bool) -> CountedPoint:
        outcome = self._run(point, variant, check)
        library = self._platform.library
        counts = Counts(library.sites(), library.synchronisations())
        return CountedPoint(point, outcome, metrics(counts), self._mistakes())

    def trace(self, point: Point, variant: str, block: int, warp: int, capacity: int) -> list[TracedRequest]:
        library = self._platform.library
        library.trace(block, warp, capacity)
        self._run(point, variant, check=False)
        requests = library.traced()
        library.trace(block, warp, 0)
        first = [request for request in requests if request.run == requests[0].run]
        moments = sorted({request.moment for request in first})
        return [self._traced(request, moments.index(request.moment)) for request in first]

    def _traced(self, request: Request, step: int) -> TracedRequest:
        site = self._platform.library.sites()[request.site]
        active = [offset for offset in request.offsets if offset is not None]
        if site.space == "global":
            array, start = self._buffer_name(request.buffer), 0
        else:
            variable = shared_array(self._platform.shared, active[0])
            array, start = variable.name, variable.offset
        return TracedRequest(
            self._platform.lines.line(site.address),
            site.space,
            site.operation,
            array,
            site.size,
            step,
            request.sectors,
            request.wavefronts,
            request.conflicts,
            [None if offset is None else offset - start for offset in request.offsets],
        )

    def _run(self, point: Point, variant: str, check: bool) -> Outcome:
        self._runner.free_memory()
        self._platform.parameters.clear()
        self._platform.library.start(check)
        return self._runner.run(point, variant)

    def _buffer_name(self, number: int) -> str:
        """The name of the kernel's parameter, or of the array where the source doesn't show the parameter's."""
        variant, parameter = self._platform.parameters[number]
        names = parameter_names(self._source, re.split(r"\W", variant, maxsplit=1)[0])
        return names[parameter] if parameter < len(names) else self._arrays()[number][0]

    def _arrays(self) -> dict[int, tuple[str, np.dtype[Any]]]:
        """The array that each buffer holds, by the buffer's number: its name and its elements' type."""
        return {self._platform.number(memory): (name, dtype) for memory, name, dtype in self._runner.buffers()}

    def _mistakes(self) -> list[MemoryMistake]:
        platform, arrays = self._platform, self._arrays()

        def buffer(number: int) -> Buffer:
            return Buffer(self._buffer_name(number), platform.sizes[number], arrays[number][1].itemsize)

        library = platform.library
        return in_words(library.mistakes(), library.sites(), platform.lines.line, buffer, platform.shared)
