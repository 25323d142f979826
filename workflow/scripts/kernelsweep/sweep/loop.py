"""The loop of every sweep: a strategy yields visits to points, a bench makes them, and the strategy takes the outcomes.

    for visit in strategy.visits():
        strategy.add(visit, bench.visit(visit))

A full sweep, a verdict on an edit, a search, a proof and a count differ in their strategies only. Whoever follows one
point: `find_visits` (visits.py) plans its visits, a strategy (full.py, verdict.py, search/) says when each is made,
Bench.visit (bench.py) looks into the journal, waits for the compiler, and asks a worker (worker/), whose Runner
(point/runner.py) checks the point and times it; rows.py makes its row of the outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from kernelsweep.sweep.visit import Visit

# An outcome, or the future of one where several devices make visits side by side.
Result = TypeVar("Result")
_Of = TypeVar("_Of", covariant=True)
_For = TypeVar("_For", contravariant=True)


class Strategy(Protocol[_For]):
    """Which points are visited, in which order, and when there are visits enough."""

    def visits(self) -> Iterator[Visit]:
        """The visits to make. Each next one may follow from the outcomes so far."""

    def add(self, visit: Visit, outcome: _For) -> None:
        """Take the outcome of a visit."""


class MakesVisits(Protocol[_Of]):
    """A bench: what makes visits."""

    def visit(self, visit: Visit) -> _Of:
        """Make a visit."""


def run(
    strategy: Strategy[Result], bench: MakesVisits[Result], show: Callable[[Visit, Result], None] = lambda *_: None
) -> None:
    """Make all visits of a strategy; `show` gets each with its outcome.

    Raises UserError where a function of the user's is wrong, and where the device or the journal fails. What was
    measured until then is in the journal.
    """
    for visit in strategy.visits():
        outcome = bench.visit(visit)
        strategy.add(visit, outcome)
        show(visit, outcome)
