"""Run points of one kernel on a platform: prepare memory, check the result, run again to compare, then take samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.axes import Expression
from kernelsweep.errors import LaunchError
from kernelsweep.kernel_source import LAUNCHES
from kernelsweep.plans import DATA, PLANS, Plan
from kernelsweep.platforms import Memory, Platform
from kernelsweep.problems.exchange import make_exchange
from kernelsweep.problems.problem import Judgement, Problem
from kernelsweep.problems.reduction import make_reduction
from kernelsweep.sampling import Sampling, sample
from kernelsweep.sweep import Point

# Of memory besides the input: its working copy, where the kernel updates it.
_WORK = "work"


@dataclass(frozen=True)
class KernelTask:
    """What a worker needs to know of the kernel whose points it runs; made of JSON's types, to cross a pipe.

    problem        "reduction" or "exchange"
    variants       the build report's variants by C++ name
    longest        the largest array size of any point
    repeated_runs  how often a floating-point point is run to compare its results bit by bit, the check included
    sampling       the settings of sampling.Sampling; None to check points and time none
    """

    platform: str
    kernel: str
    problem: str
    plan: str
    updates_input: bool
    shared_elements: str
    summation_depth: str
    binary: str
    variants: dict[str, dict[str, Any]]
    longest: int
    seed: int
    repeated_runs: int
    sampling: dict[str, Any] | None


@dataclass
class Outcome:
    """What became of a point: a status of results.STATUSES with its message, and the samples in microseconds.

    settled         whether sampling reached the precision asked for
    relative_error  of a floating-point sum, see problems.problem.Judgement; so is output
    bit_identical   whether repeated runs of a floating-point point left the same bits; None where that wasn't tried
    """

    status: str
    message: str = ""
    samples: list[float] = field(default_factory=list)
    settled: bool = True
    clock_mhz: int | None = None
    occupancy: float | None = None
    relative_error: float | None = None
    bit_identical: bool | None = None
    output: str = ""


class Runner:
    """One kernel's points on one platform. Memory is kept between points and grows with them."""

    def __init__(self, platform: Platform, task: KernelTask) -> None:
        self._platform = platform
        self._task = task
        self._depth = Expression(task.summation_depth, [LAUNCHES])
        self._shared_elements = Expression(task.shared_elements)
        self._problem: Problem | None = None
        self._problem_of: tuple[str, str] | None = None
        self._memory: dict[str, tuple[int, Memory]] = {}
        self._filled = 0
        platform.load(Path(task.binary), task.variants)

    def run(self, point: Point, variant: str) -> Outcome:
        """Check a point and, where it is right and the platform has a clock, time it.

        Raises ContextLost where nothing more can be run in this process; all else becomes the outcome's status.
        """
        plan = PLANS[self._task.plan](point)
        try:
            problem = self._prepare_memory(point, plan)
            results = self._results(point, plan, variant)
            judgement = problem.judge(point, results, self._depth({**point.values, LAUNCHES: len(plan.launches)}))
            if judgement.mistake:
                return Outcome("wrong_result", judgement.mistake, output=judgement.output)
            return self._judged(point, plan, variant, results, judgement)
        except MemoryError as error:
            self._free_memory()
            return Outcome("out_of_memory", str(error))
        except LaunchError as error:
            return Outcome("launch_failed", str(error))

    def _judged(
        self, point: Point, plan: Plan, variant: str, results: np.ndarray[Any, Any], judgement: Judgement
    ) -> Outcome:
        """The outcome of a point whose results are right, timed where there is a clock."""
        outcome = Outcome("ok", relative_error=judgement.relative_error, output=judgement.output)
        outcome.bit_identical = self._bit_identical(point, plan, variant, results)
        outcome.occupancy = self._platform.occupancy(variant, plan.launches[0].block, self._shared_bytes(point))
        if self._platform.has_clock and self._task.sampling is not None:
            outcome.samples, outcome.settled = sample(
                lambda count: self._platform.time(self._timed(point, plan, variant), count),
                Sampling(**self._task.sampling),
                launches=len(plan.launches),
            )
            outcome.clock_mhz = self._platform.clock_mhz()
        return outcome

    def _bit_identical(self, point: Point, plan: Plan, variant: str, results: np.ndarray[Any, Any]) -> bool | None:
        """Whether the point's plan, run again and again, leaves the bits of `results`; None for integers."""
        if results.dtype.kind != "f" or self._task.repeated_runs < 2:
            return None
        return all(
            self._results(point, plan, variant).tobytes() == results.tobytes()
            for _ in range(self._task.repeated_runs - 1)
        )

    def _prepare_memory(self, point: Point, plan: Plan) -> Problem:
        """Room for the point's input and results, and its input in place. Returns the point's problem."""
        task = self._task
        if self._problem is None or self._problem_of != (point.dtype, point.operation):
            self._problem = (
                make_exchange(task.kernel, point.dtype, task.longest)
                if task.problem == "exchange"
                else make_reduction(point.dtype, point.operation, task.longest, task.seed)
            )
            self._problem_of, self._filled = (point.dtype, point.operation), 0
        problem = self._problem
        size = point.array_size * problem.dtype.itemsize
        if self._room(DATA, size):
            self._filled = 0
        if task.updates_input:
            self._room(_WORK, size)
        for name, count in plan.buffers.items():
            self._room(name, count * problem.dtype.itemsize)
        if self._filled < size:
            self._fill_input(problem, size)
        return problem

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

    def _fill_input(self, problem: Problem, size: int) -> None:
        """Repeat the problem's tile over the first `size` bytes of the input."""
        memory = self._memory[DATA][1]
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
            self._platform.copy(self._memory[_WORK][1], self._memory[DATA][1], size)

    def _buffer(self, name: str) -> Memory:
        """A buffer of the plan's; for the input, what the kernel may update."""
        return self._memory[_WORK if name == DATA and self._task.updates_input else name][1]

    def _shared_bytes(self, point: Point) -> int:
        return int(self._shared_elements(point.values)) * np.dtype(point.dtype).itemsize

    def _launch(self, point: Point, plan: Plan, variant: str) -> None:
        """Queue the plan's launches."""
        shared_bytes = self._shared_bytes(point)
        for launch in plan.launches:
            arguments = [self._buffer(value) if isinstance(value, str) else value for value in launch.arguments]
            self._platform.launch(variant, launch.grid, launch.block, shared_bytes, arguments)

    def _results(self, point: Point, plan: Plan, variant: str) -> np.ndarray[Any, Any]:
        """Run the plan once, on buffers that hold nothing right, and fetch what it leaves, shape (plan.results,)."""
        results = np.empty(plan.results, point.dtype)
        self._restore_input(point)
        for name, count in plan.buffers.items():
            self._platform.fill(self._memory[name][1], count * results.itemsize)
        self._launch(point, plan, variant)
        self._platform.synchronize()
        self._platform.download(self._buffer(plan.result), results)
        return results

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
