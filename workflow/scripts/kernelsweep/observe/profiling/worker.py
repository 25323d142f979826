"""The process that Nsight Compute observes: it runs points, and has the counters on for one run of each.

Each point runs first as in the sweep, and its result is checked: this warms up, and a wrong point is not profiled. Then
its launches run once more between the profiler's start and stop, so that ncu (--profile-from-start off) records these
launches and no others; it does not record copies and fills.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelsweep.errors import LaunchError
from kernelsweep.measure.point.runner import Runner
from kernelsweep.measure.task import KernelTask
from kernelsweep.observe.requests import Answer, Launched, answer_requests
from kernelsweep.platforms.platform import Platform
from kernelsweep.sweep.point import Point


def prepare(platform: Platform, task: KernelTask) -> Callable[[Point, str], Answer]:
    """A function that checks a point with its variant, and then profiles it."""
    runner = Runner(platform, task)

    def run(point: Point, variant: str) -> Answer:
        outcome = runner.run(point, variant)
        if outcome.status != "ok":
            return Answer(outcome.status, outcome.message)
        try:
            launches = runner.launch_between(point, variant, platform.start_profiler, platform.stop_profiler)
        except LaunchError as error:
            return Answer("launch_failed", str(error))
        return Answer(
            "ok",
            "",
            tuple(Launched(launch.function, launch.grid, launch.block) for launch in launches),
        )

    return run


if __name__ == "__main__":
    answer_requests(prepare)
