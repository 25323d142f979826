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

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelsweep.device.lease import Lease
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.pairs import PairsDecide
from kernelsweep.device.sampling import Both, MedianKnown
from kernelsweep.device.task import KernelTask
from kernelsweep.device.worker.client import Workers
from kernelsweep.statistics import Interval, ratio, summarise_visits
from kernelsweep.study.kernel_sweep import PlannedPoint, axes_of_places, place_of
from kernelsweep.study.kernels.units import Unit
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import BY_DEFAULT
from kernelsweep.study.spaces import ValidPoints
from kernelsweep.sweep.bench import Bench, Front, Leases, Pool
from kernelsweep.sweep.earlier import finalists as finalists_before
from kernelsweep.sweep.full import FullSweep
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.limits import TimeLimits
from kernelsweep.sweep.loop import run
from kernelsweep.sweep.search.kernel_tuner import KernelTuner
from kernelsweep.sweep.search.proposals import Optuna, Random
from kernelsweep.sweep.visit import Partners, Visit
from kernelsweep.sweep.visits import Visits, find_visits

if TYPE_CHECKING:
    from kernelsweep.compile.builder import Builder

# How many points are proposed before the first of them is done: the least, the most, and between, a part of the budget.
# In replays (docs/measured/search.md) this ends as near to the best as proposals one by one, and finds a close one a
# few evaluations later. The more, the more compilers work side by side: with eight, an H200 waited for them.
_LEAST_AHEAD, _MOST_AHEAD, _PART_AHEAD = 8, 16, 8

# A search ends after so many wrong results if none was right: the kernel is wrong, or its error bound too tight.
_MOST_WRONG = 20

# The precision of the one visit in which a proposal is timed, a fraction to either side.
ROUGH_PRECISION = 0.02

# Shows how many points are done, of how many, the last one and its outcome.
Show = Callable[[int, int, Point, Outcome], None]
FindPartners = Callable[[Sequence[PlannedPoint]], Partners | None]


@dataclass(frozen=True)
class Laboratory:
    """Where a search runs points.

    device         its description, which belongs to a point's identity
    open_device    called once before the first run of each phase, "search" or "finalists"; returns what shows its
                   points. A search whose points are all in the journal needs no device
    plan           the plan of a point
    source_sha256  the kernel's
    leases         leases the first device, as of a Bench
    further_gpus   a context with the UUIDs of further GPUs to run proposals on. The finalists all run on one
    builder        compiles the variants, where the task has no binary
    units          the units of a point, which are compiled if it is proposed
    await_data     as of a Pool
    partners       earlier versions of points, beside which finalists and the first proposals run
    margin         the smallest difference between versions that matters, as a fraction
    notify         gets a line for the user
    """

    journal: Journal
    device: Mapping[str, Any]
    open_device: Callable[[str], Show]
    plan: Callable[[Point], PlannedPoint]
    source_sha256: str = ""
    leases: Leases = lambda _: nullcontext(Lease())
    further_gpus: Callable[[], AbstractContextManager[Sequence[str]]] = lambda: nullcontext(())
    builder: Builder | None = None
    units: Callable[[Point], Sequence[Unit]] = lambda _: ()
    await_data: Callable[[Point, float], bool] = lambda *_: True
    partners: FindPartners = lambda _: None
    margin: float = 0.01
    notify: Callable[[str], None] = print

    def find(self, task: KernelTask, planned: Sequence[PlannedPoint]) -> Visits:
        """The visits to points, those among them that the journal has."""
        skipped = {each.point: Outcome("skipped", each.skipped) for each in planned if each.skipped}
        if self.builder:
            self.builder.offer(unit for each in planned if not each.skipped for unit in self.units(each.point))
        return find_visits(task, planned, skipped, self.journal, self.device, self.builder)

    @property
    def front(self) -> Front:
        """What stands before its devices."""
        return Front(self.journal, self.builder, self.source_sha256, is_search=True)


