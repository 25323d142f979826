"""Intervals of ratios cover the true ratio as often as they promise."""

import numpy as np
import pytest

from kernelsweep.intervals import Interval, ratio
from kernelsweep.statistics import median_interval


def test_a_ratios_interval_holds_the_true_ratio_at_least_95_times_in_100() -> None:
    generator = np.random.default_rng(2026)
    trials = 1000
    held = 0
    for _ in range(trials):
        # Skewed to the right, as times are: the intervals' ends lie at unequal distances.
        slow, fast = (scale * (1 + generator.exponential(0.05, 40)) for scale in (2.0, 1.0))
        found = ratio(Interval(*median_interval(slow)), Interval(*median_interval(fast)))
        held += found.low <= 2.0 <= found.high
    assert held >= 0.95 * trials


def test_a_ratio_is_the_reciprocal_of_the_other_one() -> None:
    one, other = Interval(10.0, 9.5, 11.0), Interval(4.0, 3.9, 4.3)
    there, back = ratio(one, other), ratio(other, one)
    assert there.value == pytest.approx(1 / back.value)
    assert there.low == pytest.approx(1 / back.high)
    assert there.high == pytest.approx(1 / back.low)


def test_no_ratio_of_times_that_are_not_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        ratio(Interval(1.0, 0.0, 2.0), Interval(1.0, 0.9, 1.1))
