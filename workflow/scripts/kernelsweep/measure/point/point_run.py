"""One point on a platform: its launches, a run of them, and a sample."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from kernelsweep.measure.point.memory import KernelMemory
from kernelsweep.platforms.platform import Platform
from kernelsweep.problems.operations import Array
from kernelsweep.sweep.kernels.launch_plans import Plan
from kernelsweep.sweep.points import Point

# A function that a platform times: it calls `start` and `stop` around the launches.
Sample = Callable[[Callable[[], None], Callable[[], None]], None]


@dataclass(frozen=True)
class PointRun:
    """A point whose memory is prepared.

    variant       the C++ name of what it launches
    shared_bytes  the dynamic shared memory of a block
    """

    platform: Platform
    memory: KernelMemory
    point: Point
    plan: Plan
    variant: str
    shared_bytes: int

    def launches(self, place: int = 0) -> Callable[[], None]:
        """A function that queues the plan's launches. Make it once a point: looking up the arguments takes time."""
        launches = [
            (
                self.variant,
                launch.grid,
                launch.block,
                self.shared_bytes,
                [self.memory.argument(value, place) for value in launch.arguments],
            )
            for launch in self.plan.launches
        ]

        def queue() -> None:
            for launch in launches:
                self.platform.launch(*launch)

        return queue

    def results(self) -> Array:
        """Run the plan once, on poisoned buffers, and fetch its results, shape (plan.results,).

        Raises LaunchError and ContextLost.
        """
        self.memory.restore_input()
        self.memory.poison()
        self.launches()()
        self.platform.synchronize()
        return self.memory.results()

    @property
    def is_cold(self) -> bool:
        """Whether the cache is flushed before each timed run."""
        return bool(self.point["cache"] == "cold")

    def prepare(self, place: int = 0) -> None:
        """Queue what comes before a timed run: restore the input and flush the cache, if the point needs that."""
        self.memory.restore_input(place)
        if self.is_cold:
            self.platform.flush_cache()

    def sample(self, places: int = 1) -> Sample:
        """One sample: a run's preparation, then its launches between the events; at the next place each time."""
        next_place = itertools.cycle([(place, self.launches(place)) for place in range(places)])

        def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
            place, launch = next(next_place)
            self.prepare(place)
            start()
            launch()
            stop()

        return timed
