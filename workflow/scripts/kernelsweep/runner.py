"""Run points of one kernel on a platform: prepare memory, check the result, run again to compare, then take samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.axes import Expression
from kernelsweep.buffers import Buffers
from kernelsweep.errors import LaunchError
from kernelsweep.kernel_source import LAUNCHES
from kernelsweep.plans import DATA, PLANS, Launch, Plan
from kernelsweep.platforms import Memory, Platform
from kernelsweep.problems.exchange import make_exchange
from kernelsweep.problems.problem import Problem
from kernelsweep.problems.reduction import make_reduction
from kernelsweep.sampling import Sampling, sample
from kernelsweep.sweep import Point

# Of memory besides the input: its working copy, where the kernel updates it.
_WORK = "work"

# The time of a short kernel depends on where its buffers lie: on an H200 by up to 3% for kernels of 5 to 7 us, while
# runs on the same memory differ by 0.1%. So samples go round several places, each on memory pages of its own; but only
# while all of them fit into so many bytes, for with larger arrays every kernel touches all parts of the memory anyway.
MOST_PLACES = 8
PLACED_BYTES = 2**29
PAGE = 2**21

_WORD = 4  # fill() writes whole words.


@dataclass(frozen=True)
class KernelTask:
    """What a worker needs to know of the kernel whose points it runs; made of JSON's types, to cross a pipe.

    problem        "reduction" or "exchange"
    variants       the build report's variants by C++ name
    longest        the largest array size of any point
    repeated_runs  how often a floating-point point is run to compare its results bit by bit, the check included
    visits         how often each point is visited, by a fresh worker
    sampling       the settings of sampling.Sampling for one visit to a point; None to check points and time none
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
    visits: int
    sampling: dict[str, Any] | None


@dataclass
class Outcome:
    """What became of a point: a status of results.STATUSES with its message, and the samples in microseconds.

    settled         whether sampling reached the precision asked for
    visit_sizes     how many of the samples are each visit's, in order, where there were several
    relative_error  of a floating-point sum, see problems.problem.Judgement; so is output
    bit_identical   whether repeated runs of a floating-point point left the same bits; None where that wasn't tried
    """

    status: str
    message: str = ""
    samples: list[float] = field(default_factory=list)
    settled: bool = True
    visit_sizes: list[int] = field(default_factory=list)
    clock_mhz: int | None = None
    occupancy: float | None = None
    relative_error: float | None = None
    bit_identical: bool | None = None
    output: str = ""

    @property
    def visits(self) -> list[list[float]]:
        """The samples of each visit."""
        rest = iter(self.samples)
        return [list(itertools.islice(rest, size)) for size in self.visit_sizes or [len(self.samples)]]


