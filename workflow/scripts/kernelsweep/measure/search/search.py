"""Search a kernel's fastest configuration at each problem size, and measure fully all that may be the fastest.

First a strategy (proposals.py) proposes one point after another. Each is checked and then timed in one visit, to 2%.
Several points, proposed_ahead(), are proposed before the first of them is done: so several GPUs can run them, and their
variants are compiled meanwhile. A proposal follows from the times of the points that were proposed that many or more
before it, whatever the number of GPUs. Those at first follow from none.

Then all points whose time can't be told apart from the fastest get every visit of the protocol, by fresh processes in
random order, as in a full sweep. Their first, rough times no longer count: the fastest of many rough times is too fast
by chance. This is repeated until no further point can be the fastest.

A search ends where none of the first points compiles and all fail with the same error, and where the first that run
are all wrong.

The journal has every visit. So a search that was interrupted goes on: the same seed and the same times lead to the same
proposals, on any number of GPUs, and those are not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from math import inf
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any

from kernelsweep.errors import first_error
from kernelsweep.measure.earlier import finalists as finalists_before
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.pairs import Enough
from kernelsweep.measure.search.proposals import Parzen, Random
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.work import (
    Partners,
    Progress,
    TimeLimits,
    Work,
    do_work,
    find_work,
    made_ready,
    of_source,
    recorded,
)
from kernelsweep.measure.worker.client import Workers
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.statistics import Interval, ratio, summarise_visits
from kernelsweep.sweep.kernel_sweep import PlannedPoint, axes_of_places, place_of
from kernelsweep.sweep.kernels.units import Unit
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.spaces import ValidPoints

if TYPE_CHECKING:
    from kernelsweep.build.builder import Builder

# How many points are proposed before the first of them is done: the least, the most, and between, a part of the budget.
# In replays (docs/measured/search.md) this ends as near to the best as proposals one by one, and finds a close one a
# few evaluations later. The more, the more compilers work side by side: with eight, an H200 waited for them.
_LEAST_AHEAD, _MOST_AHEAD, _PART_AHEAD = 8, 16, 8

# A search ends after so many wrong results if none was right: the kernel is wrong, or its error bound too tight.
_MOST_WRONG = 20

# The precision of the one visit in which a proposal is timed, a fraction to either side.
ROUGH_PRECISION = 0.02

FindVersions = Callable[[Sequence[PlannedPoint]], Partners | None]


@dataclass(frozen=True)
class Bench:
    """Where points are run.

    device         its description, which belongs to a point's identity
    open_device    called once before the first run of each phase, "search" or "finalists"; returns what is told of its
                   points. A search whose points are all in the journal needs no device
    plan           the plan of a point
    source_sha256  the kernel's
    further_gpus   a context with the UUIDs of further GPUs to run proposals on. The finalists all run on one
    builder        compiles the variants, where the task has no binary
    units          the units of a point, which are compiled if it is proposed
    await_data     waits until the right results of a point are known, before the first run at its place
    versions       earlier versions of points, beside which finalists and the first proposals run
    notify         gets a line for the user
    """

    journal: Journal
    device: Mapping[str, Any]
    open_device: Callable[[str], Progress]
    plan: Callable[[Point], PlannedPoint]
    source_sha256: str = ""
    further_gpus: Callable[[], AbstractContextManager[Sequence[str]]] = lambda: nullcontext(())
    builder: Builder | None = None
    units: Callable[[Point], Sequence[Unit]] = lambda _: ()
    await_data: Callable[[Point], None] = lambda _: None
    versions: FindVersions = lambda _: None
    notify: Callable[[str], None] = print


def proposed_ahead(budget: int) -> int:
    """How many points a search proposes before the first of them is done."""
    return min(max(_LEAST_AHEAD, budget // _PART_AHEAD), _MOST_AHEAD)


def search(task: KernelTask, candidates: ValidPoints, budget: int, bench: Bench) -> dict[Point, Outcome]:
    """The outcomes of the points that were measured, in the candidates' order.

    candidates  the points that may be measured
    budget      how many of them are measured at each place: at each problem size and cache state

    Raises UserError where Optuna isn't installed, and as do_work() does.
    """
    problem = problem_of(task.problem)
    places = candidates.groups(axes_of_places(candidates, problem))
    # A small problem's right results are known first.
    places = sorted(places, key=lambda at_place: problem.size(candidates[int(at_place[0])]))
    of_kernel = [axis for axis in candidates.axes if problem.axes[axis].of_kernel]
    total = sum(min(budget, len(at_place)) for at_place in places)
    ahead = proposed_ahead(budget)
    rough: list[dict[Point, Outcome]] = []
    number_of: dict[Point, int] = {}
    with _Finalists(task, bench) as finalists:
        with _Evaluator(task, bench, total, finalists) as evaluate:
            for at_place in places:
                place = place_of(candidates[int(at_place[0])], problem)
                strategy = _strategy(candidates.at(at_place, of_kernel), budget, task, place)
                count = min(budget, len(at_place))
                # The first proposals follow from no times, so that all of them are compiled at once.
                asked = [strategy.ask() for _ in range(min(max(ahead, strategy.random_at_first), count))]
                # And so they are the same before and after an edit: a sample of the space, to compare.
                running = evaluate([candidates[int(at_place[number])] for number in asked], bench.versions)
                rough.append({})
                step = 0
                while step < len(running) and not _is_wrong(rough):
                    point, outcome = running[step][0], running[step][1].result()
                    rough[-1][point], number_of[point] = outcome, int(at_place[asked[step]])
                    time = _time(outcome)
                    strategy.tell(asked[step], time.value if time else inf)
                    step += 1
                    while len(asked) < min(step + ahead, count) and not _kernel_is_refused(rough[-1]):
                        asked.append(strategy.ask())
                        running += evaluate([candidates[int(at_place[asked[-1]])]])
                if _is_wrong(rough):
                    bench.notify(_nearest_miss(rough))
                    break
                if _kernel_is_refused(rough[-1]):
                    break
        # What won before an edit is compared with what it is now, whatever wins now.
        won = finalists_before(bench.journal)
        ran = {point: of for at_place in rough for point, of in at_place.items() if of.status == "ok"}
        full = finalists.measured([point for point in ran if point in won])
        while missing := [
            point
            for at_place in rough
            for point in _best({point: full.get(point, of) for point, of in at_place.items()})
            if point not in full
        ]:
            full |= finalists.measured(missing)
    found = {point: full.get(point, outcome) for at_place in rough for point, outcome in at_place.items()}
    return {point: found[point] for point in sorted(found, key=lambda point: number_of[point])}


def _strategy(configurations: ValidPoints, budget: int, task: KernelTask, place: tuple[Any, ...]) -> Parzen | Random:
    """How a place is searched. Where every configuration is measured, their order does not matter."""
    seed = f"{task.protocol.seed} {place}"
    return Random(configurations, seed) if budget >= len(configurations) else Parzen(configurations, seed, budget)


def _kernel_is_refused(outcomes: Mapping[Point, Outcome]) -> bool:
    """Whether no point compiles, all for one reason. Then the kernel is at fault, and not some configurations."""
    if any(one.status != "build_failed" for one in outcomes.values()):
        return False
    return len({first_error(one.message) for one in outcomes.values()}) == 1


def _is_wrong(rough: Sequence[Mapping[Point, Outcome]]) -> bool:
    """Whether many points have run, and each had a wrong result."""
    statuses = [one.status for at_place in rough for one in at_place.values()]
    return statuses.count("wrong_result") >= _MOST_WRONG and {*statuses} <= {"wrong_result", "build_failed"}


def _nearest_miss(rough: Sequence[Mapping[Point, Outcome]]) -> str:
    """The sentence that ends a search without right results."""
    shares = {point: one.error_share or inf for at_place in rough for point, one in at_place.items()}
    nearest = min(shares, key=lambda point: shares[point])
    told = f"the search ends, because its first {_MOST_WRONG} results are wrong"
    if shares[nearest] == inf:
        return f"{told}."
    return (
        f"{told}. The nearest, at {nearest}, has an error of {shares[nearest]:.3g} times its bound: if the kernel is "
        "right, error_bound is too tight."
    )


def _time(outcome: Outcome) -> Interval | None:
    """The time of a point with its interval; None for one without."""
    if outcome.status != "ok" or not outcome.visits:
        return None
    summary = summarise_visits([visit.counted for visit in outcome.visits])
    return Interval(summary.median, summary.low, summary.high)


def _best(outcomes: Mapping[Point, Outcome]) -> list[Point]:
    """The best point of a place, and all that can't be told apart from it."""
    times = {point: time for point, outcome in outcomes.items() if (time := _time(outcome))}
    best = min(times.values(), key=lambda time: time.value, default=None)
    return [point for point, time in times.items() if best and ratio(time, best).low <= 1]


