"""Replay searches in spaces that were measured completely, and compare strategies. Needs no GPU.

    uv run --extra search python benchmarks/search.py [--repetitions 30] [FILE ...]

A FILE is a measurements.csv, plain or as a recording's .csv.gz, or a T4 file of the autotuning community. Without one,
the recordings in resources/ are replayed. Each strategy searches each space `--repetitions` times, each time by another
seed. Printed are a table of the best found over the best of all after `--budget` evaluations, or after a quarter of the
space if that is less, and a table of the evaluations until one within 1% of the best of all was found: medians, and
90% quantiles in brackets.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from support.own_sweep import ROOT
from support.recorded_space import RecordedSpace, spaces_in

from kernelsweep.measure.search.proposals import Parzen, Random, Space, Strategy
from kernelsweep.measure.search.search import proposed_ahead
from kernelsweep.sweep.spaces import Combinations, combinations_of

CLOSE = 1.01  # A configuration this near to the best is as good.
FEWEST = 200  # Smaller spaces need no search.


class Climb:
    """Local search: a random configuration, then neighbours that differ on one axis, until none is better; again."""

    random_at_first = 1

    def __init__(self, configurations: Combinations, seed: str) -> None:
        self._configurations, self._random, self._space = configurations, random.Random(seed), Space(configurations)
        self._at: tuple[int, float] | None = None

    def ask(self) -> int:
        """A neighbour of the present place; without one, any configuration."""
        left = np.flatnonzero(self._space.left).tolist()
        near = [number for number in left if self._at and self._distance(number, self._at[0]) == 1]
        if not near:
            self._at = None
        number = self._random.choice(near or left)
        self._space.left[number] = False
        return number

    def tell(self, number: int, cost: float) -> None:
        """A configuration's cost."""
        if self._at is None or cost < self._at[1]:
            self._at = number, cost

    def _distance(self, one: int, other: int) -> int:
        pairs = zip(self._configurations[one], self._configurations[other], strict=True)
        return sum(value != others for value, others in pairs)


# The strategy that proposes several configurations before it is told of the first, as a search does.
TOLD_LATE = "the same, told late"

# Each is made of the configurations, a seed and the budget.
STRATEGIES: Mapping[str, Callable[[Combinations, str, int], Strategy]] = {
    "random": lambda configurations, seed, _: Random(configurations, seed),
    "local search": lambda configurations, seed, _: Climb(configurations, seed),
    "estimator alone": partial(Parzen, random_every=0),
    "estimator, 1 in 4 random": Parzen,
    TOLD_LATE: Parzen,
}


def replay(
    space: RecordedSpace, strategy: str, seed: int, evaluations: int, told_late: int | None = None
) -> list[float]:
    """The least cost over the best of all, after each evaluation.

    told_late  how many configurations TOLD_LATE proposes before it is told of the first; None for as many as a search
    """
    search = STRATEGIES[strategy](combinations_of(space.configurations), f"{seed}", evaluations)
    ahead = (told_late or proposed_ahead(evaluations)) if strategy == TOLD_LATE else 1
    asked: list[int] = []
    for step in range(evaluations + ahead):
        if ahead <= step < len(asked) + ahead:
            number = asked[step - ahead]
            search.tell(number, space.costs[number])
        if step < evaluations:
            asked.append(search.ask())
    least = np.minimum.accumulate([space.costs[number] for number in asked])
    return [float(cost / space.best) for cost in least]


def until_close(found: Sequence[float]) -> float:
    """The number of evaluations until a configuration as good as the best was found; infinite if none was."""
    return next((count for count, ratio in enumerate(found, 1) if ratio <= CLOSE), np.inf)


def quantiles(values: Sequence[float], digits: int) -> str:
    """The median and the 90% quantile, as "1.002 (1.013)". Both are values that occurred."""
    middle, most = np.quantile(values, [0.5, 0.9], method="higher")
    return f"{_text(middle, digits)} ({_text(most, digits)})"


def _text(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "not found"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    header = ["space", "configurations", "evaluations", *STRATEGIES]
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * (len(header) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    """Replay, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--ahead", type=int, help="proposals before the first is told of (default: as a search)")
    settings = parser.parse_args()
    files = settings.files or sorted((ROOT / "resources/recordings").glob("*/measurements.csv.gz"))
    ratios, counts, seconds = [], [], dict.fromkeys(STRATEGIES, 0.0)
    for space in (space for file in files for space in spaces_in(file, FEWEST)):
        size = len(space.configurations)
        evaluations = min(settings.budget, size // 4)
        found = {}
        for strategy in STRATEGIES:
            started = time.process_time()
            found[strategy] = [
                replay(space, strategy, seed, evaluations, settings.ahead) for seed in range(settings.repetitions)
            ]
            seconds[strategy] += time.process_time() - started
        known = [space.name, f"{size:,}", str(evaluations)]
        ratios.append([*known, *(quantiles([one[-1] for one in every], 3) for every in found.values())])
        counts.append([*known, *(quantiles([until_close(one) for one in every], 0) for every in found.values())])
        print(f"{space.name}: done", flush=True)
    searches = len(ratios) * settings.repetitions
    print(f"\nThe best found, over the best of all:\n\n{table(ratios)}")
    print(f"\nEvaluations until one within {CLOSE - 1:.0%} of the best of all:\n\n{table(counts)}")
    each = ", ".join(f"{strategy} {total / max(searches, 1):.2f} s" for strategy, total in seconds.items())
    print(f"\nA search took, on average: {each}.")


if __name__ == "__main__":
    main()
