"""Run the points of one kernel on a platform: prepare a point's memory, check its result, then time it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.device.arguments import check_names
from kernelsweep.device.outcome import Outcome, Timing
from kernelsweep.device.platform import Platform
from kernelsweep.device.point.checking import check_last_samples, check_point, check_second_input
from kernelsweep.device.point.instances import Instances, has_second_input
from kernelsweep.device.point.memory import KernelMemory
from kernelsweep.device.point.point_run import PairedSamples, PointRun, Samples, take_samples
from kernelsweep.device.request import MOST_HOST_SECONDS, VisitRequest
from kernelsweep.device.sampling import MedianKnown
from kernelsweep.device.task import KernelTask
from kernelsweep.errors import LaunchError, MisfitError, UserError
from kernelsweep.study.expressions import Expression
from kernelsweep.study.kernels.launches import launches_of_task
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.kernels.source import LAUNCHES
from kernelsweep.study.point import Point
from kernelsweep.study.problem.drawn import is_timed
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem import Elements
from kernelsweep.study.problem.problem_file import problem_of


class Now(StrEnum):
    """What a runner reports: a point's first run has a time limit of its own, and the host's work needs no device."""

    FIRST_RUN_BEGINS = "begins"
    FIRST_RUN_ENDS = "ends"
    HOST_BEGINS = "host begins"
    HOST_ENDS = "host ends"
    WAITS = "waits"  # after work of the host's that took longer than MOST_HOST_SECONDS


# A variant's name with the values of all axes but the cache.
_Launched = tuple[object, ...]


@dataclass(frozen=True)
class _LastSamples:
    """The samples of a point, and how many are to be taken once more, so that the last results are its own."""

    samples: Samples
    again: int


class Runner:
    """One kernel's points on one platform. Their `memory` is kept between points and grows with them."""

    def __init__(
        self,
        platform: Platform,
        task: KernelTask,
        instances: Instances | None = None,
        report: Callable[[Now], None] = lambda _: None,
    ) -> None:
        """Load the task's binary, if it has one.

        report     gets what happens now, and returns from Now.WAITS once the device is the runner's again
        """
        self._platform, self._report = platform, report
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
        self._host_seconds = 0.0  # of this visit
        self._known: dict[tuple[bool, bool], FileInstance] = {}  # by whether it is the second, and judged
        if task.binary:
            platform.load(Path(task.binary), task.variants)

    @property
    def seeds(self) -> int:
        """The number of orders of threads in which a point runs, where the platform has more than one."""
        return self._task.protocol.seeds

    @property
    def judges(self) -> bool:
        """Whether the problem says which results are right."""
        return not {"reference", "mistake"}.isdisjoint(self._problem.functions)

    @property
    def compares(self) -> bool:
        """Whether results of the last point were compared: a `mistake` that takes no result compares nothing."""
        mistake = self._problem.functions.get("mistake")
        return self.judges if mistake is None else not {*mistake.parameters}.isdisjoint(self.memory.results())

    def run(self, request: VisitRequest) -> Outcome:
        """Check a point, unless an earlier visit has; then time it, if it is right and the platform has a clock.

        Where the request has a partner, both are timed alternately, if that one is right, too.

        Raises ContextLost if nothing more can be run in this process, and UserError for arguments or constants that no
        point's launches could have. Any other failure becomes the outcome's status.
        """
        try:
            return self._run(request)
        except MemoryError as error:
            self.memory.free()
            return Outcome("out_of_memory", str(error))
        except MisfitError as error:
            raise UserError(f"{self._launches.place}: {error}.") from error
        except LaunchError as error:
            self.memory.forget_contents()
            return Outcome("launch_failed", str(error), reason=error.reason)

    def _run(self, request: VisitRequest) -> Outcome:
        started, busy_before, self._host_seconds = time.perf_counter(), self._platform.busy_seconds, 0.0
        if request.unit:
            self._load(request.unit)
        point, run = request.point, self._point_run(request.point)
        launched = (request.variant, *((axis, value) for axis, value in point.items() if axis != "cache"))
        first = self._instance(run, request.check)
        # The problem's own check may have refused the names already, but runs beside this job.
        check_names(run.plan, first, point, self._launches.place, f"the kernel {self._task.kernel!r}")
        self.memory.prepare(run.plan, first)
        right = self._right.get(launched)
        outcome = replace(right) if right else self._check(run) if request.check else Outcome("ok")
        if outcome.status != "ok":
            return outcome
        outcome.occupancy = self._platform.occupancy(run.plan.launches[0])
        sizes = self.memory.contents_bytes, 0 if self._platform.has_clock else self.memory.bytes
        has_second = request.check and self._task.protocol.second_input and has_second_input(*sizes)
        second = self._instance(run, True, is_second=True) if has_second else None
        if self._sampling and is_timed(point):
            spent = time.perf_counter() - started - self._host_seconds
            timing, last = self._time(run, request, launched, second, spent)
            timing.seconds = round(time.perf_counter() - started - self._host_seconds, 6)
            timing.busy_seconds = round(self._platform.busy_seconds - busy_before, 6)
            outcome.visits = [timing]
            if timing.before and request.partner:
                outcome.before_binary = request.partner.binary
            if request.check:
                if last.again:
                    self._platform.time(last.samples, last.again)
                inputs = first, second or first
                if mistake := check_last_samples(run, inputs, self._depth_of(run), last.samples.places):
                    return Outcome("wrong_result", mistake)
        if not right and second and (mistake := check_second_input(run, first, second, self._depth_of(run))):
            return Outcome("wrong_result", mistake)
        if request.check and self._sampling:
            self._right[launched] = replace(outcome, visits=[], before_binary="")
        return outcome

    def _time(
        self, run: PointRun, request: VisitRequest, launched: _Launched, second: FileInstance | None, spent: float
    ) -> tuple[Timing, _LastSamples]:
        """The samples of a point that was found right, and how the last ones are repeated."""
        sampling = self._sampling
        assert sampling
        # A first launch may wait for the device, which waits while samples are queued.
        if not request.check and launched not in self._launched:
            self._report(Now.FIRST_RUN_BEGINS)
            run.check_run()
            self._report(Now.FIRST_RUN_ENDS)
        self._launched.add(launched)
        partner = self._partner(run, request, launched) if request.partner else None
        places = self.memory.prepare_places(run.beside(partner), second)
        samples = Samples(run, places)
        pairs = PairedSamples(self._platform, samples, Samples(partner, places)) if partner else None
        # Without its partner, a point is timed as all others.
        wanted = request.criterion if pairs or not request.partner else None
        timing = take_samples(run, samples, wanted or MedianKnown(sampling), sampling.relative_precision, pairs, spent)
        timing.other_processes = bool(self._platform.other_processes())
        # The last results may be the partner's.
        is_own = not pairs or (places == 1 and pairs.last < 0)
        return timing, _LastSamples(samples, 0 if is_own else min(2, places))

    def launch_between(self, point: Point, start: Callable[[], None], stop: Callable[[], None]) -> tuple[Launch, ...]:
        """Launch the plan of the point that run() found right last, with nothing but its launches between the calls.

        Returns those launches. Raises as run() does, and LaunchError.
        """
        run = self._point_run(point)
        Samples(run)(start, stop)
        self._platform.synchronize()
        return run.plan.launches

    def result_bytes(self) -> dict[str, bytes]:
        """The results of the last run of the point that run() was given last, by the names of their arrays.

        Of structures, their fields: what lies between these is nobody's.
        """
        results = self.memory.fetched_results()
        return {name: _packed(elements).tobytes() for name, elements in results.items()}

    def _load(self, unit: BuiltUnit) -> None:
        key = str(unit.file), *unit.variants
        if key not in self._loaded:
            self._platform.load(unit.file, dict(unit.variants))
            self._loaded.add(key)

    def _partner(self, run: PointRun, request: VisitRequest, launched: _Launched) -> PointRun | None:
        """What a point runs in pairs with; None where it is to be checked, and is wrong."""
        partner = request.partner
        assert partner
        self._load(partner.unit)
        instance = self._instances.at(run.point)
        if partner.other_kernel:  # Another kernel, which another job has checked.
            launches = launches_of_task(partner.other_kernel["launches"], self._problem)
            other = run.earlier(launches.at(Point(partner.other_kernel["point"])))
            self.memory.prepare(run.beside(other), instance)
        else:
            other = run.earlier()
        self.memory.set_constants(other.plan, instance)
        launched = (partner.binary, *launched)
        if launched not in self._launched:
            other.check_run()
            if request.check and not partner.other_kernel and other.judge(instance, self._depth_of(run)).mistake:
                return None
        self._launched.add(launched)
        return other

    def _instance(self, run: PointRun, is_judged: bool, is_second: bool = False) -> FileInstance:
        """The instance of a point; on a platform with a clock with what it is judged by, before the device works."""
        if not self._sampling:
            return self._instances.at(run.point, is_second)
        known = self._known.get((is_second, is_judged))
        if known and self._instances.has(run.point, is_second) and known is self._instances.at(run.point, is_second):
            return known
        if not self._instances.has(run.point):
            self._known.clear()
        with self.on_host():
            instance = self._known[is_second, is_judged] = self._instances.at(run.point, is_second)
            if is_judged:
                instance.expect(self._depth_of(run))
            return instance

    @contextmanager
    def on_host(self) -> Iterator[None]:
        """Report the block as work of the host's: if it takes long, others have the device meanwhile."""
        self._report(Now.HOST_BEGINS)
        started = time.perf_counter()
        try:
            yield
        finally:
            took_long = time.perf_counter() - started >= MOST_HOST_SECONDS
            self._report(Now.WAITS if took_long else Now.HOST_ENDS)
            self._host_seconds += time.perf_counter() - started

    def _point_run(self, point: Point) -> PointRun:
        on_host = self.on_host if self._sampling else nullcontext
        with nullcontext() if self._launches.listed else on_host():  # The user's function makes them.
            plan = self._launches.at(point)
        return PointRun(self._platform, self.memory, point, plan, on_host)

    def _check(self, run: PointRun) -> Outcome:
        instance, repeated = self._instances.at(run.point), self._task.protocol.repeated_runs
        self._report(Now.FIRST_RUN_BEGINS)
        return check_point(run, instance, self._depth_of(run), repeated, partial(self._report, Now.FIRST_RUN_ENDS))

    def _depth_of(self, run: PointRun) -> int:
        """The longest chain of roundings that an element's value goes through on the device."""
        return int(self._roundings({**run.point, LAUNCHES: len(run.plan.launches)}))


def _packed(elements: Elements) -> Elements:
    if not elements.dtype.names:
        return elements
    from numpy.lib.recfunctions import repack_fields  # which takes 60 ms to import

    return repack_fields(elements, recurse=True)
