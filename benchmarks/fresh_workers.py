"""Does a worker's start change its times? A/A: one kernel's points, by workers that were started in two ways.

    uv run --extra gpu python benchmarks/fresh_workers.py

| way | workers | contexts |
|---|---|---|
| python | a new Python each | each is opened alone, before its visit |
| fork | forks of the job | a kernel's three are opened side by side, before the first sample: as a sweep does |

The ways take turns. For each class of points three numbers are printed: the ratio of the medians to those of `python`
(geometric mean); the distance between the three visits' medians; and the interquartile range within a visit, both as
fractions of the median. Where a fork is as fresh as a new Python, its visits lie as far apart. Below stand the seconds
of a round, and those until its first point is done.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np
from support.own_sweep import EMULATOR, ROOT, binary_of, build_variants, gpu, kernel_of, point

from kernelsweep.measure.journal import Journal
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.point.instances import Instances
from kernelsweep.measure.sampling import Sampling, per_visit
from kernelsweep.measure.task import BuiltKernel, KernelTask, Protocol
from kernelsweep.measure.work import do_work, find_work
from kernelsweep.measure.worker import process
from kernelsweep.measure.worker.client import Workers
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.lease import lease
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation

VISITS = 3
# As config.yaml has it.
SAMPLING = Sampling(relative_precision=0.005, min_samples=20, max_samples=500, max_seconds=0.5)
WAYS = ("python", "fork")


class OneByOne(Workers):
    """Workers that open their contexts one after another, each before its visit."""

    def begin(self, visit: int, first: Point) -> None:
        """Open this visit's worker alone."""
        self._workers[visit].open()


@dataclass(frozen=True)
class Round:
    """A way's measurement of all points: outcomes, its seconds, and those until the first point is done."""

    outcomes: Mapping[Point, Outcome]
    seconds: float
    first_seconds: float


def measured(way: str, task: KernelTask, planned: Sequence[PlannedPoint], journal: Path) -> Round:
    """Measure all points in a way. Ends the script where one fails."""
    started = time.perf_counter()
    finished: list[float] = []
    with Journal(journal) as opened:
        work = find_work(task, planned, {}, opened, {"name": "any"})
        instances = Instances(task)
        instances.make_ahead(*work.checked_and_timed())
        if way == "python":
            with patch.object(process, "thread_count", lambda: 2):
                workers: Workers = OneByOne(task, work.visits)
        else:
            workers = Workers(task, work.visits, instances)

        def progress(*_: object) -> None:
            finished.append(time.perf_counter())

        with workers:
            do_work(work, task, opened, workers, progress)
    outcomes = work.results()
    for one, outcome in outcomes.items():
        if outcome.status != "ok":
            sys.exit(f"{outcome.status}: {outcome.message} at {one}")
    return Round(outcomes, time.perf_counter() - started, finished[0] - started)


def class_of(one: Point, median_us: float) -> str:
    """The class of points that a point counts in."""
    return f"{'up to 10 us' if median_us <= 10 else 'above 10 us'}, {one['cache']}"


def found_in(rounds: Mapping[str, Sequence[Round]]) -> dict[str, dict[str, dict[str, float]]]:
    """By class and way: ratio to `python`, distance between visits, noise within a visit, and the number of points."""
    medians: dict[tuple[str, Point], float] = {}
    apart, noise = defaultdict[tuple[str, Point], list[float]](list), defaultdict[tuple[str, Point], list[float]](list)
    for way, of_way in rounds.items():
        for one in of_way[0].outcomes:
            visits = [[visit.samples for visit in each.outcomes[one].visits] for each in of_way]
            medians[way, one] = statistics.median(float(np.median(np.concatenate(samples))) for samples in visits)
            for samples in visits:
                of_visits = [float(np.median(times)) for times in samples]
                apart[way, one].append((max(of_visits) - min(of_visits)) / medians[way, one])
                spans = [np.subtract(*np.quantile(times, [0.75, 0.25])) / np.median(times) for times in samples]
                noise[way, one].append(float(np.mean(spans)))
    classes = defaultdict[str, list[Point]](list)
    for one in rounds[WAYS[0]][0].outcomes:
        classes[class_of(one, medians[WAYS[0], one])].append(one)
    return {
        name: {
            way: {
                "ratio": exp(statistics.mean(log(medians[way, one] / medians[WAYS[0], one]) for one in points)),
                "apart": statistics.mean(value for one in points for value in apart[way, one]),
                "noise": statistics.mean(value for one in points for value in noise[way, one]),
                "points": len(points),
            }
            for way in rounds
        }
        for name, points in sorted(classes.items())
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="warp_shuffle/shuffle")
    parser.add_argument("--unroll", type=int, default=4)
    parser.add_argument("--array-sizes", type=int, nargs="+", default=[2**16, 2**18, 2**20, 2**22, 2**24, 2**26])
    parser.add_argument("--block-sizes", type=int, nargs="+", default=[128, 256, 512])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--target", default=None, help="emulator, to try the script without a GPU")
    parser.add_argument("--output", type=Path, default=ROOT / "results/benchmarks/fresh_workers.json")
    chosen = parser.parse_args(arguments)
    target, devices = chosen.target, []
    if target is None:
        # In another process: a job that has opened NVML has no forks.
        with ProcessPoolExecutor(1, get_context("fork")) as other:
            device = other.submit(gpu).result()
        target, devices = device.arch, [device.uuid]
        os.environ["CUDA_VISIBLE_DEVICES"] = device.uuid
    kernel = kernel_of(chosen.kernel)
    points = [
        point(size, block, unroll=chosen.unroll, cache=cache)
        for size in chosen.array_sizes
        for block in chosen.block_sizes
        for cache in ("cold", "hot")
    ]
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in points]
    protocol = Protocol(per_visit(SAMPLING, VISITS), VISITS, seed=1, second_input=True)
    rounds = defaultdict[str, list[Round]](list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        report = build_variants(kernel, points, folder, target)
        built = BuiltKernel(kernel, report, binary_of(kernel, folder))
        task = built.task(kind_of(target).implementation, protocol)
        with lease(devices or [EMULATOR]):
            for number in range(chosen.rounds):
                for way in WAYS:
                    rounds[way].append(measured(way, task, planned, folder / f"{way}{number}.jsonl"))
    found = found_in(rounds) if target != EMULATOR else {}
    print(f"{'points':28} {'way':8} {'ratio':>7} {'visits apart':>13} {'noise':>7}")
    for name, ways in found.items():
        for way, values in ways.items():
            shown = f"{name} ({values['points']:.0f})"
            print(f"{shown:28} {way:8} {values['ratio']:7.4f} {values['apart']:13.2%} {values['noise']:7.2%}")
    seconds = {
        way: [statistics.median(getattr(one, name) for one in of_way) for name in ("seconds", "first_seconds")]
        for way, of_way in rounds.items()
    }
    for way, (whole, first) in seconds.items():
        print(f"{way}: {whole:.2f} s a round of {len(points)} points, {first:.2f} s until the first is done")
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps({"found": found, "seconds": seconds, "rounds": chosen.rounds}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
