"""Rows of what a kernel's points count, and traces of the accesses of a block's first warps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernelsweep.device.emulator import LANES, UNIT_OF_METRIC, EmulatorPlatform, TracedRequest
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.device.task import KernelTask
from kernelsweep.results import COUNTED, Row
from kernelsweep.study.kernel_sweep import launched_columns
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import Point

# Requests of a warp that are traced: those of the shipped kernels have up to 928, and a loop can have any number.
MOST_REQUESTS = 2000


@dataclass(frozen=True)
class Trace:
    """The first requests of each of the first warps of block 0, in the point's first launch.

    is_cut  whether a warp made more
    """

    warps: list[list[TracedRequest]]
    is_cut: bool


class Tracer:
    """Traces the accesses of one kernel's points."""

    def __init__(self, task: KernelTask) -> None:
        self._platform = EmulatorPlatform()
        # One run, because a second run would be traced with the first; no samples, because nothing is timed.
        once = replace(task.protocol, repeated_runs=1, sampling=None)
        self._runner = Runner(self._platform, replace(task, protocol=once))

    def trace(self, point: Point, variant: str, most_warps: int) -> Trace:
        """The accesses of block 0's first warps, for which the point runs once each."""
        warps = [self._trace_warp(point, variant, warp) for warp in range(most_warps)]
        count = -(-self._platform.first.threads // LANES) if self._platform.first else 0
        return Trace([warp[:MOST_REQUESTS] for warp in warps[:count]], any(len(warp) > MOST_REQUESTS for warp in warps))

    def _trace_warp(self, point: Point, variant: str, warp: int) -> list[TracedRequest]:
        self._platform.trace(0, warp, MOST_REQUESTS + 1)
        self._runner.memory.free()
        self._platform.watch()
        self._runner.run(VisitRequest(point, variant))
        requests = self._platform.traced(self._array_at)
        self._platform.trace(0, warp, 0)
        return requests

    def _array_at(self, address: int) -> tuple[str, int]:
        """The problem's name of an array, for which each launch may have another, and the size of an element."""
        buffers = self._runner.memory.buffers()
        return next((name, dtype.base.itemsize) for memory, name, dtype in buffers if memory.ctypes.data == address)


def count_rows(study: str, kernel: KernelSource, outcomes: Mapping[Point, Outcome]) -> list[Row]:
    """A row for each metric of each point that ran to its end, with a right or a wrong result; else empty rows."""
    rows = []
    for point, outcome in outcomes.items():
        shared = {"study": study, "kernel": kernel.name, "platform": EMULATOR, "source": COUNTED}
        shared |= launched_columns(kernel, point)
        if outcome.counts:
            of_metric: dict[str, Row] = {name: {"value": value} for name, value in outcome.counts.items()}
        else:
            message = f"Not counted: {outcome.status}: {' '.join(outcome.message.split())}"
            of_metric = {name: {"message": message} for name in UNIT_OF_METRIC}
        rows += [{**shared, "metric": name, "unit": UNIT_OF_METRIC[name], **row} for name, row in of_metric.items()]
    return rows
