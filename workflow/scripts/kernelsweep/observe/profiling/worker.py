"""The process that Nsight Compute watches: it runs a kernel's points and has the counters on for one run of each.

Its arguments are two files: the requests, which write_requests() makes, and the manifest, to which it adds a line of
JSON a point, an Entry. Each point runs first as in the sweep, and its result is checked: it warms up, and a wrong point
is not profiled. Then its plan runs once more between the profiler's start and stop, so that ncu (--profile-from-start
off) sees these launches and no other; copies and fills are no launches.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kernelsweep.build.toolkit import START_SECONDS, close_context
from kernelsweep.errors import LaunchError
from kernelsweep.measure.runner import KernelTask, Runner
from kernelsweep.measure.worker.serve import open_platform
from kernelsweep.platforms.platform import ContextLost, Platform
from kernelsweep.sweep.points import Point


@dataclass(frozen=True)
class Entry:
    """What became of one point.

    variant   its C++ name
    status    of results.STATUSES; what isn't ok has not been profiled
    launches  grid and block of each launch, in order, while the counters were on
    """

    variant: str
    status: str
    message: str
    launches: tuple[tuple[int, int], ...]


def write_requests(path: Path, task: KernelTask, requests: Sequence[tuple[Point, str]], seconds: float) -> None:
    """Write what the process is asked to do.

    requests  points, each with its variant's C++ name
    seconds   how long one point may take before the process ends itself
    """
    named = [{"point": dict(point), "variant": variant} for point, variant in requests]
    path.write_text(json.dumps({"task": asdict(task), "seconds": seconds, "requests": named}), encoding="utf-8")


def read_manifest(path: Path) -> list[Entry]:
    """The entries of the points that were come to; fewer than were asked for where the process ended early."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    contents = [json.loads(line) for line in lines if line.endswith("\n")]
    return [Entry(**{**content, "launches": tuple(map(tuple, content["launches"]))}) for content in contents]


def run_requests(requests: Path, manifest: Path) -> None:
    """Run and profile every point that is asked for, in order."""
    asked = json.loads(requests.read_text(encoding="utf-8"))
    task = KernelTask(**asked["task"])
    signal.alarm(START_SECONDS)
    platform = open_platform(task.platform)
    runner = Runner(platform, task)
    start, stop = _profiler(platform, task.platform)
    with manifest.open("w", encoding="utf-8") as file:
        for request in asked["requests"]:
            signal.alarm(max(round(asked["seconds"]), 1))  # A kernel that hangs ends the process.
            point, variant = Point(request["point"]), request["variant"]
            try:
                entry = _profile(runner, point, variant, start, stop)
            except ContextLost as error:
                print(json.dumps(asdict(Entry(variant, "launch_failed", str(error), ()))), file=file, flush=True)
                os._exit(1)  # A clean end would hang or fail in the broken context.
            print(json.dumps(asdict(entry)), file=file, flush=True)
    signal.alarm(START_SECONDS)
    del runner, platform, start, stop
    if task.platform == "gpu":
        close_context()


def _profile(runner: Runner, point: Point, variant: str, start: Callable[[], None], stop: Callable[[], None]) -> Entry:
    outcome = runner.run(point, variant)
    if outcome.status != "ok":
        return Entry(variant, outcome.status, outcome.message, ())
    try:
        launches = runner.launch_between(point, variant, start, stop)
    except LaunchError as error:
        return Entry(variant, "launch_failed", str(error), ())
    return Entry(variant, "ok", "", tuple((launch.grid, launch.block) for launch in launches))


def _profiler(platform: Platform, name: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """What turns the counters on and off, each with nothing left in the queue before it; on the emulator, nothing."""
    if name != "gpu":
        return platform.synchronize, platform.synchronize
    import pycuda.driver as cuda

    def start() -> None:
        platform.synchronize()
        cuda.start_profiler()

    def stop() -> None:
        platform.synchronize()
        cuda.stop_profiler()

    return start, stop


if __name__ == "__main__":
    run_requests(Path(sys.argv[1]), Path(sys.argv[2]))
