"""One point on a platform: its launches, a run of them, and a sample."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from kernelsweep.measure.point.memory import KernelMemory
from kernelsweep.platforms.platform import Platform
from kernelsweep.problems.problem import Elements
from kernelsweep.sweep.kernels.launch_plans import Launch, Plan
from kernelsweep.sweep.points import Point

# A function that a platform times: it calls `start` and `stop` around the launches.
Sample = Callable[[Callable[[], None], Callable[[], None]], None]


@dataclass(frozen=True)
class PointRun:
    """A point whose memory is prepared.

    variant       the C++ name of what its launches start, unless they say otherwise
    shared_bytes  the dynamic shared memory of a block, unless a launch says otherwise
    """

    platform: Platform
    memory: KernelMemory
    point: Point
    plan: Plan
    variant: str
    shared_bytes: int

    def variant_of(self, launch: Launch) -> str:
        """The C++ name of what a launch of the plan starts."""
        return self.variant if launch.variant is None else launch.variant

    def shared_bytes_of(self, launch: Launch) -> int:
        """The dynamic shared memory of a block of a launch of the plan."""
        return self.shared_bytes if launch.shared_bytes is None else launch.shared_bytes

    def launches(self, place: int = 0) -> Callable[[], None]:
        """A function that queues the plan's launches. Make it once a point: looking up the arguments takes time."""
        launches = [
            (
                self.variant_of(launch),
                launch.grid,
                launch.block,
                self.shared_bytes_of(launch),
                [self.memory.argument(value, place) for value in launch.arguments],
            )
            for launch in self.plan.launches
        ]

        def queue() -> None:
            for launch in launches:
                self.platform.launch(*launch)

        return queue

    def results(self) -> dict[str, Elements]:
        """Run the plan once, on poisoned arrays, and fetch its results by the names of their arrays.

        Raises LaunchError and ContextLost.
        """
        self.memory.restore()
        self.memory.poison()
        self.launches()()
        self.platform.synchronize()
        return self.memory.results()

    @property
    def is_cold(self) -> bool:
        """Whether the cache is flushed before each timed run."""
        return bool(self.point["cache"] == "cold")

    def prepare(self, place: int = 0) -> None:
        """Queue what comes before a timed run: restore arrays and flush the cache, if the point needs that."""
        self.memory.restore(place)
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
