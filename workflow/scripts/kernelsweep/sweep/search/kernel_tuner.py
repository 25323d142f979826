"""The strategies of Kernel Tuner propose configurations.

Each is a function that ends with its search, and draws from Python's and NumPy's own generators. So it runs in a
process of its own (`python -m` this module), which reads its arguments, and a line of costs for each line of proposals.
"""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np

from kernelsweep.base.running import end_with_parent, environment
from kernelsweep.errors import UserError
from kernelsweep.study.spaces import ValidPoints

# A strategy that asks for so many configurations again, one after another, has no new one.
_MOST_AGAIN = 10_000


class KernelTuner:
    """A strategy of Kernel Tuner. Where it ends early, the other configurations are random.

    configurations  one or more
    strategy        its name in kernel_tuner.tune_kernel()
    seed            the same seed and the same costs give the same configurations
    budget          how many are going to be asked for

    Raises UserError where Kernel Tuner isn't installed, or has no such strategy.
    """

    random_at_first = 1

    def __init__(self, configurations: ValidPoints, strategy: str, seed: str, budget: int) -> None:
        if find_spec("kernel_tuner") is None:
            raise UserError(
                f"`search.by: kernel_tuner/{strategy}` needs Kernel Tuner, which is not installed. Install it: "
                "uv run --extra kernel-tuner ..., or pip install kernel-tuner."
            )
        self._arguments = configurations, strategy, random.Random(seed).getrandbits(32), budget
        self._others = random.Random(seed).sample(range(len(configurations)), len(configurations))
        self._asked: set[int] = set()
        self._batch: deque[int] = deque()
        self._costs: dict[int, float] = {}
        self._missing: set[int] = set()

    def ask(self) -> int | None:
        """The configuration to measure next; None as long as that follows from a cost that is not told."""
        if not self._batch and self._missing:
            return None
        if not self._batch:
            self._batch.extend(self._next_batch())
            self._missing = {*self._batch}
        while not self._batch:  # The strategy has ended.
            if (number := self._others.pop()) not in self._asked:
                self._batch.append(number)
        number = self._batch.popleft()
        self._asked.add(number)
        return number

    def tell(self, number: int, cost: float) -> None:
        """A configuration's cost."""
        self._costs[number] = cost
        self._missing.discard(number)

    def _next_batch(self) -> list[int]:
        stream = self._process.stdin
        assert stream is not None and self._process.stdout is not None
        try:
            stream.write(json.dumps(self._costs).encode() + b"\n")
            stream.flush()
        except BrokenPipeError:
            return []
        self._costs = {}
        answer = json.loads(self._process.stdout.readline() or "[]")
        if isinstance(answer, str):
            raise UserError(answer)
        return list(answer)

    @cached_property
    def _process(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        assert process.stdin is not None
        pickle.dump(self._arguments, process.stdin)
        return process


class _Asking:
    """Stands in for Kernel Tuner's runner: a configuration's time is what the other process answers."""

    def __init__(self, answers: Any, numbers: dict[tuple[Any, ...], int]) -> None:
        self._answers, self._numbers = answers, numbers
        self._costs: dict[int, float] = {}
        self._again = 0

    def run(self, parameter_space: Sequence[Sequence[Any]], tuning_options: Any) -> list[dict[str, Any] | None]:
        """The results of some configurations; None for those that the budget has no room for."""
        from kernel_tuner.util import RuntimeFailedConfig, StopCriterionReached

        wanted = [self._numbers[tuple(each)] for each in parameter_space]
        new = [number for number in dict.fromkeys(wanted) if number not in self._costs]
        new = new[: tuning_options.budget.get_evaluations_remaining()]
        self._again = 0 if new else self._again + 1
        if self._again > _MOST_AGAIN:
            raise StopCriterionReached("no new configuration")
        if new:
            print(json.dumps(new), file=self._answers, flush=True)
            told = json.loads(sys.stdin.buffer.readline() or b"{}")
            self._costs |= {number: told.get(str(number), inf) for number in new}
            tuning_options.budget.add_evaluations(len(new))
        failed, costs = {"__error__": RuntimeFailedConfig()}, self._costs
        results = {number: {"time": cost} if cost < inf else failed for number, cost in costs.items()}
        return [dict(results[number]) if number in results else None for number in wanted]

    def add_strategy_time(self, seconds: float) -> None:
        """Not kept."""


def _main() -> None:
    end_with_parent()
    answers = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr
    configurations, name, seed, budget = pickle.load(sys.stdin.buffer)
    sys.stdin.buffer.readline()  # No costs yet.
    from kernel_tuner.interface import Options, strategy_map
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import TuningBudget

    if name not in strategy_map:
        print(json.dumps(f"Kernel Tuner has no strategy {name!r}. It has {', '.join(strategy_map)}."), file=answers)
        return
    random.seed(seed)
    np.random.seed(seed)
    tune_params = {axis: list(values) for axis, values in configurations.values.items()}
    points = list(configurations)
    cache = {str(number): dict(point) for number, point in enumerate(points)}
    space = Searchspace(None, None, None, from_cache={"tune_params": tune_params, "cache": cache})
    numbers = {tuple(point.values()): number for number, point in enumerate(points)}
    options = Options(
        objective=["time"],
        objective_higher_is_better=[False],
        strategy=name,
        strategy_options=Options(max_fevals=budget),
        max_fevals=budget,
        budget=TuningBudget(max_fevals=budget),
        tune_params=tune_params,
        restrictions=[],
        restrictions_unmodified=[],
        cache={},
        verbose=False,
        simulation_mode=False,
        seed=seed,
    )
    strategy_map[name].tune(space, _Asking(answers, numbers), options)


if __name__ == "__main__":
    _main()
