"""Propose which of a finite number of configurations to measure next, from what was measured so far.

A sampler of Optuna proposes values on all axes, as its tree-structured Parzen estimator does (Bergstra et al.,
"Algorithms for hyper-parameter optimization", NIPS 2011; multivariate as in Falkner et al., "BOHB", ICML 2018). It
knows nothing of restrictions, so that its proposal is moved to the nearest valid configuration that wasn't measured.
docs/measured/search.md compares strategies.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.study.spaces import ValidPoints

# At most this many configurations are chosen at random before the estimator has a say, and at most a third of the
# budget: with a budget of 20, that finds better ones than chance (docs/measured/search.md).
_MOST_AT_FIRST = 20
_PART_AT_FIRST = 3

# Afterwards, one of so many is still chosen at random. Without that, searches of spaces with many failures got stuck.
RANDOM_EVERY = 4


class Space:
    """Configurations, those not measured yet among them, and their distances.

    configurations  one or more; neighbours are similar where the values of the axes are sorted

    Its values are those that some configuration has.
    """

    def __init__(self, configurations: ValidPoints) -> None:
        self.values: dict[str, list[Any]] = {}
        self._places: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}
        for (axis, values), column in zip(configurations.values.items(), configurations.places, strict=True):
            occurs = np.bincount(column, minlength=len(values)) > 0
            self.values[axis] = [value for value, there in zip(values, occurs, strict=True) if there]
            self._places[axis] = (np.cumsum(occurs) - 1)[column]
        self.left = np.ones(len(configurations), bool)

    def at(self, number: int) -> dict[str, Any]:
        """A configuration, by its number."""
        return {axis: of[self._places[axis][number]] for axis, of in self.values.items()}

    def nearest(self, values: Mapping[str, Any]) -> int:
        """The configuration that is left and differs on the fewest axes; of several, the one with the nearest values.

        values  one on each axis
        """
        away = np.where(self.left, 0.0, np.inf)
        for axis, of in self.values.items():
            distance = np.abs(np.arange(len(of)) - of.index(values[axis])) / max(len(of) - 1, 1)
            away += ((distance > 0) + distance / len(self.values))[self._places[axis]]
        return int(np.argmin(away))

    def any(self, generator: random.Random) -> int:
        """One of the configurations that are left, at random."""
        left = np.flatnonzero(self.left)
        return int(left[generator.randrange(len(left))])


class Random:
    """Configurations by number in random order. At least random_at_first are asked for before costs matter."""

    random_at_first = _MOST_AT_FIRST

    def __init__(self, configurations: ValidPoints, seed: str) -> None:
        self._order = random.Random(seed).sample(range(len(configurations)), len(configurations))

    def ask(self) -> int:
        """The configuration to measure next."""
        return self._order.pop()

    def tell(self, number: int, cost: float) -> None:
        """Costs don't matter."""


class Optuna:
    """A sampler of Optuna, after some random configurations, and one of RANDOM_EVERY still random.

    configurations  one or more
    sampler         its name without `Sampler`, in any case, such as tpe
    seed            the same seed and the same costs give the same configurations
    budget          how many are going to be asked for

    Raises UserError where Optuna isn't installed, or has no such sampler.
    """

    def __init__(self, configurations: ValidPoints, sampler: str, seed: str, budget: int) -> None:
        self._optuna = optuna = _optuna()
        self._space = Space(configurations)
        self._axes = {
            axis: optuna.distributions.CategoricalDistribution(values)
            for axis, values in self._space.values.items()
            if len(values) > 1
        }
        self._random = random.Random(seed)
        self.random_at_first = max(1, min(_MOST_AT_FIRST, budget // _PART_AT_FIRST))
        known = {name.removesuffix("Sampler").lower(): name for name in optuna.samplers.__all__}
        if sampler not in known:
            raise UserError(f"Optuna has no sampler {sampler!r}. It has {', '.join(sorted(known))}.")
        of_tpe = {"multivariate": True, "n_startup_trials": self.random_at_first} if sampler == "tpe" else {}
        make = getattr(optuna.samplers, known[sampler])
        self._study = optuna.create_study(sampler=make(seed=self._random.getrandbits(32), **of_tpe))
        self._asked = 0

    def ask(self) -> int:
        """The configuration to measure next."""
        self._asked += 1
        if self._asked <= self.random_at_first or self._asked % RANDOM_EVERY == 0:
            number = self._space.any(self._random)
        else:
            trial = self._study.ask(self._axes)
            fixed = {axis: values[0] for axis, values in self._space.values.items()}
            number = self._space.nearest({**fixed, **trial.params})
            # The estimator is told of the configuration that is measured, not of the one that it proposed.
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        self._space.left[number] = False
        return number

    def tell(self, number: int, cost: float) -> None:
        """A configuration's cost."""
        values = {axis: value for axis, value in self._space.at(number).items() if axis in self._axes}
        # The estimator only compares costs, so that any number above all others says that a configuration failed.
        self._study.add_trial(
            self._optuna.trial.create_trial(params=values, distributions=self._axes, value=min(cost, _WORST))
        )


_WORST = math.ldexp(1.0, 1000)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise UserError(
            "A study with `search` needs Optuna, which is not installed. Install it: uv run --extra search ..., or "
            "pip install optuna."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # multivariate=True, since 2020
    return optuna
