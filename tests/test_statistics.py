"""The median's interval has its nominal coverage; sampling ends when the median is known, or says that it is not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelsweep.device.outcome import Timing
from kernelsweep.device.sampling import MedianKnown, Sampling, Taken, is_settled, per_visit, sample
from kernelsweep.judge.data.measurements import covering, load_measurements
from kernelsweep.results import MEASUREMENT_COLUMNS, each_table, rows_in, time_columns, write_rows, write_tables
from kernelsweep.statistics import Interval, median_interval, ratio, summarise, summarise_visits

SETTINGS = Sampling(relative_precision=0.005, min_samples=20, max_samples=500, max_seconds=0.5)


class Machine:
    """A pretended machine: samples from a function of the generator, and a clock that each sample moves on."""

    def __init__(self, draw: Callable[[np.random.Generator], float], seconds_a_sample: float = 1e-6) -> None:
        self.now = 100.0
        self.taken = 0
        self.throttled: Callable[[], bool] = lambda: False
        self._draw = draw
        self._seconds = seconds_a_sample
        self._generator = np.random.default_rng(1)

    def time_samples(self, count: int) -> tuple[list[float], bool]:
        """The times of `count` samples, and whether the machine was throttled meanwhile."""
        self.taken += count
        self.now += count * self._seconds
        return [self._draw(self._generator) for _ in range(count)], self.throttled()

    def sampled(self, settings: Sampling) -> Timing:
        """What sampling until the median is known takes."""

        def take(count: int) -> tuple[list[Taken], bool]:
            times, throttled = self.time_samples(count)
            return [(time_us, None) for time_us in times], throttled

        return sample(take, MedianKnown(settings), settings.relative_precision, clock=self.clock)

    def clock(self) -> float:
        """Seconds since some time."""
        return self.now


def steady(generator: np.random.Generator) -> float:
    return 20 + 0.001 * generator.random()


def restless(generator: np.random.Generator) -> float:
    return 20 * float(generator.lognormal(sigma=2))


def between(*times: float) -> Callable[[np.random.Generator], float]:
    return lambda generator: float(generator.choice(times))


@pytest.mark.parametrize("count", [6, 20, 33])
@pytest.mark.parametrize("skewed", ["exponential", "lognormal", "outliers"])
def test_interval_covers_the_true_median_of_skewed_times(skewed: str, count: int) -> None:
    # Ranks off by one, or an interval that takes the times for normal, would cover too little: times have long tails.
    generator = np.random.default_rng(2026)
    shape = (4000, count)
    times, true_median = {
        "exponential": lambda: (10 + generator.exponential(size=shape), 10 + np.log(2)),
        "lognormal": lambda: (generator.lognormal(sigma=1, size=shape), 1.0),
        "outliers": lambda: (10 + generator.random(shape) ** 20 * 1000, 10 + 0.5**20 * 1000),
    }[skewed]()
    summaries = [summarise(row) for row in times]
    covered = np.mean([summary.low <= true_median <= summary.high for summary in summaries])
    assert covered >= 0.94
    assert all(summary.low <= summary.median <= summary.high for summary in summaries)


def test_interval_is_no_wider_than_it_has_to_be() -> None:
    # From the binomial table: of 20 samples the 6th and the 15th; of 6 the smallest and the largest.
    assert (summarise(range(1, 21)).low, summarise(range(1, 21)).high) == (6, 15)
    assert (summarise(range(1, 7)).low, summarise(range(1, 7)).high) == (1, 6)


@pytest.mark.parametrize(
    ("draw", "most", "settled", "taken"),
    [
        pytest.param(steady, 500, True, SETTINGS.min_samples, id="steady"),
        pytest.param(restless, 490, False, 490, id="restless, at a maximum that is no whole number of batches"),
        # Neighbouring readings of an H200's timer, 1.6% apart: no number of samples says more.
        pytest.param(between(2.016, 2.048), 500, True, SETTINGS.min_samples, id="within a step of the timer"),
        pytest.param(between(20.0, 24.0), 500, False, 500, id="two speeds, which are no coarse timer"),
    ],
)
def test_sampling_ends_once_the_median_is_known_or_says_that_it_is_not(
    draw: Callable[[np.random.Generator], float], most: int, settled: bool, taken: int
) -> None:
    machine = Machine(draw)
    sampled = machine.sampled(replace(SETTINGS, max_samples=most))
    assert (sampled.settled, len(sampled.samples), machine.taken) == (settled, taken, taken)


# Several visits to a point


def test_an_interval_spans_the_visits_that_disagree() -> None:
    # Pins: three visits of 5.0, 5.1 and 5.2 us, each of which repeats to a step of the timer, taken for precise.
    visits = [[time, time + 0.032, time - 0.032] * 10 for time in (5.0, 5.2, 5.1)]
    summary = summarise_visits(visits)
    assert summary.median == pytest.approx(5.1, abs=0.04)
    assert summary.low == pytest.approx(5.0 - 0.016)
    assert summary.high == pytest.approx(5.2 + 0.016)
    assert summary.spread == pytest.approx(0.2 / summary.median)


def test_visits_share_the_samples_and_together_reach_the_precision() -> None:
    settings = Sampling(relative_precision=0.005, min_samples=21, max_samples=600, max_seconds=0.6)
    shared = per_visit(settings, 3)
    assert (shared.min_samples, shared.max_samples, shared.max_seconds) == (7, 200, pytest.approx(0.2))
    visits = [
        Machine(lambda generator: 20 * (1 + 0.02 * float(generator.standard_normal()))).sampled(shared)
        for _ in range(3)
    ]
    assert all(visit.settled for visit in visits)
    assert is_settled([time for visit in visits for time in visit.samples], 1.3 * settings.relative_precision)
    assert per_visit(settings, 1) == settings
    assert per_visit(settings, 100).min_samples == 6, "fewer give no interval"


# A throttled device


def test_throttled_samples_are_marked_set_aside_and_taken_again() -> None:
    machine = Machine(steady)
    machine.throttled = lambda: machine.taken in (4, 6)
    sampled = machine.sampled(SETTINGS)
    assert sampled.throttled == [2, 3, 4, 5]
    assert (sampled.clean, sampled.settled) == (True, True)
    assert len(sampled.samples) == SETTINGS.min_samples + 4
    # Pins: samples at a lower clock that count all the same.
    visit = Timing(**asdict(sampled))
    assert visit.counted == sampled.samples[:2] + sampled.samples[6:]


def test_a_point_that_cannot_be_had_clean_keeps_all_its_samples_and_says_so() -> None:
    # Pins: a laptop at its power limit, at which a sweep would otherwise have no samples, or never end.
    machine = Machine(steady)
    machine.throttled = lambda: True
    visit = Timing(**asdict(machine.sampled(SETTINGS)))
    assert (visit.clean, visit.settled) == (False, True)
    assert visit.counted == visit.samples and len(visit.samples) >= SETTINGS.min_samples
    assert visit.throttled == list(range(len(visit.samples)))


def test_few_samples_of_a_long_kernel_suffice_where_they_agree() -> None:
    # Pins: 21 samples of 30 ms each, of which two and three processes tell as much.
    machine = Machine(lambda generator: 30_000.0 + float(generator.random()), seconds_a_sample=0.03)
    shared = per_visit(SETTINGS, 3)
    sampled = machine.sampled(shared)
    assert len(sampled.samples) == 2 and sampled.settled
    machine = Machine(lambda generator: 20_000.0 * (1 + float(generator.random())), seconds_a_sample=0.03)
    assert len(machine.sampled(shared).samples) > 2


# Ratios


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


def test_a_published_interval_covers_how_processes_scatter(tmp_path: Path) -> None:
    random, rows, own = np.random.default_rng(1), list[dict[str, Any]](), []
    for kernel, size in itertools.product("abcdefghijkl", range(50)):
        medians = 100 * np.exp(0.01 * random.standard_normal(3))
        times = time_columns([[*(one * np.exp(0.001 * random.standard_normal(9)))] for one in medians], {}, None)
        own.append(float(times["time_low_us"]) <= 100 <= float(times["time_high_us"]))
        place = {"study": "s", "platform": "p", "device": "d", "array_size": size, "block_size": 1, "unroll": 1}
        rows.append({**place, "kernel": kernel, "status": "ok", **times})
    write_rows(file := tmp_path / "measurements.csv", MEASUREMENT_COLUMNS, rows)
    loaded = load_measurements([file])
    covered = ((loaded["time_low_us"] <= 100) & (loaded["time_high_us"] >= 100)).mean()
    assert np.mean(own) < 0.8 and 0.93 <= covered <= 0.98
    # What readers find in measurements.csv is the same, also where it is read again.
    for name in ("joined.csv", "again.csv"):
        write_tables(tmp_path / name, MEASUREMENT_COLUMNS, covering([file]))
        file = tmp_path / name
        ends = [[float(row[end]) for end in ("time_low_us", "time_high_us")] for row in rows_in(each_table(file))]
        order = sorted(range(len(rows)), key=lambda place: (rows[place]["kernel"], rows[place]["array_size"]))
        assert np.allclose([ends[place] for place in order], loaded[["time_low_us", "time_high_us"]], atol=0.00051)
