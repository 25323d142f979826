"""The bench of a kernel's points: the journal in front of worker processes at a leased device."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import cached_property
from math import inf
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.device.lease import Lease
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.request import MOST_HOST_SECONDS, VisitRequest
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.client import Workers
from kernelsweep.errors import BuildError
from kernelsweep.study.point import Point
from kernelsweep.sweep.environment import git_revision
from kernelsweep.sweep.identity import Identity, with_binary
from kernelsweep.sweep.journal import SEARCHED, Journal
from kernelsweep.sweep.limits import TimeLimits
from kernelsweep.sweep.recorded import known_outcome, recorded
from kernelsweep.sweep.visit import Visit

if TYPE_CHECKING:
    from kernelsweep.compile.builder import Builder

# Waits for the device with a UUID, or for any where that is "".
Leases = Callable[[str], AbstractContextManager[Lease]]


@dataclass(frozen=True)
class Ready:
    """A visit whose variant is compiled: its identity with the machine code, and its unit or its outcome.

    unit     the variant's; None where the task's binary has it
    outcome  where nothing is to be run: the journal's, or why not
    """

    identity: Identity
    unit: BuiltUnit | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Front:
    """What stands before a device: the compiler and the journal.

    builder       compiles the variants; None where the task has a binary
    source        the hash of the kernel's source, which the journal notes with the revision of its repository
    short_counts  as for known_outcome
    is_search     whether a search proposes the points, which the journal notes
    """

    journal: Journal
    builder: Builder | None = None
    source: str = ""
    short_counts: bool = False
    is_search: bool = False

    def is_built(self, visit: Visit, seconds: float) -> bool:
        """Whether the visit's variant is compiled, or refused, within so many seconds."""
        return self.builder is None or self.builder.is_built(visit.variant, seconds)

    def ready(self, visit: Visit) -> Ready:
        """Wait until the visit's variant is compiled, and look the visit up."""
        if self.builder is None:
            return Ready(visit.identity, outcome=Outcome("skipped", visit.skip) if visit.skip else None)
        try:
            unit = self.builder.wait(visit.variant)
        except BuildError as error:
            return Ready(visit.identity, outcome=Outcome("build_failed", str(error), reason=error.reason))
        identity = with_binary(visit.identity, unit.variants[visit.variant]["binary_sha256"])
        known = known_outcome(self.journal, identity, self.short_counts)
        return Ready(identity, unit, known or (Outcome("skipped", visit.skip) if visit.skip else None))

    def record(self, outcome: Outcome, identity: Identity) -> Outcome:
        """The outcome with what the journal says of earlier visits; it is added there."""
        return recorded(self.journal, outcome, identity, self._source)

    @cached_property
    def _source(self) -> dict[str, Any]:
        searched = {SEARCHED: True} if self.is_search else {}
        return {"source_sha256": self.source, "revision": git_revision(self.journal.path.parent), **searched}


