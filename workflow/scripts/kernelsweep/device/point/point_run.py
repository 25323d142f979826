"""One point on a platform: its launches, a run of them, and its samples, with the device's conditions meanwhile."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from kernelsweep.device.outcome import Timing
from kernelsweep.device.pairs import ORDER, FixedSeconds
from kernelsweep.device.platform import Conditions, Memory, Platform
from kernelsweep.device.point.fit import fitting
from kernelsweep.device.point.memory import KernelMemory
from kernelsweep.device.sampling import Criterion, Taken, sample
from kernelsweep.study.kernels.plan import Launch, Plan
from kernelsweep.study.kernels.units import EARLIER
from kernelsweep.study.point import Point
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem import Judgement


class Samples:
    """What a platform times: a run's preparation, then its launches between the events; at the next place each time.

    places  where the last two samples have run, whose results are there
    """

    def __init__(self, run: PointRun, places: int = 1) -> None:
        # Poison, so that a kernel can't leave out work because it was done before.
        self._next = itertools.cycle(
            [
                (
                    place,
                    run.preparation(place, poisoned=True),
                    run.launches(place),
                    run.memory.copies(run.plan, place, True),
                )
                for place in range(places)
            ]
        )
        self.places: deque[int] = deque(maxlen=2)

    def __call__(self, start: Callable[[], None], stop: Callable[[], None]) -> None:
        """Queue one sample."""
        place, prepare, launch, copies_back = next(self._next)
        self.places.append(place)
        prepare()
        start()
        launch()
        stop()
        for copy in copies_back:
            copy()


class PairedSamples:
    """Pairs of samples: one of each of two versions of a point, in the same memory, in the order of pairs.ORDER.

    last  that of the last pair
    """

    def __init__(self, platform: Platform, now: Samples, before: Samples) -> None:
        self._platform, self._versions = platform, (now, before)
        self._order, self.last = itertools.cycle(ORDER), 0

    def time(self) -> tuple[float, float]:
        """Microseconds of the version now, and of the one before. Raises as Platform.time() does."""
        step = self.last = next(self._order)
        queue = iter(self._versions[::step])
        now, before = self._platform.time(lambda start, stop: next(queue)(start, stop), 2)[::step]
        return now, before


@dataclass(frozen=True)
class PointRun:
    """A point whose memory is prepared.

    on_host  a context for work of the host's, meanwhile others may have the device
    """

    platform: Platform
    memory: KernelMemory
    point: Point
    plan: Plan
    on_host: Callable[[], AbstractContextManager[None]] = nullcontext

    def launches(self, place: int = 0) -> Callable[[], None]:
        """A function that queues the plan's launches. Make it once a point: looking up the arguments takes time."""
        return self.platform.sequence(
            [self.platform.launcher(launch, self._arguments(launch, place)) for launch in self.plan.launches]
        )

    def _arguments(self, launch: Launch, place: int) -> list[Memory | np.generic]:
        """What a launch passes. Raises MisfitError and LaunchError where they don't fit the function's parameters."""
        found = [self.memory.argument(value, place) for value in launch.arguments]
        parameters = self.platform.parameter_types(launch.function)
        return fitting(launch.function, launch.arguments, found, parameters, self.memory.dtypes)

    def earlier(self, plan: Plan | None = None) -> PointRun:
        """The same point with the earlier version of its kernel, which the platform has loaded.

        plan  of another kernel instead, which has its own arrays
        """
        own = {name: f"{EARLIER}{name}" for name in plan.arrays} if plan else {}
        plan = plan or self.plan
        launches = tuple(
            replace(
                one,
                function=f"{EARLIER}{one.function}",
                arguments=tuple(own.get(each, each) if isinstance(each, str) else each for each in one.arguments),
            )
            for one in plan.launches
        )
        arrays = {own.get(name, name): array for name, array in plan.arrays.items()}
        return replace(self, plan=replace(plan, launches=launches, arrays=arrays))

    def beside(self, other: PointRun | None) -> Plan:
        """The plan with the arrays of another run as well, which alternates with this one in the same memory."""
        if other is None:
            return self.plan
        return replace(
            self.plan,
            launches=(*self.plan.launches, *other.plan.launches),
            arrays={**self.plan.arrays, **other.plan.arrays},
            updates=(*self.plan.updates, *other.plan.updates),
            variables=(*self.plan.variables, *other.plan.variables),
        )

    def check_run(self) -> None:
        """Run the plan once, on poisoned arrays. Raises LaunchError and ContextLost."""
        before = (*self.memory.restorations(), *self.memory.poisonings(), *self.memory.copies(self.plan))
        for queue in (*before, self.launches(), *self.memory.copies(self.plan, back=True)):
            queue()
        self.platform.synchronize()

    def judge(self, instance: FileInstance, depth: int, place: int = 0) -> Judgement:
        """Judge the results of the last run at a place: on the platform if it can tell, else on the host.

        depth  the longest chain of roundings that an element's value goes through on the device
        """
        right = self.memory.comparison.judged(instance, self.memory.results(place), self.memory.input_at(place))
        if right:
            return right
        results = self.memory.fetched_results(place)
        with self.on_host():
            judgement = instance.judge(results, depth)
            told = judgement.mistake and f"{judgement.mistake}{self.memory.untouched(results, place)}"
            return replace(judgement, mistake=told)

    @property
    def leaves_state(self) -> bool:
        """Whether the last run has left something in variables in global memory, where the next one may find it."""
        return self.platform.leaves_state(self._functions)

    @property
    def _functions(self) -> set[str]:
        return {launch.function for launch in self.plan.launches}

    def preparation(self, place: int = 0, poisoned: bool = False) -> Callable[[], None]:
        """A function that queues what comes before a timed run: restore arrays and variables, and flush the cache.

        poisoned  whether arrays without contents are overwritten, too

        Make it once a point, as launches().
        """
        steps = [*(self.memory.poisonings(place) if poisoned else ()), *self.memory.restorations(place)]
        copies = self.memory.copies(self.plan, place)
        steps += [*self.platform.restorations(self._functions), *copies]
        if self.point["cache"] == "cold":
            steps.append(self.platform.flush_cache)

        def queue() -> None:
            for step in steps:
                step()

        return queue


def take_samples(
    run: PointRun,
    timed: Samples,
    criterion: Criterion,
    relative_precision: float,
    pairs: PairedSamples | None = None,
    spent: float = 0.0,
) -> Timing:
    """Time a point that was found right.

    pairs               samples of the point and of its partner, to be taken in place of its own

    Raises LaunchError and ContextLost.
    """
    conditions: list[Conditions] = []
    before: list[float] = []

    def take(count: int) -> tuple[list[Taken], bool]:
        taken: list[Taken]
        if pairs:
            now, old = pairs.time()
            before.append(old)
            taken = [(now, old)]
        else:
            taken = [(time_us, None) for time_us in run.platform.time(timed, count)]
        conditions.append(run.platform.conditions())
        return taken, bool(conditions[-1].throttle_reasons)

    return replace(
        sample(take, deepcopy(criterion), relative_precision, spent),
        before=before,
        fixed=isinstance(criterion, FixedSeconds),
        throttle_reasons=sorted({reason for seen in conditions for reason in seen.throttle_reasons}),
        clocks_are_set=any(seen.clocks_are_set for seen in conditions),
        device_uuid=run.platform.uuid,
        clock_mhz=min((seen.clock_mhz for seen in conditions if seen.clock_mhz is not None), default=None),
        temperature_c=max((seen.temperature_c for seen in conditions if seen.temperature_c is not None), default=None),
        power_w=conditions[-1].power_w,
    )
