"""What racing saves, and whether it changes the best configurations. Replays a recording; needs no GPU.

    uv run python benchmarks/racing.py [--study bandwidth_bound] [--repetitions 5]

Each recorded point is visited three times, as in a sweep: a visit's median is off by what the recorded `visit_spread`
says of visits, and its samples scatter by the recorded `noise` (both normally distributed). Then the points that
measure/racing.py calls beaten lose their further visits. Compared are each kernel's best configuration and its ties at
each problem size. A visit takes a third of the recorded seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from support.own_sweep import ROOT

from kernelsweep.intervals import Interval, ratio
from kernelsweep.measure.outcome import Outcome, Visit, combined
from kernelsweep.measure.racing import beaten
from kernelsweep.problems.problem_file import Problem
from kernelsweep.project.project import load_study
from kernelsweep.results import each_row
from kernelsweep.statistics import summarise_visits
from kernelsweep.sweep.candidates import place_of
from kernelsweep.sweep.point import Point

VISITS = 3
# The mean range of three values of a normal distribution, and its interquartile range, in standard deviations.
RANGE_OF_THREE, INTERQUARTILE = 1.69, 1.35

Visited = dict[Point, dict[int, Outcome]]


def recorded(study: str, recording: Path) -> dict[str, dict[Point, dict[str, str]]]:
    """The rows of a study's points with a time, by kernel."""
    problem = load_study(study, ROOT).problem
    rows: dict[str, dict[Point, dict[str, str]]] = {}
    for row in each_row(recording):
        if row["study"] == study and row["status"] == "ok" and row["visit_spread"]:
            point = Point({axis: _value(row[axis]) for axis in problem.axes})
            rows.setdefault(row["kernel"], {})[point] = row
    return rows


def _value(text: str) -> Any:
    return int(text) if text.isdecimal() else text or None


def visits_of(row: Mapping[str, str], generator: np.random.Generator) -> dict[int, Outcome]:
    """Visits to a point, with as many samples as it has in the recording."""
    time_us, count = float(row["time_us"]), max(6, int(row["samples"]) // VISITS)
    offsets = generator.normal(1, float(row["visit_spread"]) / RANGE_OF_THREE, VISITS)
    scatter = generator.normal(1, float(row["noise"]) / INTERQUARTILE, (VISITS, count))
    times = np.maximum(time_us * offsets[:, None] * scatter, 0.001).round(3)
    return {number: Outcome("ok", visits=[Visit(samples)]) for number, samples in enumerate(times.tolist())}


def raced(visited: Visited, problem: Problem) -> Visited:
    """The visits that take place with racing."""
    kept: Visited = {point: {0: of_point[0]} for point, of_point in visited.items()}
    for number in range(1, VISITS):
        slow = beaten(kept, problem)
        for point in visited.keys() - slow:
            kept[point][number] = visited[point][number]
    return kept


def best_of(visited: Visited, problem: Problem) -> dict[tuple[Any, ...], tuple[Point, frozenset[Point]]]:
    """The fastest point of each place, and its ties."""
    places: dict[tuple[Any, ...], dict[Point, Interval]] = {}
    for point, of_point in visited.items():
        summary = summarise_visits([visit.counted for visit in combined(list(of_point.values())).visits])
        interval = Interval(summary.median, summary.low, summary.high)
        places.setdefault(place_of(point, problem), {})[point] = interval
    found = {}
    for place, times in places.items():
        best = min(times, key=lambda point: times[point].value)
        ties = frozenset(point for point in times if ratio(over=times[point], under=times[best]).low <= 1)
        found[place] = best, ties
    return found


def main() -> int:
    """Replay, and print what racing saves and changes; 1 where it changes a best configuration or a tie."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--study", default="bandwidth_bound")
    parser.add_argument("--recording", type=Path, default=ROOT / "resources/recordings/nvidia-h200/measurements.csv.gz")
    parser.add_argument("--repetitions", type=int, default=5)
    settings = parser.parse_args()
    rows, problem = recorded(settings.study, settings.recording), load_study(settings.study, ROOT).problem
    visits, seconds, places, bests, ties = np.zeros(2), np.zeros(2), 0, 0, 0
    for seed in range(settings.repetitions):
        generator = np.random.default_rng(seed)
        for of_kernel in rows.values():
            every = {point: visits_of(row, generator) for point, row in of_kernel.items()}
            kept = raced(every, problem)
            for number, some in enumerate((every, kept)):
                visits[number] += sum(map(len, some.values()))
                seconds[number] += sum(
                    len(of) * float(of_kernel[point]["seconds"]) / VISITS for point, of in some.items()
                )
            whole, part = best_of(every, problem), best_of(kept, problem)
            places += len(whole)
            bests += sum(whole[place][0] != part[place][0] for place in whole)
            ties += sum(whole[place][1] != part[place][1] for place in whole)
    print(f"{settings.study}: {sum(map(len, rows.values()))} points, {settings.repetitions} repetitions")
    print(f"visits: {visits[1] / visits[0]:.1%} of all; seconds: {seconds[1] / seconds[0]:.1%} of all")
    print(f"{places} best configurations: {bests} changed, and the ties of {ties}")
    return int(bool(bests or ties))


if __name__ == "__main__":
    raise SystemExit(main())