class Runner:
    """One kernel's points on one platform. Memory is kept between points and grows with them."""

    def __init__(self, platform: Platform, task: KernelTask) -> None:
        self._platform = platform
        self._task = task
        self._depth = Expression(task.summation_depth, [LAUNCHES])
        self._shared_elements = Expression(task.shared_elements)
        self._problem: Problem | None = None
        self._problem_of: tuple[str, str] | None = None
        self._times = platform.has_clock and task.sampling is not None
        self._buffers = Buffers(platform, PAGE if self._times else _WORD)
        self._filled: dict[int, int] = {}  # How many bytes of the input are in place, by place.
        platform.load(Path(task.binary), task.variants)

    def run(self, point: Point, variant: str, check: bool = True) -> Outcome:
        """Check a point and, where it is right and the platform has a clock, time it.

        check  False for a point that was checked before, which then is only timed

        Raises ContextLost where nothing more can be run in this process; all else becomes the outcome's status.
        """
        plan = PLANS[self._task.plan](point)
        try:
            problem = self._prepare_memory(point, plan)
            outcome = self._check(point, plan, variant, problem) if check else Outcome("ok")
            if outcome.status != "ok":
                return outcome
            outcome.occupancy = self._platform.occupancy(variant, plan.launches[0].block, self._shared_bytes(point))
            if self._times:
                self._time(point, plan, variant, outcome)
            return outcome
        except MemoryError as error:
            self.rest()
            return Outcome("out_of_memory", str(error))
        except LaunchError as error:
            return Outcome("launch_failed", str(error))

    def launch_between(
        self, point: Point, variant: str, start: Callable[[], None], stop: Callable[[], None]
    ) -> tuple[Launch, ...]:
        """Launch the plan of a point that run() found right once more, with nothing but its launches between the calls.

        Returns those launches. Raises as run() does, and LaunchError.
        """
        plan = PLANS[self._task.plan](point)
        self._timed(point, plan, variant, itertools.repeat(0))(start, stop)
        self._platform.synchronize()
        return plan.launches

    def _check(self, point: Point, plan: Plan, variant: str, problem: Problem) -> Outcome:
        """Run the plan and have its results judged; those of floats are compared with further runs' bits."""
        results = self._results(point, plan, variant)
        judgement = problem.judge(point, results, self._depth({**point.values, LAUNCHES: len(plan.launches)}))
        if judgement.mistake:
            return Outcome("wrong_result", judgement.mistake, output=judgement.output)
        return Outcome(
            "ok",
            relative_error=judgement.relative_error,
            bit_identical=self._bit_identical(point, plan, variant, results),
            output=judgement.output,
        )

    def _time(self, point: Point, plan: Plan, variant: str, outcome: Outcome) -> None:
        """Take samples, each at the next of the places that the point's buffers have."""
        assert self._task.sampling is not None
        places = itertools.cycle(range(self._prepare_places(point, plan)))
        outcome.samples, outcome.settled = sample(
            lambda count: self._platform.time(self._timed(point, plan, variant, places), count),
            Sampling(**self._task.sampling),
        )
        outcome.clock_mhz = self._platform.clock_mhz()

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
            self._problem_of = (point.dtype, point.operation)
            self._filled.clear()
        size = self._size(point)
        if self._buffers.room(DATA, size):
            self._filled.clear()
        for name, touched in self._touched(point, plan).items():
            self._buffers.room(name, touched)
        if self._filled.get(0, 0) < size:
            self._fill_input(self._problem, size)
        return self._problem

    def _prepare_places(self, point: Point, plan: Plan) -> int:
        """Make the buffers that the kernel touches at several places. Returns how many there are."""
        touched = self._touched(point, plan)
        places = max(1, min(MOST_PLACES, PLACED_BYTES // max(sum(touched.values()), 1)))
        for place in range(1, places):
            try:
                fresh = [name for name, size in touched.items() if self._buffers.room(name, size, place)]
            except MemoryError:
                return place
            if DATA in fresh:
                self._filled.pop(place, None)
            size = touched.get(DATA, 0)
            if self._filled.get(place, 0) < size:
                self._platform.copy(self._buffers.get(DATA, place), self._buffers.get(DATA), size)
                self._filled[place] = size
        self._platform.synchronize()
        return places

    def _touched(self, point: Point, plan: Plan) -> dict[str, int]:
        """The sizes, in bytes, of the buffers that the kernel itself reads or writes."""
        itemsize = np.dtype(point.dtype).itemsize
        named = {name: count * itemsize for name, count in plan.buffers.items()}
        return {_WORK if self._task.updates_input else DATA: self._size(point), **named}

    @staticmethod
    def _size(point: Point) -> int:
        """The input's size in bytes."""
        return point.array_size * np.dtype(point.dtype).itemsize

    def rest(self) -> None:
        """Give all buffers back."""
        self._buffers.free()
        self._filled.clear()

    def _fill_input(self, problem: Problem, size: int) -> None:
        """Repeat the problem's tile over the first `size` bytes of the input."""
        memory = self._buffers.get(DATA)
        tile = problem.tile[: size // problem.dtype.itemsize]
        self._platform.upload(memory, tile)
        filled = tile.nbytes
        while filled < size:
            step = min(filled, size - filled)
            self._platform.copy(memory, memory, step, filled)
            filled += step
        self._filled[0] = size

    def _restore_input(self, point: Point, place: int = 0) -> None:
        """Queue the input's restoration, where the kernel updates it."""
        if self._task.updates_input:
            self._platform.copy(self._buffers.get(_WORK, place), self._buffers.get(DATA), self._size(point))

    def _buffer(self, name: str, place: int = 0) -> Memory:
        """A buffer of the plan's; for the input, what the kernel may update."""
        return self._buffers.get(_WORK if name == DATA and self._task.updates_input else name, place)

    def _shared_bytes(self, point: Point) -> int:
        return int(self._shared_elements(point.values)) * np.dtype(point.dtype).itemsize

    def _launch(self, point: Point, plan: Plan, variant: str, place: int = 0) -> None:
        """Queue the plan's launches."""
        shared_bytes = self._shared_bytes(point)
        for launch in plan.launches:
            arguments = [self._buffer(value, place) if isinstance(value, str) else value for value in launch.arguments]
            self._platform.launch(variant, launch.grid, launch.block, shared_bytes, arguments)

    def _results(self, point: Point, plan: Plan, variant: str) -> np.ndarray[Any, Any]:
        """Run the plan once, on buffers that hold nothing right, and fetch what it leaves, shape (plan.results,)."""
        results = np.empty(plan.results, point.dtype)
        self._restore_input(point)
        for name, count in plan.buffers.items():
            self._platform.fill(self._buffers.get(name), count * results.itemsize)
        self._launch(point, plan, variant)
        self._platform.synchronize()
        self._platform.download(self._buffer(plan.result), results)
        return results

    def _timed(
        self, point: Point, plan: Plan, variant: str, places: Iterator[int]
    ) -> Callable[[Callable[[], None], Callable[[], None]], None]:
        """One sample: restore the input, flush the cache where the point is cold, then launch between the events."""

        def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
            place = next(places)
            self._restore_input(point, place)
            if point.cache == "cold":
                self._platform.flush_cache()
            start()
            self._launch(point, plan, variant, place)
            stop()

        return timed
