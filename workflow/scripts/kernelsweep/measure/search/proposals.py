"""Propose which of a finite number of configurations to measure next, from what was measured so far.

Optuna's tree-structured Parzen estimator proposes values on all axes together (Bergstra et al., "Algorithms for
hyper-parameter optimization", NIPS 2011; multivariate as in Falkner et al., "BOHB", ICML 2018). It knows nothing of
restrictions, so that its proposal is moved to the nearest valid configuration that wasn't measured. docs/search.md has
the comparison with other strategies.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from kernelsweep.errors import UserError

# How many configurations are chosen at random before the estimator has a say.
RANDOM_AT_FIRST = 20

# Afterwards, one of so many is still chosen at random. Without that, searches of spaces with many failures got stuck.
RANDOM_EVERY = 4


class Strategy(Protocol):
    """Proposes configurations, by their number, none of them twice."""

    def ask(self) -> int:
        """The configuration to measure next. Every one that was asked for is told of before the next is asked for."""

    def tell(self, number: int, cost: float) -> None:
        """A configuration's cost, the less the better; infinite for one that failed."""


class Space:
    """Configurations, those not measured yet among them, and their distances.

    configurations  mappings with the same axes, at least one; their numbers are their places

    Values of an axis are in the order in which they first appear, so that neighbours are similar where axes are sorted.
    """

    def __init__(self, configurations: Sequence[Mapping[str, Any]]) -> None:
        self.values = {axis: list(dict.fromkeys(one[axis] for one in configurations)) for axis in configurations[0]}
        places = {axis: {value: place for place, value in enumerate(values)} for axis, values in self.values.items()}
        self._places = np.array([[places[axis][one[axis]] for axis in places] for one in configurations], np.int32)
        self._place_of = places
        self._scale = np.maximum(self._places.max(axis=0, initial=1), 1)
        self.left = np.ones(len(configurations), bool)

    def nearest(self, values: Mapping[str, Any]) -> int:
        """The configuration that is left and differs on the fewest axes; of several, the one with the nearest values.

        values  one on each axis
        """
        place = np.array([self._place_of[axis][value] for axis, value in values.items()])
        left = np.flatnonzero(self.left)
        away = np.abs(self._places[left] - place) / self._scale
        return int(left[np.argmin((away > 0).sum(axis=1) + away.mean(axis=1))])


class Random:
    """Configurations in random order."""

    def __init__(self, configurations: Sequence[Mapping[str, Any]], seed: str) -> None:
        self._order = random.Random(seed).sample(range(len(configurations)), len(configurations))

    def ask(self) -> int:
        """The configuration to measure next."""
        return self._order.pop()

    def tell(self, number: int, cost: float) -> None:
        """Costs don't matter."""


class Parzen:
    """Optuna's estimator, after RANDOM_AT_FIRST random configurations, and one of RANDOM_EVERY still random.

    configurations  mappings with the same axes
    seed            the same seed and the same costs give the same configurations

    Raises UserError where Optuna isn't installed.
    """

    def __init__(
        self,
        configurations: Sequence[Mapping[str, Any]],
        seed: str,
        random_at_first: int = RANDOM_AT_FIRST,
        random_every: int = RANDOM_EVERY,
    ) -> None:
        self._optuna = optuna = _optuna()
        self._configurations = configurations
        self._space = Space(configurations)
        self._axes = {
            axis: optuna.distributions.CategoricalDistribution(values)
            for axis, values in self._space.values.items()
            if len(values) > 1
        }
        self._random = random.Random(seed)
        self._random_at_first, self._random_every = random_at_first, random_every
        sampler = optuna.samplers.TPESampler(
            multivariate=True, n_startup_trials=random_at_first, seed=self._random.getrandbits(32)
        )
        self._study = optuna.create_study(sampler=sampler)
        self._asked = 0

    def ask(self) -> int:
        """The configuration to measure next."""
        self._asked += 1
        if self._asked <= self._random_at_first or (self._random_every and self._asked % self._random_every == 0):
            number = self._random.choice(np.flatnonzero(self._space.left).tolist())
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
        values = {axis: self._configurations[number][axis] for axis in self._axes}
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
