"""The visits to a kernel's points: those that the journal has, and those that are still to be made."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from kernelsweep.base.groups import grouped
from kernelsweep.compile.binaries import failure_of
from kernelsweep.device.outcome import Outcome, combined
from kernelsweep.device.pairs import pairs_of, scatter_of
from kernelsweep.device.task import KernelTask
from kernelsweep.scatter import Scatter
from kernelsweep.study.kernel_sweep import PlannedPoint
from kernelsweep.study.point import Point
from kernelsweep.study.problem.drawn import is_timed
from kernelsweep.study.problem.problem_file import Data, problem_of
from kernelsweep.sweep.identity import identities
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.recorded import known_outcome
from kernelsweep.sweep.visit import Visit

if TYPE_CHECKING:
    from kernelsweep.compile.builder import Builder

# A visit's points, by the data that they share.
Groups = dict[Data, list[Visit]]


@dataclass
class Visits:
    """The visits to a kernel's points, as far as they are made.

    order     the points, as the results have them
    outcomes  of points that aren't visited
    made      the outcomes of visits, by their number from 0
    missing   the visits to be made, by their number
    """

    task: KernelTask
    order: list[Point]
    outcomes: dict[Point, Outcome]
    made: dict[Point, dict[int, Outcome]]
    missing: list[list[Visit]] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be run."""
        return not any(self.missing)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the visits that miss some point."""
        return [number for number, missing in enumerate(self.missing) if missing]

    def groups(self, number: int, chosen: Sequence[Visit]) -> Groups:
        """Visits of a number at random, but those with one input after another: each change of it costs up to a second.

        The seed shuffles them, so drift does not fall on one variant.
        """
        generator = random.Random(f"{self.task.protocol.seed} {number}")
        problem = problem_of(self.task.problem)
        of_input = grouped(chosen, lambda visit: problem.data_of(visit.point))
        inputs = list(of_input)
        generator.shuffle(inputs)
        for group in of_input.values():
            generator.shuffle(group)
        return {data: of_input[data] for data in inputs}

    def so_far(self, point: Point, number: int | None = None) -> Outcome | None:
        """A point's visits as one outcome, or those before the visit of this number; None without one."""
        made = [outcome for made, outcome in self.made[point].items() if number is None or made < number]
        return combined(made) if made else None

    def scatter(self) -> Scatter | None:
        """How far processes lie apart, as far as the visits tell."""
        outcomes = map(self.so_far, self.made)
        every = [pairs_of(outcome) for outcome in outcomes if outcome]
        return scatter_of(pairs for pairs in every if pairs)

    def results(self) -> dict[Point, Outcome]:
        """The outcome of every point, once all is done."""
        combined_ = {point: combined([made[number] for number in sorted(made)]) for point, made in self.made.items()}
        return {point: self.outcomes.get(point) or combined_[point] for point in self.order}


def outcomes_without_runs(planned: Sequence[PlannedPoint], report: Mapping[str, Any]) -> dict[Point, Outcome]:
    """The outcomes of points that are skipped, and of points whose variant was not built, as the report says."""
    outcomes = {}
    for each in planned:
        if each.skipped:
            outcomes[each.point] = Outcome("skipped", each.skipped)
        elif failure := failure_of(report, each.variant):
            outcomes[each.point] = Outcome("build_failed", **failure)
    return outcomes


def find_visits(
    task: KernelTask,
    planned: Sequence[PlannedPoint],
    outcomes: Mapping[Point, Outcome],
    journal: Journal,
    device: Mapping[str, Any],
    builder: Builder | None = None,
    short_count: bool = False,
) -> Visits:
    """Find what is known of the planned points, and what is to be run. Do so before a GPU is kept for it.

    planned      the points in the results' order
    outcomes     of points that are not run, or that failed in this run in another job
    device       its description, which belongs to a point's identity
    builder      compiles the variants, where the task has no binary
    short_count  whether visits count that ended once pairs had decided
    """
    order = [each.point for each in planned]
    numbers = range(task.protocol.visits)
    made: dict[Point, dict[int, Outcome]] = {point: {} for point in order if point not in outcomes}
    visits = Visits(task, order, dict(outcomes), made, [[] for _ in numbers])
    identity_of = identities(task, device)
    kept = cache(builder.kept) if builder else None
    for each, number in itertools.product(planned, numbers):
        if each.point in outcomes or (number and not is_timed(each.point)):
            continue
        built = getattr(kept(each.variant), "variants", {}) if kept else task.variants
        binary = built[each.variant]["binary_sha256"] if built else None
        identity = identity_of(each.point, binary, number)
        if binary and (known := known_outcome(journal, identity, short_count)):
            made[each.point][number] = known
        else:
            visit = Visit(each.point, each.variant, identity, number == 0, criterion=task.protocol.criterion)
            visits.missing[number].append(visit)
    return visits
