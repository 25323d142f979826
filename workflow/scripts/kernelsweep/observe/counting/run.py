"""Count the memory accesses of a kernel's points, and trace those of a warp."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kernelsweep.build.translation_unit import parameter_names
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.point.runner import Runner
from kernelsweep.measure.task import KernelTask
from kernelsweep.observe.counting.quantities import Counts, Metric, metrics
from kernelsweep.platforms.counting.counting_platform import CountingPlatform
from kernelsweep.platforms.counting.library import Request
from kernelsweep.platforms.counting.lines import shared_array
from kernelsweep.sweep.point import Point


@dataclass(frozen=True)
class CountedPoint:
    """A point with its outcome, and its metrics by name."""

    point: Point
    outcome: Outcome
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class TracedRequest:
    """One request of the traced warp, in terms of the source.

    memory  "global" or "shared"
    array   the name of the kernel's parameter or of the shared array
    moment  the number of synchronisations of the block before it
    places  bytes from the array's start, one a lane; None for an inactive lane
    """

    memory: str
    operation: str
    array: str
    size: int
    moment: int
    sectors: int
    wavefronts: int
    conflicts: int
    places: list[int | None]


class CountingRunner:
    """Runs one kernel's points, each on memory of exactly its size."""

    def __init__(self, task: KernelTask, source: str) -> None:
        """`source` is the kernel file's text, for the names of the kernel's parameters."""
        self._platform = CountingPlatform()
        # One run, because a second run would be counted with the first; no samples, because nothing is timed.
        once = replace(task.protocol, repeated_runs=1, sampling=None)
        self._runner = Runner(self._platform, replace(task, protocol=once))
        self._source = source

    def count(self, point: Point, variant: str) -> CountedPoint:
        """Run a point once. No mistakes are looked for: that takes longer, and 8 bytes for each byte of memory."""
        outcome = self._run(point, variant)
        counts = Counts(self._platform.sites(), self._platform.synchronisations())
        return CountedPoint(point, outcome, metrics(counts))

    def trace(self, point: Point, variant: str, block: int, warp: int, capacity: int) -> list[TracedRequest]:
        """Run a point once, and return the first `capacity` requests of one warp in its first launch."""
        self._platform.trace(block, warp, capacity)
        self._run(point, variant)
        requests = self._platform.traced()
        self._platform.trace(block, warp, 0)
        return [self._traced(request) for request in requests if request.run == requests[0].run]

    @property
    def threads(self) -> int:
        """The threads of a block of the first launch of the point that was run last."""
        return self._platform.threads

    def _run(self, point: Point, variant: str) -> Outcome:
        self._runner.free_memory()
        self._platform.watch(check=False)
        return self._runner.run(point, variant)

    def _traced(self, request: Request) -> TracedRequest:
        unit = self._platform.unit
        site = unit.library.sites()[request.site]
        active = [offset for offset in request.offsets if offset is not None]
        if site.space == "global":
            array, start = self._array_name(unit.addresses[request.buffer]), 0
        else:
            variable = shared_array(self._platform.shared, active[0])
            array, start = variable.name, variable.offset
        return TracedRequest(
            site.space,
            site.operation,
            array,
            site.size,
            request.moment,
            request.sectors,
            request.wavefronts,
            request.conflicts,
            [None if offset is None else offset - start for offset in request.offsets],
        )

    def _array_name(self, address: int) -> str:
        """The name of the kernel's parameter, or of the array where the source doesn't show the parameter's."""
        variant, parameter = self._platform.parameters[address]
        names = parameter_names(self._source, re.split(r"\W", variant, maxsplit=1)[0])
        if parameter < len(names):
            return names[parameter]
        return next(name for memory, name, _ in self._runner.buffers() if memory.ctypes.data == address)
