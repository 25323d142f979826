"""Run points of one kernel on a platform: prepare memory, check the result, run again to compare, then take samples."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import LaunchError
from kernelsweep.measure.energy import energy_of_run
from kernelsweep.measure.memory import Buffers
from kernelsweep.measure.outcome import Outcome, Visit
from kernelsweep.measure.sampling import Pauses, Sampling, sample
from kernelsweep.platforms.platform import Conditions, Memory, Platform
from kernelsweep.problems.exchange import make_exchange
from kernelsweep.problems.problem import Problem
from kernelsweep.problems.reduction import make_reduction
from kernelsweep.sweep.expressions import Expression
from kernelsweep.sweep.kernel_source import LAUNCHES
from kernelsweep.sweep.launch_plans import DATA, PLANS, Launch, Plan
from kernelsweep.sweep.points import Point

# Buffers besides those of the plan: the input's working copy, where the kernel updates its input, and one repetition of
# what the input holds, which no kernel is given.
_WORK = "work"
_TILE = "tile"

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
    shared_elements: str
    summation_depth: str
    binary: str
    variants: dict[str, dict[str, Any]]
    longest: int
    seed: int
    repeated_runs: int
    visits: int
    sampling: dict[str, Any] | None


class Runner:
    """One kernel's points on one platform. Memory is kept between points and grows with them."""

    def __init__(self, platform: Platform, task: KernelTask) -> None:
        self._platform = platform
        self._task = task
        self._depth = Expression(task.summation_depth, [LAUNCHES])
        self._shared_elements = Expression(task.shared_elements)
        self._problem: Problem | None = None
        self._problem_of: tuple[str, str] | None = None
        self._tile_is_there = False
        self._sampling = Sampling(**task.sampling) if platform.has_clock and task.sampling is not None else None
        if self._sampling:
            self._pauses = Pauses(self._sampling.pause_seconds, self._sampling.max_pause_seconds)
        self._buffers = Buffers(platform, PAGE if self._sampling else _WORD)
        self._filled: dict[int, int] = {}  # How many bytes of the input are in place, by place.
        self._updating = False  # Whether some point so far has updated its input.
        self._works_on_copy = False  # Whether the point at hand gets the working copy for its input.
        platform.load(Path(task.binary), task.variants)

    def run(
        self,
        point: Point,
        variant: str,
        check: bool = True,
        companions: Collection[int] = (),
        updates_input: bool = False,
    ) -> Outcome:
        """Check a point and, where it is right and the platform has a clock, time it.

        check          False for a point that was checked before, which then is only timed
        companions     the pids of our other processes that have the device open
        updates_input  what the check of a point found that was checked before

        Raises ContextLost where nothing more can be run in this process; all else becomes the outcome's status.
        """
        started, busy_before = time.perf_counter(), self._platform.busy_seconds
        plan = PLANS[self._task.plan](point)
        # A kernel that has updated its input once gets a working copy at once, and not only after a run on the input.
        self._works_on_copy = self._updating if check else updates_input
        try:
            problem = self._prepare_memory(point, plan)
            self._zero(point, plan)
            if check:
                outcome = self._check(point, plan, variant, problem)
            else:
                outcome = Outcome("ok", updates_input=updates_input)
            if outcome.status != "ok":
                return outcome
            outcome.occupancy = self._platform.occupancy(variant, plan.launches[0].block, self._shared_bytes(point))
            if self._sampling:
                visit = self._visit(point, plan, variant, self._sampling)
                visit.other_processes = bool(self._platform.other_processes([os.getpid(), *companions]))
                if check and self._sampling.energy_seconds:
                    visit.energy_mj = self._energy(point, plan, variant, self._sampling.energy_seconds)
                visit.seconds = round(time.perf_counter() - started, 6)
                visit.busy_seconds = round(self._platform.busy_seconds - busy_before, 6)
                outcome.visits = [visit]
            return outcome
        except MemoryError as error:
            self.rest()
            return Outcome("out_of_memory", str(error))
        except LaunchError as error:
            self._filled.clear()  # How far the kernel came isn't known, nor what it wrote.
            return Outcome("launch_failed", str(error))

    def launch_between(
        self, point: Point, variant: str, start: Callable[[], None], stop: Callable[[], None]
    ) -> tuple[Launch, ...]:
        """Launch the plan of a point that run() found right once more, with nothing but its launches between the calls.

        Returns those launches. Raises as run() does, and LaunchError.
        """
        plan = PLANS[self._task.plan](point)
        self._timed(point, [self._launches(point, plan, variant)])(start, stop)
        self._platform.synchronize()
        return plan.launches

    def _check(self, point: Point, plan: Plan, variant: str, problem: Problem) -> Outcome:
        """Run the plan and have its results judged; those of floats are compared with further runs' bits.

        What the kernel updates isn't declared: its input is compared with what it was. From then on the point has a
        working copy of it, or none.
        """
        depth = self._depth({**point, LAUNCHES: len(plan.launches)})
        results = self._results(point, plan, variant)
        updates_input = not self._input_is_unchanged(point, problem)
        if updates_input:
            self._updating = True
            if not self._works_on_copy:
                self._filled.clear()
        self._works_on_copy = updates_input
        self._prepare_memory(point, plan)
        judgement = problem.judge(point, results, depth)
        mistake = judgement.mistake or self._not_zero(point, plan)
        if not mistake and plan.zeroed and self._task.repeated_runs > 1:
            again = problem.judge(point, self._results(point, plan, variant), depth).mistake
            mistake = f"right at first, but run again: {again}" if again else None
        if mistake:
            return Outcome("wrong_result", mistake, output=judgement.output, updates_input=updates_input)
        return Outcome(
            "ok",
            relative_error=judgement.relative_error,
            bit_identical=self._bit_identical(point, plan, variant, results),
            output=judgement.output,
            updates_input=updates_input,
        )

    def _visit(self, point: Point, plan: Plan, variant: str, sampling: Sampling) -> Visit:
        """Take samples, each at the next of the places that the point's buffers have."""
        places = range(self._prepare_places(point, plan))
        timed = self._timed(point, [self._launches(point, plan, variant, place) for place in places])
        conditions: list[Conditions] = []

        def time_samples(count: int) -> tuple[list[float], bool]:
            times = self._platform.time(timed, count)
            conditions.append(self._platform.conditions())
            return times, bool(conditions[-1].throttle_reasons)

        sampled = sample(time_samples, sampling, self._pauses.of_point())
        reasons = {reason for seen in conditions for reason in seen.throttle_reasons}
        return Visit(
            **asdict(sampled),
            throttle_reasons=sorted(reasons),
            device_uuid=self._platform.uuid,
            clock_mhz=min((seen.clock_mhz for seen in conditions if seen.clock_mhz is not None), default=None),
            temperature_c=max(
                (seen.temperature_c for seen in conditions if seen.temperature_c is not None), default=None
            ),
            power_w=conditions[-1].power_w,
        )

    def _energy(self, point: Point, plan: Plan, variant: str, seconds: float) -> float | None:
        """Millijoules of one run of the plan."""
        prepared = self._works_on_copy or point["cache"] == "cold"
        return energy_of_run(
            self._platform,
            run=self._launches(point, plan, variant),
            prepare=(lambda: self._prepare_run(point)) if prepared else None,
            seconds=seconds,
        )

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
        if self._problem is None or self._problem_of != (point["dtype"], point["operation"]):
            self._problem = (
                make_exchange(task.kernel, point["dtype"], task.longest)
                if task.problem == "exchange"
                else make_reduction(point["dtype"], point["operation"], task.longest, task.seed)
            )
            self._problem_of = (point["dtype"], point["operation"])
            self._filled.clear()
            self._tile_is_there = False
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
            self._zero(point, plan, place)
        self._platform.synchronize()
        return places

    def _touched(self, point: Point, plan: Plan) -> dict[str, int]:
        """The sizes, in bytes, of the buffers that the kernel itself reads or writes."""
        itemsize = np.dtype(point["dtype"]).itemsize
        named = {name: count * itemsize for name, count in (*plan.buffers.items(), *plan.zeroed.items())}
        return {_WORK if self._works_on_copy else DATA: self._size(point), **named}

    @staticmethod
    def _size(point: Point) -> int:
        """The input's size in bytes."""
        return int(point["array_size"] * np.dtype(point["dtype"]).itemsize)

    def rest(self) -> None:
        """Give all buffers back."""
        self._buffers.free()
        self._filled.clear()

    def _fill_input(self, problem: Problem, size: int) -> None:
        """Repeat the problem's tile over the first `size` bytes of the input."""
        if self._buffers.room(_TILE, problem.tile.nbytes) or not self._tile_is_there:
            self._platform.upload(self._buffers.get(_TILE), problem.tile)
            self._tile_is_there = True
        memory = self._buffers.get(DATA)
        filled = min(problem.tile.nbytes, size)
        self._platform.copy(memory, self._buffers.get(_TILE), filled)
        while filled < size:
            step = min(filled, size - filled)
            self._platform.copy(memory, memory, step, filled)
            filled += step
        self._filled[0] = size

    def _input_is_unchanged(self, point: Point, problem: Problem) -> bool:
        """Whether the input is still the problem's tile, repeated; what a run had, on the device itself."""
        memory, size = self._buffer(DATA), self._size(point)
        tile = min(problem.tile.nbytes, size)
        return self._platform.equal(memory, self._buffers.get(_TILE), tile) and (
            # Each further repetition is the one before it.
            size == tile or self._platform.equal(memory, memory, size - tile, tile)
        )

    def _restore_input(self, point: Point, place: int = 0) -> None:
        """Queue the input's restoration, where the kernel updates it."""
        if self._works_on_copy:
            self._platform.copy(self._buffers.get(_WORK, place), self._buffers.get(DATA), self._size(point))

    def _buffer(self, name: str, place: int = 0) -> Memory:
        """A buffer of the plan's; for the input, what the kernel may update."""
        return self._buffers.get(_WORK if name == DATA and self._works_on_copy else name, place)

    def _shared_bytes(self, point: Point) -> int:
        return int(self._shared_elements(point)) * int(np.dtype(point["dtype"]).itemsize)

    def _launches(self, point: Point, plan: Plan, variant: str, place: int = 0) -> Callable[[], None]:
        """A function that queues the plan's launches; made once a point, for looking its arguments up takes time."""
        shared_bytes = self._shared_bytes(point)
        launches = [
            (
                variant,
                launch.grid,
                launch.block,
                shared_bytes,
                [self._buffer(value, place) if isinstance(value, str) else value for value in launch.arguments],
            )
            for launch in plan.launches
        ]

        def queue() -> None:
            for launch in launches:
                self._platform.launch(*launch)

        return queue

    def _results(self, point: Point, plan: Plan, variant: str) -> np.ndarray[Any, Any]:
        """Run the plan once, on poisoned buffers, and fetch what it leaves, shape (plan.results,)."""
        assert self._problem is not None
        results = np.empty(plan.results, point["dtype"])
        self._restore_input(point)
        for name, count in plan.buffers.items():
            self._platform.fill(self._buffers.get(name), count * results.itemsize, self._problem.poison)
        self._launches(point, plan, variant)()
        self._platform.synchronize()
        self._platform.download(self._buffer(plan.result), results)
        return results

    def _zero(self, point: Point, plan: Plan, place: int = 0) -> None:
        """Zero the buffers that the plan finds and leaves so: once a point, for no sample has the time for it."""
        for name, count in plan.zeroed.items():
            self._platform.upload(self._buffers.get(name, place), np.zeros(count, point["dtype"]))

    def _not_zero(self, point: Point, plan: Plan) -> str | None:
        """What is wrong where a run didn't leave those buffers zero."""
        for name, count in plan.zeroed.items():
            left = np.empty(count * np.dtype(point["dtype"]).itemsize, np.uint8)
            self._platform.download(self._buffers.get(name), left)
            if left.any():
                found = f"{np.count_nonzero(left)} bytes of it are not"
                return f"the result is right, but {name} is not left zero, as the next run needs it: {found}"
        return None

    def _prepare_run(self, point: Point, place: int = 0) -> None:
        """Queue what comes before a timed run: restore the input, and flush the cache where the point is cold."""
        self._restore_input(point, place)
        if point["cache"] == "cold":
            self._platform.flush_cache()

    def _timed(
        self, point: Point, launches: Sequence[Callable[[], None]]
    ) -> Callable[[Callable[[], None], Callable[[], None]], None]:
        """One sample: prepare the run, then launch between the events; at the next place each time.

        launches  of each place
        """
        next_place = itertools.cycle(enumerate(launches))

        def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
            place, launch = next(next_place)
            self._prepare_run(point, place)
            start()
            launch()
            stop()

        return timed
