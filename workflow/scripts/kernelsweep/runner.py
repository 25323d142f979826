"""Run points of one kernel on a platform: prepare memory, check the result, then take samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.axes import Expression
from kernelsweep.errors import LaunchError
from kernelsweep.plans import PLANS, Plan
from kernelsweep.platforms import Memory, Platform
from kernelsweep.problems.reduction import Reduction, make_reduction, mistake
from kernelsweep.sampling import Sampling, sample
from kernelsweep.sweep import Point


@dataclass(frozen=True)
class KernelTask:
    """What a worker needs to know of the kernel whose points it runs; made of JSON's types, to cross a pipe.

    variants  the build report's variants by C++ name
    longest   the largest array size of any point
    """

    platform: str
    kernel: str
    plan: str
    updates_input: bool
    summation_depth: str
    binary: str
    variants: dict[str, dict[str, Any]]
    longest: int
    seed: int
    sampling: dict[str, Any]


@dataclass
class Outcome:
    """What became of a point: a status of results.STATUSES with its message, and the samples in microseconds."""

    status: str
    message: str = ""
    samples: list[float] = field(default_factory=list)
    settled: bool = True
    clock_mhz: int | None = None
    occupancy: float | None = None


class Runner:
    """One kernel's points on one platform. Memory is kept between points and grows with them."""

    def __init__(self, platform: Platform, task: KernelTask) -> None:
        self._platform = platform
        self._task = task
        self._depth = Expression(task.summation_depth)
        self._problem: Reduction | None = None
        self._memory: dict[str, tuple[int, Memory]] = {}
        self._filled = 0
        platform.load(Path(task.binary), task.variants)

    def run(self, point: Point, variant: str) -> Outcome:
        """Check a point and, where it is right and the platform has a clock, time it.

        Raises ContextLost where nothing more can be run in this process; all else becomes the outcome's status.
        """
        plan = PLANS[self._task.plan](point)
        try:
            self._prepare_memory(point, plan)
            wrong = self._check(point, plan, variant)
            if wrong:
                return Outcome("wrong_result", wrong)
            occupancy = self._platform.occupancy(variant, point.block_size, plan.launches[0].shared_bytes)
            if not self._platform.has_clock:
                return Outcome("ok", occupancy=occupancy)
            times, settled = sample(
                lambda count: self._platform.time(self._timed(point, plan, variant), count),
                Sampling(**self._task.sampling),
            )
            return Outcome("ok", "", times, settled, self._platform.clock_mhz(), occupancy)
        except MemoryError as error:
            self._free_memory()
            return Outcome("out_of_memory", str(error))
        except LaunchError as error:
            return Outcome("launch_failed", str(error))

    def _prepare_memory(self, point: Point, plan: Plan) -> None:
        """Room for the point's input and results, and its input in place."""
        problem = self._problem
        if problem is None or (problem.dtype, problem.operation) != (np.dtype(point.dtype), point.operation):
            problem = make_reduction(point.dtype, point.operation, self._task.longest, self._task.seed)
            self._problem, self._filled = problem, 0
        size = point.array_size * problem.dtype.itemsize
        if self._room("input", size):
            self._filled = 0
        if self._task.updates_input:
            self._room("work", size)
        self._room("partials", plan.results * problem.dtype.itemsize)
        if self._filled < size:
            self._fill_input(problem, size)

    def _room(self, name: str, size: int) -> bool:
        """Make the memory of that name hold at least `size` bytes; True where it had to be allocated anew."""
        have, memory = self._memory.get(name, (0, None))
        if have >= size:
            return False
        if memory is not None:
            del self._memory[name]
            self._platform.free(memory)
        rounded = -(-size // 4) * 4  # fill() writes whole words.
        self._memory[name] = (rounded, self._platform.allocate(rounded))
        return True

    def _free_memory(self) -> None:
        for _, memory in self._memory.values():
            self._platform.free(memory)
        self._memory.clear()
        self._filled = 0

    def _fill_input(self, problem: Reduction, size: int) -> None:
        """Repeat the problem's tile over the first `size` bytes of the input."""
        memory = self._memory["input"][1]
        tile = problem.tile[: size // problem.dtype.itemsize]
        self._platform.upload(memory, tile)
        filled = tile.nbytes
        while filled < size:
            step = min(filled, size - filled)
            self._platform.copy(memory, memory, step, filled)
            filled += step
        self._filled = size

    def _restore_input(self, point: Point) -> None:
        """Queue the input's restoration, where the kernel updates it."""
        if self._task.updates_input:
            size = point.array_size * np.dtype(point.dtype).itemsize
            self._platform.copy(self._memory["work"][1], self._memory["input"][1], size)

    def _launch(self, point: Point, plan: Plan, variant: str) -> None:
        """Queue the plan's launches."""
        values: Mapping[str, Any] = {
            "data": self._memory["work" if self._task.updates_input else "input"][1],
            "partials": self._memory["partials"][1],
            "array_size": point.array_size,
        }
        for launch in plan.launches:
            arguments = [values[name] for name in launch.arguments]
            self._platform.launch(variant, launch.grid, launch.block, launch.shared_bytes, arguments)

    def _check(self, point: Point, plan: Plan, variant: str) -> str | None:
        """Run the plan once and compare its result with the reference; what is wrong with it, or None."""
        assert self._problem is not None
        results = np.empty(plan.results, self._problem.dtype)
        self._restore_input(point)
        self._platform.fill(self._memory["partials"][1], results.nbytes)
        self._launch(point, plan, variant)
        self._platform.synchronize()
        self._platform.download(self._memory["partials"][1], results)
        return mistake(self._problem, point.array_size, results, self._depth(point.values))

    def _timed(
        self, point: Point, plan: Plan, variant: str
    ) -> Callable[[Callable[[], None], Callable[[], None]], None]:
        """One sample: restore the input, flush the cache where the point is cold, then launch between the events."""

        def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
            self._restore_input(point)
            if point.cache == "cold":
                self._platform.flush_cache()
            start()
            self._launch(point, plan, variant)
            stop()

        return timed