class Bench:
    """Makes visits to a kernel's points, each in one of several processes. A context manager that ends them.

    The device is leased once the first visit is compiled, and given back for work of the host's or of the compiler's
    that takes longer than MOST_HOST_SECONDS.
    """

    def __init__(
        self,
        task: KernelTask,
        front: Front,
        workers: Workers,
        leases: Leases = lambda _: nullcontext(Lease()),
        limits: TimeLimits | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """workers by the visits' numbers; limits of several benches, if there are; tell gets a line on a slow point."""
        self._front, self._workers, self._leases = front, workers, leases
        self._processes = [*workers]
        self._task, self._shared_limits, self._tell = task, limits, tell
        self._leased = ExitStack()
        self._device = ""  # Workers stay at the device that was leased first.
        self._lease: Lease | None = None
        self._opened_for: int | None = None
        self._is_open = False

    def visit(self, visit: Visit) -> Outcome:
        """Make a visit, unless the journal has it. What is run is added there, failures, too.

        Raises UserError where a function of the user's fails, where no process can start, and where the journal can't
        be written.
        """
        if self._lease and not self._front.is_built(visit, MOST_HOST_SECONDS):
            self.give_back()
        return self.make(visit, self._front.ready(visit))

    def make(self, visit: Visit, ready: Ready) -> Outcome:
        """Make a visit that is ready."""
        if ready.outcome:
            return ready.outcome
        self.begin(visit)
        limits = self._limits
        self._open()
        partner = visit.partners.of(ready.identity, visit.variant) if visit.partners else None
        criterion = visit.paired if partner else visit.criterion
        request = VisitRequest(visit.point, visit.variant, visit.check, ready.unit, partner, criterion)
        process = visit.number if visit.process is None else visit.process
        started = time.perf_counter()
        if self._lease:
            self._lease.tell(visit.point)
        outcome = self._workers[process].run(request, limits.of(visit.point), self)
        for timing in outcome.visits:
            timing.process = process
        outcome.seconds = round(time.perf_counter() - started, 6)
        if outcome.status == "ok":
            limits.add(visit.point, outcome.seconds)
        return self._front.record(outcome, ready.identity)

    def begin(self, visit: Visit) -> None:
        """Lease the device, and have the processes open it, without waiting for that, if they haven't."""
        self.take()
        if self._opened_for != visit.number:
            if self._opened_for is not None:
                self._workers.rest()
            self._workers.start(visit.number, visit.point)
            self._opened_for, self._is_open = visit.number, False

    def take(self) -> None:
        """Lease the device, if it isn't leased."""
        if self._lease is None:
            self._lease = self._leased.enter_context(self._leases(self._device))
            self._device = self._lease.uuid

    def give_back(self) -> None:
        """Give the device back with its processes, as while references are missing. The next visit takes it again."""
        if self._lease:
            self._open()
            if self._workers.park():
                self._opened_for = None
            self.lend()

    def lend(self) -> None:
        """Give the device back, but no process, in the middle of a visit."""
        self._lease = None
        self._leased.close()

    def tell(self, words: str) -> None:
        """Tell the user of a slow point."""
        self._tell(words)

    def _open(self) -> None:
        """Wait until the processes have opened the device: that would disturb another job's samples."""
        if not self._is_open and self._opened_for is not None:
            self._workers.open(self._opened_for)
            self._is_open = True

    @cached_property
    def _limits(self) -> TimeLimits:
        return self._shared_limits or TimeLimits(self._task, self._front.journal)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._opened_for is not None:
            self._workers.rest(are_over=True)
        # Before another job has the device: the ends of contexts would disturb its samples.
        self._workers.stop()
        self.lend()


class Pool:
    """Makes visits side by side, one at a time at each of several devices. A context manager that ends them.

    A visit waits for a device that is free, which it gives back while it waits for its compiler or for its data.
    """

    def __init__(
        self,
        front: Front,
        prepare: Callable[[], Bench],
        further: Callable[[ExitStack], list[Bench]],
        ask: Callable[[Visit], None] = lambda _: None,
        await_data: Callable[[Point, float], bool] = lambda *_: True,
    ) -> None:
        """Open no device yet.

        prepare     starts the processes of the first device, while this process may still be forked
        further     gives the benches of all other devices that are free, once the first is leased. What it enters on
                    the stack stays until the pool ends
        ask         has a visit's variant compiled
        await_data  waits until the right results of a point are known, or for so many seconds; returns whether they are
        """
        self._front, self._prepare, self._further, self._ask, self._await = front, prepare, further, ask, await_data
        self._open = ExitStack()
        self._idle: SimpleQueue[Bench] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None  # once the device is open

    def visit(self, visit: Visit) -> Future[Outcome]:
        """The outcome that a visit will have."""
        first = None if self._threads else self._open.enter_context(self._prepare())
        self._ask(visit)
        if first:
            first.begin(visit)
            benches = [first, *map(self._open.enter_context, self._further(self._open))]
            for bench in benches:
                bench.begin(visit)
                self._idle.put(bench)
            # A thread a device: with one, the points run in the order in which they were proposed.
            self._threads = ThreadPoolExecutor(len(benches))
            self._open.callback(self._threads.shutdown, cancel_futures=True)
        assert self._threads is not None
        return self._threads.submit(self._make, visit)

    def _make(self, visit: Visit) -> Outcome:
        bench = self._idle.get()
        try:
            if not (self._front.is_built(visit, MOST_HOST_SECONDS) and self._await(visit.point, MOST_HOST_SECONDS)):
                bench.give_back()
            ready = self._front.ready(visit)
            if not ready.outcome:
                self._await(visit.point, inf)
            return bench.make(visit, ready)
        finally:
            self._idle.put(bench)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
