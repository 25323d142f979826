"""Run the points of one kernel on a platform: prepare a point's memory, check its result, then time it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kernelsweep.errors import LaunchError, MisfitError, UserError
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.pairs import read_enough
from kernelsweep.measure.point.checking import check_last_samples, check_point, check_second_input
from kernelsweep.measure.point.instances import Instances, has_second_input
from kernelsweep.measure.point.memory import KernelMemory
from kernelsweep.measure.point.point_run import PairedSamples, PointRun, Samples
from kernelsweep.measure.point.timing import take_samples
from kernelsweep.measure.task import KernelTask
from kernelsweep.platforms.platform import Platform
from kernelsweep.problems.drawn import is_timed
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.sweep.expressions import Expression
from kernelsweep.sweep.kernels.launches import launches_of_task
from kernelsweep.sweep.kernels.plan import Launch
from kernelsweep.sweep.kernels.source import LAUNCHES
from kernelsweep.sweep.point import Point

# What a point's first run is doing.
RUNS, RAN = "runs", "ran"


class Runner:
    """One kernel's points on one platform. Their `memory` is kept between points and grows with them."""

    def __init__(
        self,
        platform: Platform,
        task: KernelTask,
        instances: Instances | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Load the task's binary, if it has one.

        instances  the task's, if some are made already
        tell       gets RUNS before a point's first run, and RAN after it
        """
        self._platform, self._tell = platform, tell
        self._task = task
        self._roundings = Expression(task.roundings)
        self._problem = problem_of(task.problem)
        self._launches = launches_of_task(task.launches, self._problem)
        self._instances = instances or Instances(task)
        self._sampling = task.protocol.sampling if platform.has_clock else None
        self.memory = KernelMemory(platform, own_pages=self._sampling is not None)
        self._loaded: set[tuple[str, ...]] = set()
        # What was right in this process, by all that is launched: points whose cache alone differs are one.
        self._right: dict[tuple[object, ...], Outcome] = {}
        self._launched: set[tuple[object, ...]] = set()
        if task.binary:
            platform.load(Path(task.binary), task.variants)

    def run(
        self,
        point: Point,
        variant: str,
        check: bool | None = True,
        unit: Mapping[str, Any] | None = None,
        earlier: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Check a point and, if it is right and the platform has a clock, time it.

        check       False for a point that was checked before, and is only timed; None for one that will be: it may have
                    changed what other points read
        unit        the `file` of the variant's unit and its `variants`, where it is not in the task's binary
        earlier     the same of the variant's earlier version, with its `binary_sha256` and pairs.Enough as
                    `enough`: both are timed alternately, if that one is right, too. `of`: as in earlier.Earlier

        Raises ContextLost if nothing more can be run in this process, and UserError for arguments or constants that no
        point's launches could have. Any other failure becomes the outcome's status.
        """
        if unit:
            self._load(unit)
        started, busy_before = time.perf_counter(), self._platform.busy_seconds
        run = self._point_run(point)
        launched = (variant, *((axis, value) for axis, value in point.items() if axis != "cache"))
        right = self._right.get(launched)
        try:
            self.memory.prepare(point, run.plan, self._instances.at(point))
            outcome = replace(right) if right else self._check(run) if check else Outcome("ok")
            if outcome.status != "ok":
                return outcome
            launch = run.plan.launches[0]
            outcome.occupancy = self._platform.occupancy(launch.function, launch.threads, launch.shared_bytes)
            second = self._instances.at(point, True) if check and self._has_second_input() else None
            first = self._instances.at(point)
            if self._sampling and is_timed(point):
                # A first launch may wait for the device, which waits while samples are queued.
                if not check and launched not in self._launched:
                    self._tell(RUNS)
                    run.check_run()
                    self._tell(RAN)
                self._launched.add(launched)
                before = self._earlier(run, earlier, bool(check), launched) if earlier else None
                places = self.memory.prepare_places(point, run.beside(before), second)
                samples = Samples(run, places)
                pairs, enough = None, None
                if earlier and before:
                    pairs = PairedSamples(self._platform, samples, Samples(before, places))
                    enough = read_enough(earlier["enough"])
                    outcome.before_binary = earlier["binary_sha256"]
                spent = time.perf_counter() - started
                visit = take_samples(run, samples, self._sampling, pairs, enough, spent)
                visit.other_processes = bool(self._platform.other_processes())
                visit.seconds = round(time.perf_counter() - started, 6)
                visit.busy_seconds = round(self._platform.busy_seconds - busy_before, 6)
                outcome.visits = [visit]
                if check:
                    if pairs and (places > 1 or pairs.last > 0):  # The last results are the earlier version's.
                        self._platform.time(samples, min(2, places))
                    inputs = (first, second or first)
                    if mistake := check_last_samples(run, inputs, self._depth_of(run), samples.places):
                        return Outcome("wrong_result", mistake)
            if not right and second and (mistake := check_second_input(run, first, second, self._depth_of(run))):
                return Outcome("wrong_result", mistake)
            if check and self._sampling:
                self._right[launched] = replace(outcome, visits=[], before_binary="")
            if check is None:
                self.memory.forget_contents()
            return outcome
        except MemoryError as error:
            self.memory.free()
            return Outcome("out_of_memory", str(error))
        except MisfitError as error:
            raise UserError(f"{self._launches.place}: {error}.") from error
        except LaunchError as error:
            self.memory.forget_contents()
            return Outcome("launch_failed", str(error))

    def launch_between(
        self, point: Point, variant: str, start: Callable[[], None], stop: Callable[[], None]
    ) -> tuple[Launch, ...]:
        """Launch the plan of the point that run() found right last, with nothing but its launches between the calls.

        Returns those launches. Raises as run() does, and LaunchError.
        """
        run = self._point_run(point)
        Samples(run)(start, stop)
        self._platform.synchronize()
        return run.plan.launches

    def result_bytes(self) -> dict[str, bytes]:
        """The results of the last run of the point that run() was given last, by the names of their arrays."""
        return {name: elements.tobytes() for name, elements in self.memory.fetched_results().items()}

    def _load(self, unit: Mapping[str, Any]) -> None:
        key = unit["file"], *unit["variants"]
        if key not in self._loaded:
            self._platform.load(Path(unit["file"]), dict(unit["variants"]))
            self._loaded.add(key)

    def _earlier(
        self, run: PointRun, unit: Mapping[str, Any], check: bool, launched: tuple[object, ...]
    ) -> PointRun | None:
        """The earlier version of a point, unless it is to be checked, and is wrong."""
        self._load(unit)
        instance = self._instances.at(run.point)
        if of := unit.get("of"):  # Another kernel, which another job has checked.
            earlier = run.earlier(launches_of_task(of["launches"], self._problem).at(Point(of["point"])))
            self.memory.prepare(run.point, run.beside(earlier), instance)
        else:
            earlier = run.earlier()
        self.memory.set_constants(run.point, earlier.plan, instance)
        launched = (unit["binary_sha256"], *launched)
        if launched not in self._launched:
            earlier.check_run()
            if check and not of and earlier.judge(instance, self._depth_of(run)).mistake:
                return None
        self._launched.add(launched)
        return earlier

    def _point_run(self, point: Point) -> PointRun:
        return PointRun(self._platform, self.memory, point, self._launches.at(point))

    def _check(self, run: PointRun) -> Outcome:
        instance, repeated = self._instances.at(run.point), self._task.protocol.repeated_runs
        self._tell(RUNS)
        return check_point(run, instance, self._depth_of(run), repeated, partial(self._tell, RAN))

    def _depth_of(self, run: PointRun) -> int:
        """The longest chain of roundings that an element's value goes through on the device."""
        return int(self._roundings({**run.point, LAUNCHES: len(run.plan.launches)}))

    def _has_second_input(self) -> bool:
        """Whether the point in memory is small enough to be run with a second input."""
        return self._task.protocol.second_input and has_second_input(
            self.memory.contents_bytes, 0 if self._platform.has_clock else self.memory.bytes
        )