class _Finalists:
    """Runs points in every visit of the protocol. A context manager: ends the workers."""

    def __init__(self, task: KernelTask, bench: Bench) -> None:
        self._task, self._bench = task, bench
        self._prepared: Workers | None = None

    def prepare(self) -> None:
        """Start the first workers, which wait: as forks, if this process may still be forked."""
        self._prepared = Workers(self._task, range(self._task.protocol.visits))

    def measured(self, points: Sequence[Point]) -> dict[Point, Outcome]:
        """The points' outcomes."""
        task, bench = self._task, self._bench
        planned = [*map(bench.plan, points)]
        work = find_work(task, planned, {}, bench.journal, bench.device, bench.builder)
        if not work.is_done:
            for point in points:
                bench.await_data(point)
            show = bench.open_device("finalists")
            workers, self._prepared = self._prepared or Workers(task, work.visits), None
            with workers:
                at_device = (workers, show, bench.source_sha256, bench.builder)
                do_work(work, bench.journal, *at_device, find_versions=lambda: bench.versions(planned))
        return work.results()

    def __enter__(self) -> _Finalists:
        return self

    def __exit__(self, *_: object) -> None:
        if self._prepared:
            self._prepared.stop()


class _Evaluator:
    """Runs points in one rough visit each, as many at a time as there are GPUs. A context manager: ends the workers."""

    def __init__(self, task: KernelTask, bench: Bench, total: int, finalists: _Finalists) -> None:
        sampling = task.protocol.sampling
        assert sampling is not None
        precision = max(ROUGH_PRECISION, sampling.relative_precision)
        rough = replace(sampling, relative_precision=precision, fewest_samples=2)
        self._task = replace(task, protocol=replace(task.protocol, sampling=rough, visits=1))
        self._bench = bench
        self._limits = TimeLimits(self._task, bench.journal)
        self._total = total
        self._finalists = finalists
        self._done = 0
        self._one_at_a_time = Lock()
        self._open = ExitStack()
        self._source = of_source(bench.source_sha256)
        self._idle: SimpleQueue[Workers] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None  # once the device is open

    def __call__(
        self, points: Sequence[Point], find_versions: FindVersions = lambda _: None
    ) -> list[tuple[Point, Future[Outcome]]]:
        """The outcomes of points, from the journal if it has them; beside earlier versions, where these are found."""
        bench = self._bench
        planned = [bench.plan(point) for point in points]
        if bench.builder:
            bench.builder.offer(unit for each in planned if not each.skipped for unit in bench.units(each.point))
        skipped = {each.point: Outcome("skipped", each.skipped) for each in planned if each.skipped}
        works = [find_work(self._task, [each], skipped, bench.journal, bench.device, bench.builder) for each in planned]
        if missing := [each for each, work in zip(planned, works, strict=True) if not work.is_done]:
            # Workers are forks of this process as long as that has no threads, and the builder's are some.
            worker = None if self._threads else self._open.enter_context(Workers(self._task, [0]))
            if worker:
                self._finalists.prepare()
            if bench.builder:
                bench.builder.ask(each.variant for each in missing)
            if worker:
                self._open_devices(worker, missing[0].point)
            bench.await_data(missing[0].point)
        versions = find_versions(planned) if missing else None
        return [(point, self._outcome(work, versions)) for point, work in zip(points, works, strict=True)]

    def _outcome(self, work: Work, versions: Partners | None) -> Future[Outcome]:
        """The outcome of the one point of a work."""
        if work.is_done:
            with self._one_at_a_time:
                self._done += 1
            known: Future[Outcome] = Future()
            known.set_result(work.results()[work.order[0]])
            return known
        assert self._threads is not None
        return self._threads.submit(self._run, work, versions)

    def _run(self, work: Work, versions: Partners | None) -> Outcome:
        """The outcome of the one point of a work, in a thread of its own."""
        (missing,) = work.missing[0]
        ready = made_ready(missing, self._bench.journal, self._bench.builder)
        outcome = ready.outcome
        if outcome is None:
            workers = self._idle.get()
            try:
                limit = self._limits.of(missing.point)
                earlier = None
                if versions:
                    earlier = versions.of(ready.identity, missing.variant, Enough(versions.margin))
                outcome = workers[0].run(missing.point, missing.variant, limit, True, ready.unit, earlier)
            finally:
                self._idle.put(workers)
        with self._one_at_a_time:
            if not ready.outcome:
                self._limits.add(missing.point, sum(visit.seconds for visit in outcome.visits))
                outcome = recorded(self._bench.journal, outcome, ready.identity, self._source)
            self._done += 1
            self._show(self._done, self._total, missing.point, outcome)
        return outcome

    def _open_devices(self, worker: Workers, first: Point) -> None:
        """Start one worker per further GPU; each opens its device while the first units compile."""
        self._show = self._bench.open_device("search")
        further = self._open.enter_context(self._bench.further_gpus())
        workers = [worker, *(self._open.enter_context(Workers(self._task, [0], device=gpu)) for gpu in further)]
        for each in workers:
            each.start(0, first)
            self._idle.put(each)
        # A thread a GPU: with one, the points run in the order in which they were proposed.
        self._threads = ThreadPoolExecutor(len(workers))
        self._open.callback(self._threads.shutdown, cancel_futures=True)

    def __enter__(self) -> _Evaluator:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
