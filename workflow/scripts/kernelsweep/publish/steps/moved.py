"""The counters that changed most between two steps of a story, and may be the reason why the time did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import pandas

from kernelsweep.judge.data.step_metrics import LEAST_SHARE, step_metrics, title, unit_of
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.tables.study_table import StoryRow
from kernelsweep.results import COUNTED

# A counter moved if it changed by this factor, and by more than between two runs; the largest changes are named.
_LEAST_CHANGE, _MOST_COUNTERS = 1.1, 3
# In words above these.
_LARGE = {1e9: " billion", 1e6: " million"}
# The time itself, which Nsight Compute takes at its own clocks: the sweep's is shown.
_NOT_SHOWN = "duration"
# The weight of metrics that are shares of the warps' time.
_WARPS_TIME = "mean by smsp__warps_active.sum"
# What counts per warp, and a share of hits, name these.
_WARPS, _HITS = "warps_launched", "hit_rate"
# The unit of passes through the banks of shared memory, of which a multiprocessor makes one a cycle.
_PASSES = "conflicts"
# The units of what is better if it is more, unless it is a share of the warps' time.
_MORE_IS_BETTER = {"%", "GB/s", "threads"}
# The unit of what efficiencies are shares of. An efficiency of less than this share of a step's sectors means nothing:
# a block's only store, of four bytes, uses an eighth of its sector.
_SECTORS, _LEAST_TRAFFIC = "sectors", 0.05
# The bytes of threads, of which copies from global to shared memory have none.
_OF_THREADS = "data_bytes"


def moved_texts(data: StudyData, steps: Sequence[StoryRow], base: int, number: int) -> list[str]:
    """The counters that the study names, or else all, whose change is largest: `branch 10.12 → 6.38` and others.

    Those come first that got better where the time did, or worse where it got worse.

    base, number  the places of the two steps
    """
    counters = _counters(data)
    if not {base, number} <= {*counters.index}:
        return []
    pair, times, cycles = counters.loc[[base, number]], *_times(data, [steps[base], steps[number]])
    named = {*data.settings.metrics} & {*counters} or {*counters}
    of_others = _of_others(data, pair, [steps[base], steps[number]])
    changes, texts, against = {}, {}, set()
    for metric in (str(name) for name in counters if name in named - {_NOT_SHOWN}):
        numbers = list(map(_number, pair[metric]))
        if numbers[0] == numbers[1] or _is_of_few(data, pair, metric) or metric in of_others:
            continue
        if _OF_THREADS in data.metrics.definitions[metric]["ncu"] and not pair[metric].min():
            continue
        unit = unit_of(step_metrics(data), metric)
        is_of_time = data.metrics.definitions[metric]["combine"] == _WARPS_TIME
        largest = 100 if is_of_time else counters[metric].max()
        if unit == _PASSES:
            # What takes little of the time is noise: the hardware counts other traffic's conflicts, too.
            largest = max(largest, cycles)
        before, after = (pair[metric] / largest).clip(lower=LEAST_SHARE)
        changes[metric] = abs(change := math.log(after / before))
        if is_of_time and times:
            # A larger share of a shorter time may be less, and a smaller one follows from a longer time.
            in_time = change + math.log(times[1] / times[0])
            changes[metric] = min(abs(change), abs(in_time)) if change * in_time > 0 else 0
        is_better = (change > 0) == (unit in _MORE_IS_BETTER and not is_of_time)
        if times and is_better != (times[1] < times[0]):
            against.add(metric)
        # What is counted stands in the title.
        symbol = unit if unit == "%" else f" {unit}" if unit[0].isupper() else ""
        texts[metric] = f"{title(metric)} {' → '.join(numbers)}{symbol}"
    moved = [metric for metric, change in changes.items() if change >= _least_change(data, metric)]
    moved.sort(key=lambda metric: (metric in against, -changes[metric]))
    return [texts[metric] for metric in moved[:_MOST_COUNTERS]]


def _number(value: float) -> str:
    """A counter's value in few digits: 6.38, 145,638, 1.07 billion."""
    size, word = next(((size, word) for size, word in _LARGE.items() if value >= size), (1, ""))
    return f"{value / size:,.{0 if value / size >= 100 or not value else 2}f}{word}"


@cache
def _counters(data: StudyData) -> pandas.DataFrame:
    """All values: a row per step, a column per metric, in the order of their definitions."""
    found = step_metrics(data)
    found = found[found["value"].notna()]
    return found.pivot(index="step", columns="metric", values="value")[found["metric"].unique()]


def _times(data: StudyData, steps: Sequence[StoryRow]) -> tuple[list[float], float]:
    """The times of steps in µs, none unless each has one; and all multiprocessors' cycles in the longest, or 0."""
    points: list[Mapping[str, float]] = [step.point for step in steps if step.point and step.point["time_us"] > 0]
    if not data.has_times or len(points) < len(steps):
        return [], 0
    cycles = [point["time_us"] * point["clock_mhz"] * data.device["multiprocessors"] for point in points]
    return [point["time_us"] for point in points], max(cycles) if not any(map(math.isnan, cycles)) else 0


def _is_of_few(data: StudyData, pair: pandas.DataFrame, metric: str) -> bool:
    """Whether a metric is the efficiency of a small part of the sectors that one of two steps touches."""
    weights = _weights(data, pair)
    own = weights.get(data.metrics.definitions[metric]["combine"])
    return own is not None and bool((pair[own] / pair[[*weights.values()]].sum(axis="columns")).min() < _LEAST_TRAFFIC)


def _weights(data: StudyData, pair: pandas.DataFrame) -> dict[str, str]:
    """The counts of sectors by the `combine` of the metrics that are means over them."""
    return {
        f"mean by {definition['ncu'].partition(' [')[0]}": name
        for name, definition in data.metrics.definitions.items()
        if name in pair and definition["unit"] == _SECTORS
    }


def _of_others(data: StudyData, pair: pandas.DataFrame, steps: Sequence[StoryRow]) -> set[str]:
    """The metrics per warp if the numbers of warps differ, and the shares of hits if those of sectors do."""
    weights, points = _weights(data, pair), [step.point for step in steps if step.point]
    # Not every study has an axis block_size.
    sizes = [(point["grid_size"], point["block_size"]) for point in points if pandas.notna(point["block_size"])]
    warps = [grid_size * math.ceil(block_size / 32) for grid_size, block_size in sizes]
    found = set()
    for metric, definition in data.metrics.definitions.items():
        own = weights.get(definition["combine"])
        amounts = warps if _WARPS in definition["ncu"] + definition["combine"] else []
        amounts = list(pair[own]) if own and _HITS in definition["ncu"] else amounts
        if amounts and max(amounts) > _LEAST_CHANGE * min(amounts):
            found.add(metric)
    return found


def _least_change(data: StudyData, metric: str) -> float:
    """The smallest change that counts, as a logarithm: `_LEAST_CHANGE`, or what two uncertain values differ by."""
    rows = step_metrics(data)
    counted = (rows.loc[rows["metric"] == metric, "source"] == COUNTED).any()
    uncertainty = 0.0 if counted else float(data.metrics.definitions[metric].get("uncertainty", 0))
    return max(math.log(_LEAST_CHANGE), math.sqrt(2) * math.log1p(uncertainty))
