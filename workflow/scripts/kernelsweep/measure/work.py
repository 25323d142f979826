"""Measure one kernel's sweep: find the visits that the journal lacks, and run them in worker processes."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

from kernelsweep.build.binaries import BuiltUnit
from kernelsweep.errors import BuildError
from kernelsweep.measure.earlier import Earlier
from kernelsweep.measure.environment import git_revision
from kernelsweep.measure.identity import Identity, identities, identity_sha256, with_binary
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.outcome import Outcome, combined, ended_early, outcome_values, read_outcome
from kernelsweep.measure.pairs import UNDECIDED, Enough, Pairs, mean_ratio, pairs_of, scatter_of, verdict
from kernelsweep.measure.references import References
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.worker.client import Workers
from kernelsweep.platforms.kinds import kind_of_implementation
from kernelsweep.problems.drawn import is_timed
from kernelsweep.problems.problem_file import Data, problem_of
from kernelsweep.scatter import Scatter
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.point import Point

if TYPE_CHECKING:
    from kernelsweep.build.builder import Builder

# After this many points of a kernel have timed out, the others are not run.
_MOST_TIMED_OUT = 2

# A point's first run may take this many times as long as a point of the study took, in this run or an earlier one, and
# as its size is larger; and at least these seconds, on the emulator and elsewhere. Where no point of the study is
# known, it may take some seconds, and more an element, but on the emulator.
_TIMES_ANOTHER = 100
_SHORTEST_LIMITS = {False: 30.0, True: 2.0}
_UNKNOWN_LIMIT, _UNKNOWN_LIMIT_AN_ELEMENT = 10.0, 1e-5

# So many points of each other kernel of the study tell how long one takes.
_MOST_OF_OTHERS = 50

# A verdict's first visits share so many seconds, and so many more a point; each further one to the sizes that stay
# undecided has its own. At the first points, the pairs' seconds are fixed.
_VERDICT_SECONDS, _VERDICT_SECONDS_A_POINT, _FURTHER_SECONDS, _FIXED_SECONDS = 1.5, 0.006, 1.5, 0.02

# A first verdict is on so many points, one a size, and all processes visit them, or two where these take more, in
# microseconds. Where they take less, processes share the size's others.
_MOST_FIRST = 16
_SHORT_US = 100.0

# The device is opened in about so many seconds.
_SECONDS_TO_OPEN = 0.6

# Told after each point: how many visits are done, of how many, the point and its outcome.
Progress = Callable[[int, int, Point, Outcome], None]


class Partners(Protocol):
    """What points run in pairs with: earlier versions, or another kernel."""

    @property
    def margin(self) -> float:
        """As in Enough."""

    def of(self, identity: Identity, variant: str, enough: Enough) -> Earlier | None:
        """The partner of a point; None without one."""


@dataclass(frozen=True)
class MissingVisit:
    """A visit that is still to be made: a point, its variant's C++ name, and the visit's identity.

    The identity lacks the machine code as long as the variant is not compiled.
    """

    point: Point
    variant: str
    identity: Identity


@dataclass(frozen=True)
class ReadyVisit:
    """A visit whose variant is compiled.

    unit     the variant's; None where the task's binary has it
    outcome  where nothing is to be run: the journal's, or that of a variant that does not compile
    """

    identity: Identity
    unit: BuiltUnit | None = None
    outcome: Outcome | None = None


def made_ready(
    missing: MissingVisit, journal: Journal, builder: Builder | None, decides: float | None = None
) -> ReadyVisit:
    """The visit, once its variant is compiled; `decides` as in Work."""
    if builder is None:
        return ReadyVisit(missing.identity)
    try:
        unit = builder.wait(missing.variant)
    except BuildError as error:
        return ReadyVisit(missing.identity, outcome=Outcome("build_failed", str(error)))
    identity = with_binary(missing.identity, unit.variants[missing.variant]["binary_sha256"])
    return ReadyVisit(identity, unit, _known(journal, identity, decides))


def _known(journal: Journal, identity: Identity, decides: float | None) -> Outcome | None:
    """The outcome of a visit that the journal has; None for one that is made again.

    Failures are, and where no verdict is wanted, visits that ended once pairs had decided.
    """
    latest = _latest(journal, identity_sha256(identity))
    if not latest or latest.status != "ok":
        return None
    return None if decides is None and any(map(ended_early, latest.visits)) else latest


def _latest(journal: Journal, key: str) -> Outcome | None:
    """The outcome of the last visit with an identity's hash, of this run or of earlier ones."""
    try:
        return read_outcome((journal.get(key) or {})["outcome"])
    except (KeyError, TypeError):  # Not there, or a line that was edited.
        return None