def proposed_ahead(budget: int) -> int:
    """How many points a search proposes before the first of them is done."""
    return min(max(_LEAST_AHEAD, budget // _PART_AHEAD), _MOST_AHEAD)


def search(
    task: KernelTask, candidates: ValidPoints, budget: int, at: Laboratory, by: str = BY_DEFAULT
) -> dict[Point, Outcome]:
    """The outcomes of the points that were measured, in the candidates' order.

    candidates  the points that may be measured
    budget      how many of them are measured at each place: at each problem size and cache state
    by          what proposes them, as in a study's settings

    Raises UserError where that isn't installed, and as loop.run() does.
    """
    strategy = SearchStrategy(task, candidates, budget, by, at)
    with _Finalists(task, at) as finalists:
        with _rough_pool(strategy, at, finalists) as pool:
            run(strategy, pool, strategy.show)
        # What won before an edit is compared with what it is now, whatever wins now.
        won = finalists_before(at.journal)
        ran = {point: outcome for rough in strategy.rough for point, outcome in rough.items() if outcome.status == "ok"}
        full = finalists.measured([point for point in ran if point in won])
        while missing := [
            point
            for rough in strategy.rough
            for point in _best({point: full.get(point, outcome) for point, outcome in rough.items()})
            if point not in full
        ]:
            full |= finalists.measured(missing)
    found = {point: full.get(point, outcome) for rough in strategy.rough for point, outcome in rough.items()}
    return {point: found[point] for point in sorted(found, key=strategy.number_of.__getitem__)}


class SearchStrategy:
    """The strategy of a search: one rough visit to each proposal, several of which are on their way at a time.

    task       as the search's, but for one visit of less precision
    rough      the outcomes, a mapping a place
    number_of  the points' numbers among the candidates
    """

    def __init__(self, task: KernelTask, candidates: ValidPoints, budget: int, by: str, at: Laboratory) -> None:
        sampling = task.protocol.sampling
        assert sampling is not None
        precision = max(ROUGH_PRECISION, sampling.relative_precision)
        self._sampling = replace(sampling, relative_precision=precision, fewest_samples=2)
        self.task = replace(task, protocol=replace(task.protocol, sampling=self._sampling, visits=1))
        self._problem, self._candidates, self._at = problem_of(task.problem), candidates, at
        self._budget, self._by = budget, by
        groups = candidates.groups(axes_of_places(candidates, self._problem))
        # A small problem's right results are known first.
        self._places = sorted(groups, key=lambda at_place: self._problem.size(candidates[int(at_place[0])]))
        self._total = sum(min(budget, len(at_place)) for at_place in self._places)
        self._running: list[tuple[Point, Future[Outcome]]] = []
        self._done, self._one_at_a_time = 0, Lock()
        self._shown: Show | None = None
        self.rough: list[dict[Point, Outcome]] = []
        self.number_of: dict[Point, int] = {}

    def visits(self) -> Iterator[Visit]:
        """The visits to proposals. The next one waits for the outcomes from which it follows."""
        for at_place in self._places:
            self.rough.append({})
            yield from self._visits_at(at_place)
            if _is_wrong(self.rough):
                self._at.notify(_nearest_miss(self.rough))
                return
            if _kernel_is_refused(self.rough[-1]):
                return

    def add(self, visit: Visit, outcome: Future[Outcome]) -> None:
        """Take the outcome that a visit will have."""
        self._running.append((visit.point, outcome))

    def _visits_at(self, at_place: np.ndarray[Any, np.dtype[np.int64]]) -> Iterator[Visit]:
        of_kernel = [axis for axis in self._candidates.axes if self._problem.axes[axis].of_kernel]
        place = place_of(self._candidates[int(at_place[0])], self._problem)
        strategy = _strategy(self._candidates.at(at_place, of_kernel), self._budget, self._by, self.task, place)
        ahead, count, outcomes = proposed_ahead(self._budget), min(self._budget, len(at_place)), self.rough[-1]
        # The first proposals follow from no times, so that all of them are compiled at once.
        asked = _asked(strategy, min(max(ahead, strategy.random_at_first), count))
        first = [self._at.plan(self._candidates[int(at_place[number])]) for number in asked]
        found = [self._at.find(self.task, [planned]) for planned in first]
        # And so they are the same before and after an edit: a sample of the space, to compare.
        partners = None if all(each.is_done for each in found) else self._at.partners(first)
        self._running.clear()
        for each in found:
            yield from self._unless_known(each, partners)
        for step in range(count):
            if step == len(self._running) or _is_wrong(self.rough):
                return
            point, outcome = self._running[step][0], self._running[step][1].result()
            outcomes[point], self.number_of[point] = outcome, int(at_place[asked[step]])
            time = _time(outcome)
            strategy.tell(asked[step], time.value if time else inf)
            if _kernel_is_refused(outcomes):
                continue
            for number in _asked(strategy, min(step + 1 + ahead, count) - len(asked)):
                asked.append(number)
                planned = self._at.plan(self._candidates[int(at_place[number])])
                yield from self._unless_known(self._at.find(self.task, [planned]))

    def _unless_known(self, visits: Visits, partners: Partners | None = None) -> Iterator[Visit]:
        """The one visit to a point; none where the journal has it, or where the point is skipped."""
        if visits.is_done:
            known: Future[Outcome] = Future()
            known.set_result(visits.results()[visits.order[0]])
            self._running.append((visits.order[0], known))
            with self._one_at_a_time:
                self._done += 1
            return
        paired = Both(MedianKnown(self._sampling), PairsDecide(self._at.margin)) if partners else None
        yield replace(visits.missing[0][0], partners=partners, paired=paired)

    def open(self) -> None:
        """Open the device: its points are shown from now on."""
        self._shown = self._at.open_device("search")

    def show(self, visit: Visit, outcome: Future[Outcome]) -> None:
        """Show a visit once it is done."""

        def shown(outcome: Future[Outcome]) -> None:
            if not outcome.cancelled() and not outcome.exception() and self._shown:
                with self._one_at_a_time:
                    self._done += 1
                    self._shown(self._done, self._total, visit.point, outcome.result())

        outcome.add_done_callback(shown)


def _rough_pool(strategy: SearchStrategy, at: Laboratory, finalists: _Finalists) -> Pool:
    """Where proposals run, as many at a time as there are GPUs."""
    limits = TimeLimits(strategy.task, at.journal)

    def prepare() -> Bench:
        # Workers can be forked only before the builder starts threads.
        first = Bench(strategy.task, at.front, Workers(strategy.task, [0]), at.leases, limits)
        finalists.prepare()
        strategy.open()
        return first

    def further(until_end: ExitStack) -> list[Bench]:
        gpus = until_end.enter_context(at.further_gpus())
        return [Bench(strategy.task, at.front, Workers(strategy.task, [0], gpu), limits=limits) for gpu in gpus]

    def ask(visit: Visit) -> None:
        if at.builder:
            at.builder.ask([visit.variant])

    return Pool(at.front, prepare, further, ask, at.await_data)


def _strategy(
    configurations: ValidPoints, budget: int, by: str, task: KernelTask, place: tuple[Any, ...]
) -> Optuna | KernelTuner | Random:
    """How a place is searched. Where every configuration is measured, their order does not matter."""
    seed, (library, _, name) = f"{task.protocol.seed} {place}", by.partition("/")
    if budget >= len(configurations):
        return Random(configurations, seed)
    made = Optuna if library == "optuna" else KernelTuner
    return made(configurations, name, seed, budget)


def _asked(strategy: Optuna | KernelTuner | Random, most: int) -> list[int]:
    """Up to so many proposals: fewer, where the next one follows from times that are not told."""
    asked: list[int] = []
    while len(asked) < most and (number := strategy.ask()) is not None:
        asked.append(number)
    return asked


def _kernel_is_refused(outcomes: Mapping[Point, Outcome]) -> bool:
    """Whether no point compiles, all for one reason. Then the kernel is at fault, and not some configurations."""
    if any(one.status != "build_failed" for one in outcomes.values()):
        return False
    messages = [one.message for one in outcomes.values()]
    return len({next((line for line in one.splitlines() if "error" in line), one) for one in messages}) == 1


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

    def __init__(self, task: KernelTask, at: Laboratory) -> None:
        self._task, self._at = task, at
        self._prepared: Workers | None = None

    def prepare(self) -> None:
        """Start the first workers, which wait: as forks, if this process may still be forked."""
        self._prepared = Workers(self._task, range(self._task.protocol.visits))

    def measured(self, points: Sequence[Point]) -> dict[Point, Outcome]:
        """The points' outcomes."""
        at, planned = self._at, [*map(self._at.plan, points)]
        visits = at.find(self._task, planned)
        if not visits.is_done:
            for point in points:
                at.await_data(point, inf)
            show = at.open_device("finalists")
            workers, self._prepared = self._prepared or Workers(self._task, visits.numbers), None
            sweep = FullSweep(visits, find_partners=partial(at.partners, planned), margin=at.margin)
            with Bench(self._task, at.front, workers, at.leases) as bench:
                run(sweep, bench, lambda visit, outcome: show(sweep.done, sweep.total, visit.point, outcome))
        return visits.results()

    def __enter__(self) -> _Finalists:
        return self

    def __exit__(self, *_: object) -> None:
        if self._prepared:
            self._prepared.stop()