@dataclass
class Work:
    """The visits to a kernel's points: those that the journal has, and those that are still to be made.

    task      the kernel's
    order     the points, as the results have them
    outcomes  of points that aren't visited
    visited   the outcomes of visits, by their number from 0
    missing   the visits to be made, by their number
    decides   the margin, as a fraction, on which the pairs of a point with an earlier version are to decide: then it
              gets no further visit; None to make all visits
    """

    task: KernelTask
    order: list[Point]
    outcomes: dict[Point, Outcome]
    visited: dict[Point, dict[int, Outcome]]
    missing: list[list[MissingVisit]]
    decides: float | None = None

    @cached_property
    def first(self) -> frozenset[Point]:
        """One of the points that are visited of each size, at random; of at most _MOST_FIRST sizes.

        All processes visit them, and for a verdict first: they tell how far processes lie apart, whatever comes out.
        """
        points = [point for point in self.visited if is_timed(point)]
        random.Random(str(self.task.protocol.seed)).shuffle(points)
        problem = problem_of(self.task.problem)
        of_sizes = sorted({problem.size(point): point for point in points}.items(), key=itemgetter(0))
        count = min(len(of_sizes), _MOST_FIRST)
        return frozenset(of_sizes[number * len(of_sizes) // count][1] for number in range(count))

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be run."""
        return not any(self.missing)

    @property
    def visits(self) -> list[int]:
        """The numbers of the visits that miss some point."""
        return [visit for visit, missing in enumerate(self.missing) if missing]

    def before(self, visit: int) -> dict[Point, dict[int, Outcome]]:
        """The outcomes of the visits before this one."""
        return {point: {number: of[number] for number in of if number < visit} for point, of in self.visited.items()}

    def results(self) -> dict[Point, Outcome]:
        """The outcome of every point, once all is done."""
        of_visits = {
            point: combined([of_point[visit] for visit in sorted(of_point)]) for point, of_point in self.visited.items()
        }
        return {point: self.outcomes.get(point) or of_visits[point] for point in self.order}


def outcomes_without_runs(planned: Sequence[PlannedPoint], report: Mapping[str, Any]) -> dict[Point, Outcome]:
    """The outcomes of points that are skipped, and of points whose variant was not built, as the report says."""
    failed = None if report["status"] == "ok" else report["message"]
    outcomes = {}
    for each in planned:
        if each.skipped:
            outcomes[each.point] = Outcome("skipped", each.skipped)
        elif message := failed or report["failed"].get(each.variant):
            outcomes[each.point] = Outcome("build_failed", message)
    return outcomes


def find_work(
    task: KernelTask,
    planned: Sequence[PlannedPoint],
    outcomes: Mapping[Point, Outcome],
    journal: Journal,
    device: Mapping[str, Any],
    builder: Builder | None = None,
    decides: float | None = None,
) -> Work:
    """Find what is known of the planned points, and what is to be run. Do so before a GPU is kept for it.

    planned   the points in the results' order
    outcomes  of points that are not run, or that failed in this run in another job
    device    its description, which belongs to a point's identity
    builder   compiles the variants, where the task has no binary
    decides   as in Work
    """
    order = [each.point for each in planned]
    visited: dict[Point, dict[int, Outcome]] = {point: {} for point in order if point not in outcomes}
    visits = range(task.protocol.visits)
    work = Work(task, order, dict(outcomes), visited, [[] for _ in visits], decides)
    identity_of = identities(task, device)
    kept = cache(builder.kept) if builder else None
    for each, visit in itertools.product(planned, visits):
        if each.point in outcomes or (visit and not is_timed(each.point)):
            continue
        built = getattr(kept(each.variant), "variants", {}) if kept else task.variants
        binary = built[each.variant]["binary_sha256"] if built else None
        identity = identity_of(each.point, binary, visit)
        known = _known(journal, identity, decides) if binary else None
        if known:
            work.visited[each.point][visit] = known
        else:
            work.missing[visit].append(MissingVisit(each.point, each.variant, identity))
    for visit in range(1, task.protocol.visits):
        if any(work.missing[:visit]):
            break
        _drop_needless(work, visit, _scatter(work))
    return work


def _drop_needless(work: Work, visit: int, scatter: Scatter | None) -> None:
    """Leave out this visit of points on which those before have decided."""
    dropped = set() if work.decides is None else _decided(work, visit, work.decides, scatter)
    work.missing[visit] = [missing for missing in work.missing[visit] if missing.point not in dropped]


def _decided(work: Work, visit: int, margin: float, scatter: Scatter | None) -> set[Point]:
    """The points on whose edit the pairs of the visits before this one have decided.

    For a verdict, these are all of a size, once its mean is decided. Of the first ones, which tell how far processes
    lie apart, they are those that take long, after two visits.
    """
    problem = problem_of(work.task.problem)
    variant_of = {each.point: each.variant for missing in work.missing for each in missing}
    sizes: dict[float, dict[Point, Pairs]] = {}
    for point, of in work.before(visit).items():
        if of and (pairs := pairs_of(combined([*of.values()]))):
            sizes.setdefault(problem.size(point), {})[point] = pairs
    found = set[Point]()
    for of_size in sizes.values():
        ratios = {point: ratio for point, pairs in of_size.items() if (ratio := pairs.ratio(scatter))}
        of_codes = [(ratio, variant_of.get(point, ""), of_size[point].processes) for point, ratio in ratios.items()]
        if work.decides is not None and of_codes and verdict(mean_ratio(of_codes), margin) != UNDECIDED:
            found |= of_size.keys()
        found |= {point for point, ratio in ratios.items() if verdict(ratio.interval, margin) != UNDECIDED}
    are_long = {point for point in work.first if visit > 1 and not _is_short(work, point)}
    return found - work.first | are_long


def _scatter(work: Work) -> Scatter | None:
    """How far processes lie apart, as far as the visits tell."""
    every = [pairs_of(combined([*of.values()])) for of in work.visited.values() if of]
    return scatter_of(pairs for pairs in every if pairs)


def begin_to_build(work: Work, builder: Builder) -> None:
    """Have the missing visits' variants compiled in the background, in the order in which they run first."""
    builder.ask(
        missing.variant
        for visit, are_first in _phases(work)
        for group in _groups(_of_phase(work, visit, are_first), work.task, visit).values()
        for missing in group
    )


def do_work(
    work: Work,
    journal: Journal,
    workers: Workers,
    progress: Progress = lambda *_: None,
    source_sha256: str = "",
    builder: Builder | None = None,
    turns: Turns | None = None,
    find_versions: Callable[[], Partners | None] = lambda: None,
) -> None:
    """Run the missing visits, and add them to the work and to the journal.

    workers        one for each of work.visits
    source_sha256  the kernel's, which the journal notes beside what is measured
    builder        compiles the variants, where the task has no binary
    turns          which points are checked next, and the device's lease; without it, all have their references, and the
                   device is the caller's
    find_versions  finds what points are timed alternately with, such as their earlier versions

    A point is visited protocol.visits times, each time by another worker and in another order, shuffled by the seed: so
    drift does not fall on one variant, and differences between processes show in the samples. The first visit checks
    the result; while no reference is there for one, others are made, which count once their points were found right.
    Visits that the journal has are not repeated; the others are recorded as they finish, failures, too. A point that
    fails is not visited again in this run, but in the next. Once two points have timed out, the others become skipped.
    With `work.decides`, no point is visited again that is decided, and workers share short points.
    """
    processes, total, done = work.visits, sum(map(len, work.missing)), 0
    failed: set[Point] = set()
    timed_out: list[Point] = []
    limits: TimeLimits | None = None
    versions: Partners | None = None
    held: dict[Point, list[tuple[int, Outcome, Identity]]] = {}
    ends = 0.0
    source = of_source(source_sha256)
    for visit, are_first in _phases(work):
        scatter = _scatter(work)
        if visit > bool(are_first):
            before = len(work.missing[visit])
            _drop_needless(work, visit, scatter)
            total -= before - len(work.missing[visit])
        missed = _of_phase(work, visit, are_first)
        if not missed:
            continue
        is_begun, left = False, len(missed)
        groups = _groups(missed, work.task, visit)
        early = _later_visits(work, groups) if visit == 0 and are_first is None else iter(())
        in_order = turns.in_order(groups, visit, workers, early) if turns else itertools.chain(*groups.values())
        for missing in in_order:
            if not is_begun:
                workers.start(visit, missing.point)
                if limits is None:  # While devices open.
                    limits, versions = TimeLimits(work.task, journal), find_versions()
                workers.open(visit)
                if visit and are_first is False:
                    ends = time.monotonic() + _FURTHER_SECONDS
                ends = ends or time.monotonic() + _VERDICT_SECONDS + _VERDICT_SECONDS_A_POINT * len(work.visited)
                decided = set() if are_first or not versions else _decided(work, visit, versions.margin, scatter)
                is_begun = True
                turn = {} if are_first is not False else _turns_of_processes(work)
            point, number = missing.point, missing.identity["visit"]
            is_paired = any(of.before_binary for of in work.visited[point].values())
            share, left = (ends - time.monotonic()) / max(1, left), left - 1
            if is_paired and are_first is False and share < 0:
                total -= 1
                continue
            done += 1
            if point in failed:
                continue
            assert limits
            ready = made_ready(missing, journal, builder, work.decides)
            if ready.outcome:
                outcome = ready.outcome
            elif len(timed_out) == _MOST_TIMED_OUT:
                outcome = Outcome("skipped", f"not run, because others took too long: {'; '.join(map(str, timed_out))}")
            else:
                started, limit = time.perf_counter(), limits.of(point)
                earlier = None
                if versions and point not in decided:
                    seconds = 0.0 if work.decides is None else _FIXED_SECONDS if are_first else max(share, 1e-9)
                    enough = Enough(versions.margin, scatter, seconds, bool(are_first))
                    earlier = versions.of(ready.identity, missing.variant, enough)
                process = processes[(processes.index(number) + turn.get(point, 0)) % len(processes)]
                check = None if number > visit else visit == 0
                outcome = workers[process].run(point, missing.variant, limit, check, ready.unit, earlier)
                for one in outcome.visits:
                    one.process = process
                if outcome.status == "ok":
                    limits.add(point, time.perf_counter() - started)
                if number > visit and outcome.status == "ok":
                    held.setdefault(point, []).append((number, outcome, ready.identity))
                    done -= 1
                    continue
                outcome = recorded(journal, outcome, ready.identity, source)
            work.visited[point][number] = outcome
            if outcome.status != "ok":
                failed.add(point)
            else:
                for other, of, identity in held.pop(point, []):
                    work.visited[point][other], done = recorded(journal, of, identity, source), done + 1
            if outcome.status == "timed_out":
                timed_out.append(point)
            progress(done, total, point, outcome)
        workers.rest()
    workers.rest(are_over=True)


def _turns_of_processes(work: Work) -> dict[Point, int]:
    """How many processes after the visit's own each short point is visited by, at random.

    So a verdict on a size is not one process's.
    """
    problem = problem_of(work.task.problem)
    sizes = {problem.size(point) for point in work.first if _is_short(work, point)}
    points = [point for point in work.visited if problem.size(point) in sizes]
    random.Random(f"{work.task.protocol.seed} processes").shuffle(points)
    return {point: number % work.task.protocol.visits for number, point in enumerate(points)}


def _is_short(work: Work, point: Point) -> bool:
    """Whether a point takes little time: others differ little between processes, and their data are large."""
    times = [median(visit.samples) for of in work.visited[point].values() for visit in of.visits]
    return bool(times) and min(times) < _SHORT_US


class TimeLimits:
    """How long a point's first run may take before it counts as hanging."""

    def __init__(self, task: KernelTask, journal: Journal) -> None:
        self._problem = problem_of(task.problem)
        self._most = task.protocol.timeout_seconds
        kind = kind_of_implementation(task.platform)
        self._has_clock = kind is None or kind.has_clock
        self._least = _SHORTEST_LIMITS[self._has_clock]
        self._per_size = math.inf  # the fewest seconds that a point took, over its size
        self._fewest = math.inf
        for value in itertools.chain(journal.values(), journal.beside(_MOST_OF_OTHERS)):
            # A sweep's line, one of a study with other axes, or one that was edited.
            with suppress(KeyError, IndexError, TypeError):
                self.add(Point(value["of"]["point"]), value["outcome"]["visits"][0]["seconds"])

    def add(self, point: Point, seconds: float) -> None:
        """Note how long a point took."""
        if seconds > 0:
            self._per_size = min(self._per_size, seconds / max(1.0, self._problem.size(point)))
            self._fewest = min(self._fewest, seconds)

    def of(self, point: Point) -> float:
        """The most seconds that its first run may take."""
        size = self._problem.size(point)
        if self._fewest == math.inf and self._has_clock:
            return min(self._most, _UNKNOWN_LIMIT + _UNKNOWN_LIMIT_AN_ELEMENT * size)
        likely = max(self._fewest, self._per_size * size)
        return min(self._most, max(self._least, _TIMES_ANOTHER * likely))


def recorded(journal: Journal, outcome: Outcome, identity: Identity, of_source: Mapping[str, Any]) -> Outcome:
    """The outcome of a visit with what the journal says of earlier ones; it is added there with what is `of_source`.

    Raises UserError where it can't be.
    """
    # The key is a hash. The hashed values are stored as well, for comparisons with later measurements.
    when, key = time.strftime("%FT%TZ", time.gmtime()), identity_sha256(identity)
    if earlier := _latest(journal, key):
        same = (earlier.status, earlier.message) == (outcome.status, outcome.message)
        wrong = earlier.message if earlier.status == "wrong_result" else earlier.once_wrong
        outcome = replace(outcome, once_wrong=wrong, is_repeated=outcome.status != "ok" and same)
    journal.add(key, {"measured": when, "outcome": outcome_values(outcome), "of": identity, **of_source})
    return outcome


def of_source(source_sha256: str) -> dict[str, Any]:
    """What the journal notes of a kernel's source: its hash, and the revision."""
    return {"source_sha256": source_sha256, "revision": git_revision()}


_Groups = dict[Data, list[MissingVisit]]


def _phases(work: Work) -> list[tuple[int, bool | None]]:
    """The visits in order, and whether each is to Work.first or to the others; None where all are one phase."""
    if work.decides is None:
        return [(visit, None) for visit in work.visits]
    return [(visit, are_first) for are_first in (True, False) for visit in work.visits]


def _of_phase(work: Work, visit: int, are_first: bool | None) -> list[MissingVisit]:
    missing = [each for each in work.missing[visit] if visit not in work.visited[each.point]]
    if are_first is None:
        return missing
    return [each for each in missing if (each.point in work.first) is are_first]


def _groups(missing: Sequence[MissingVisit], task: KernelTask, visit: int) -> _Groups:
    """A visit's points at random, but those with one input after another: each change of it costs up to a second."""
    generator = random.Random(f"{task.protocol.seed} {visit}")
    problem = problem_of(task.problem)
    of_input: _Groups = {}
    for each in missing:
        of_input.setdefault(problem.data_of(each.point), []).append(each)
    inputs = list(of_input)
    generator.shuffle(inputs)
    for group in of_input.values():
        generator.shuffle(group)
    return {one: of_input[one] for one in inputs}


def _later_visits(work: Work, groups: _Groups) -> Iterator[MissingVisit]:
    """The later visits to the points of a first visit's groups, in its order: units are compiled in that."""
    for visit in work.visits[1:]:
        missing = {each.point: each for each in work.missing[visit]}
        yield from (missing[each.point] for group in groups.values() for each in group if each.point in missing)


class Turns:
    """Which points a device measures next: those whose references are there. It is leased while it measures.

    A context manager that gives the device back.
    """

    def __init__(self, references: References, lease: Callable[[str], AbstractContextManager[str]]) -> None:
        """`lease`: waits for the device with a UUID, or for any of the task's where that is ""; gives its UUID."""
        self._references = references
        self._lease = lease
        self._leased = ExitStack()
        self._is_leased = False
        self._device = ""  # Workers stay at the device that was leased first.

    def in_order(
        self,
        groups: Mapping[Data, Sequence[MissingVisit]],
        visit: int,
        workers: Workers,
        early: Iterator[MissingVisit],
    ) -> Iterator[MissingVisit]:
        """The points of all groups, one group after another, in this order as far as references are there.

        Later visits check nothing, and wait for nothing: `early` are those that can be made while references are
        missing. Raises UserError as References.wait() does.
        """
        left = list(groups)
        if not self._is_leased:  # The device is opened while the first reference is computed.
            self._take()
            workers.start(visit, groups[left[0]][0].point)
            if visit == 0:
                self._references.wait(left, _SECONDS_TO_OPEN)
        while left:
            place = self._references.first_ready(left) if visit == 0 else 0
            if place is None:
                if one := next(early, None):
                    yield one
                    continue
                self.give_back()
                self._references.wait(left)
                continue
            if not self._is_leased:
                self._take()
            yield from groups[left.pop(place)]

    def _take(self) -> None:
        self._device = self._leased.enter_context(self._lease(self._device))
        self._is_leased = True

    def give_back(self) -> None:
        """Give the device back, if it is leased."""
        self._is_leased = False
        self._leased.close()

    def __enter__(self) -> Turns:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()
