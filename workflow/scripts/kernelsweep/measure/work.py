"""Measure one kernel's sweep: run what the journal lacks in a worker process, and make the result rows."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelsweep.code_hash import code_hash, imported_modules
from kernelsweep.measure.journal import Journal, journal_key
from kernelsweep.measure.outcome import Outcome, combined, flags_of, read_outcome
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.worker.client import Worker
from kernelsweep.measure.worker.process import WorkerProcess
from kernelsweep.problems.registry import PROBLEMS
from kernelsweep.results import BUILD_COLUMNS, Row, time_columns
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import PLANS
from kernelsweep.sweep.points import Point, instantiation

# A visit to be paid: the point, its variant's C++ name, and the parts of its key in the journal.
_Missing = tuple[Point, str, dict[str, Any]]


@dataclass
class Work:
    """The visits to a kernel's points: those that the journal has, and those that are to be paid.

    order     the points, as the results have them
    outcomes  of points that aren't visited
    visited   the outcomes of visits, by their number from 0
    missing   of each visit, what is to be run
    """

    order: list[Point]
    outcomes: dict[Point, Outcome]
    visited: dict[Point, dict[int, Outcome]]
    missing: list[list[_Missing]]

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be run."""
        return not any(self.missing)

    def results(self) -> dict[Point, Outcome]:
        """The outcome of every point, once all is done."""
        of_visits = {
            point: combined([of_point[visit] for visit in sorted(of_point)]) for point, of_point in self.visited.items()
        }
        return {point: self.outcomes.get(point) or of_visits[point] for point in self.order}


def find_work(
    task: KernelTask,
    planned: Sequence[tuple[Point, str, str | None]],
    report: Mapping[str, Any],
    journal: Journal,
    device: Mapping[str, Any],
    failed: Mapping[Point, Outcome] | None = None,
) -> Work:
    """What is known of the planned points, and what is to be run: to be looked up before a GPU is kept for it.

    planned   points in the results' order, each with its variant's C++ name and the reason it is skipped, or None
    report    the kernel's build report; where the build failed, so do all points that aren't skipped
    device    its name and driver are part of what determines a point
    failed    points that failed in this run, in another job; they aren't run again
    """
    order = [point for point, _, _ in planned]
    outcomes = {point: Outcome("skipped", reason) for point, _, reason in planned if reason}
    if report["status"] != "ok":
        outcomes = {point: outcomes.get(point) or Outcome("build_failed", report["message"]) for point in order}
    outcomes = {**(failed or {}), **outcomes}
    visited: dict[Point, dict[int, Outcome]] = {point: {} for point in order if point not in outcomes}
    work = Work(order, outcomes, visited, [[] for _ in range(task.visits)])
    code = measuring_code()
    for (point, variant, _), visit in itertools.product(planned, range(task.visits)):
        if point in outcomes:
            continue
        parts = {
            "binary": task.variants[variant]["binary_sha256"],
            "point": dict(point),
            "sampling": task.sampling,
            "repeated_runs": task.repeated_runs,
            "seed": task.seed,
            "code": code,
            "device": device["name"],
            "driver": device.get("driver"),
            "visit": visit,
        }
        known = journal.get(journal_key(parts))
        if known:
            work.visited[point][visit] = read_outcome(known["outcome"])
        else:
            work.missing[visit].append((point, variant, parts))
    return work


def measuring_code() -> str:
    """A hash of the code that a time depends on besides the binary, the point and the settings."""
    package = Path(__file__).parents[1]
    starts = [package / name for name in ("measure/runner.py", "platforms/gpu.py", "platforms/emulator.py")]
    return code_hash(sorted({*starts, *(module for file in starts for module in imported_modules(file, package))}))


def do_work(
    work: Work,
    task: KernelTask,
    journal: Journal,
    timeout_seconds: float,
    progress: Callable[[int, int, Point, Outcome], None] | None = None,
    started: WorkerProcess | None = None,
    source_sha256: str = "",
    at_end: Callable[[], None] = lambda: None,
) -> None:
    """Run what is missing, and add it to the work and to the journal.

    progress  told after each point: how many are done, of how many, the point and its outcome
    started   a worker's process for the first visit, where the caller has one
    source_sha256  the kernel's, which the journal notes beside what is measured
    at_end         called once all is done, while the workers end, which takes a driver its time

    A point is visited task.visits times, each time by a fresh worker and in another order, shuffled by the task's seed:
    so drift does not fall on one variant, and what differs from process to process shows in the samples. The first
    visit checks the result. Visits that the journal has are not repeated; the others are recorded as they finish. A
    failed point is not visited again in this run, but in the next.
    """
    total = sum(map(len, work.missing))
    done = 0
    failed: set[Point] = set()
    visits = [visit for visit, of_visit in enumerate(work.missing) if of_visit]
    workers = {visit: Worker(task, timeout_seconds, started if visit == visits[0] else None) for visit in visits}
    recorded: Future[None] | None = None

    def record(outcome: Outcome, parts: Mapping[str, Any]) -> None:
        value = {
            "measured": time.strftime("%FT%TZ", time.gmtime()),
            "outcome": asdict(outcome),
            # The key is a hash: what it is of is said beside it, for comparisons with later measurements.
            "of": parts,
            "source_sha256": source_sha256,
        }
        journal.add(journal_key(parts), value)

    try:
        with ThreadPoolExecutor(1) as recorder:  # It writes a point down while the next one runs.
            for visit, following in itertools.zip_longest(visits, visits[1:]):
                if following is not None:
                    workers[following].prepare()  # Imports take as long as a context; they disturb no measurement.
                workers[visit].open()
                companions = [worker.pid for other, worker in workers.items() if other != visit and worker.pid]
                generator = random.Random(f"{task.seed} {visit}")
                for point, variant, parts in _shuffled(work.missing[visit], task.problem, generator):
                    done += 1
                    if point in failed:
                        continue
                    checked = work.visited[point].get(0)
                    updates_input = checked is not None and checked.updates_input
                    outcome = workers[visit].run(
                        point, variant, check=visit == 0, companions=companions, updates_input=updates_input
                    )
                    work.visited[point][visit] = outcome
                    if recorded:
                        recorded.result()
                    if outcome.status == "ok":
                        recorded = recorder.submit(record, outcome, parts)
                    else:
                        failed.add(point)
                    if progress:
                        progress(done, total, point, outcome)
                # It stays, without its buffers, so that the next one's context lies elsewhere in the memory.
                workers[visit].rest()
            if recorded:
                recorded.result()
        for worker in workers.values():
            worker.kill()
        at_end()
    finally:
        for worker in workers.values():
            worker.kill()
        for worker in workers.values():
            worker.stop()


def measure(
    task: KernelTask,
    planned: Sequence[tuple[Point, str, str | None]],
    report: Mapping[str, Any],
    journal: Journal,
    device: Mapping[str, Any],
    timeout_seconds: float,
    progress: Callable[[int, int, Point, Outcome], None] | None = None,
    started: WorkerProcess | None = None,
) -> dict[Point, Outcome]:
    """The outcome of every planned point: find_work() and do_work(), for who has the device to himself anyway."""
    work = find_work(task, planned, report, journal, device)
    do_work(work, task, journal, timeout_seconds, progress, started)
    return work.results()


def _shuffled(missing: Sequence[_Missing], problem: str, generator: random.Random) -> list[_Missing]:
    """The points in random order, but those of one input after another: each change of it costs up to a second."""
    axes = PROBLEMS[problem].instance_axes
    of_input: dict[tuple[Any, ...], list[_Missing]] = {}
    for entry in missing:
        of_input.setdefault(tuple(entry[0][axis] for axis in axes), []).append(entry)
    groups = list(of_input.values())
    generator.shuffle(groups)
    for group in groups:
        generator.shuffle(group)
    return [entry for group in groups for entry in group]


def measurement_rows(
    kernel: KernelSource,
    report: Mapping[str, Any],
    outcomes: Mapping[Point, Outcome],
    device: Mapping[str, Any],
    known: Mapping[str, Any],
) -> list[Row]:
    """The kernel's rows of measurements.csv, in the outcomes' order.

    known  the columns that the caller knows: study, kernel, platform, source_sha256
    """
    rows = []
    for point, outcome in outcomes.items():
        launches = PLANS[kernel.plan](point).launches
        rows.append(
            {
                **known,
                **point,
                "device": device["name"],
                "launches": len(launches),
                "grid_size": launches[0].grid,
                "status": outcome.status,
                "message": " ".join(outcome.message.split()),
                "flags": " ".join(flags_of(outcome, bool(kernel.undefined_behaviour))),
                "binary_sha256": report["variants"].get(instantiation(kernel, point), {}).get("binary_sha256"),
                **_times(outcome, kernel.problem.work(point)["bytes"], device),
                "relative_error": None if outcome.relative_error is None else f"{outcome.relative_error:.4g}",
                "bit_identical": {None: "", True: "yes", False: "no"}[outcome.bit_identical],
                "output": outcome.output,
            }
        )
    return rows


def _times(outcome: Outcome, size: int, device: Mapping[str, Any]) -> Row:
    """The columns that only a timed point has; `size` is the input's, in bytes."""
    visits = outcome.visits
    if outcome.status != "ok" or not visits:
        return {}
    powers = [visit.power_w for visit in visits if visit.power_w is not None]
    energies = [visit.energy_mj for visit in visits if visit.energy_mj is not None]
    return {
        **time_columns([visit.counted for visit in visits], size, device["peak_bandwidth_gbs"]),
        "clock_mhz": min((visit.clock_mhz for visit in visits if visit.clock_mhz is not None), default=None),
        "temperature_c": max(
            (visit.temperature_c for visit in visits if visit.temperature_c is not None), default=None
        ),
        "power_w": f"{sum(powers) / len(powers):.1f}" if powers else "",
        "energy_mj": f"{energies[0]:.4g}" if energies else "",
        "throttle_reasons": " ".join(sorted({reason for visit in visits for reason in visit.throttle_reasons})),
        "device_uuid": " ".join(sorted({visit.device_uuid for visit in visits if visit.device_uuid})),
        "seconds": f"{sum(visit.seconds for visit in visits):.4f}",
        "busy_seconds": f"{sum(visit.busy_seconds for visit in visits):.4f}",
    }


def sample_rows(kernel: KernelSource, outcomes: Mapping[Point, Outcome]) -> Iterator[Row]:
    """The kernel's rows of samples/<study>/<kernel>.csv, one at a time: there may be millions of them."""
    return (
        {
            **point,
            "grid_size": grid_size,
            "visit": number,
            "sample": sample,
            "time_us": f"{time_us:.3f}",
            "throttled": "yes" if sample in throttled else "",
        }
        for point, outcome in outcomes.items()
        for grid_size in [PLANS[kernel.plan](point).launches[0].grid]
        for number, visit in enumerate(outcome.visits)
        for throttled in [set(visit.throttled)]
        for sample, time_us in enumerate(visit.samples)
    )


def build_rows(
    kernel: KernelSource, report: Mapping[str, Any], outcomes: Mapping[Point, Outcome], known: Mapping[str, Any]
) -> list[Row]:
    """The kernel's rows of builds.csv: one for each variant that some point runs."""
    rows: dict[tuple[Any, ...], Row] = {}
    axes = [name for name, axis in kernel.problem.axes.items() if axis.in_variant]
    for point, outcome in outcomes.items():
        variant = {name: point[name] for name in axes}
        if outcome.status == "skipped":
            continue
        resources = report["variants"].get(instantiation(kernel, point), {})
        row = rows.setdefault(
            tuple(variant.values()),
            {
                **{name: known[name] for name in ("study", "kernel", "platform")},
                **variant,
                "target": report["target"],
                "status": report["status"],
                "message": " ".join(report["message"].split()) if report["status"] != "ok" else "",
                **{name: value for name, value in resources.items() if name in BUILD_COLUMNS},
            },
        )
        if outcome.occupancy is not None:
            row["occupancy"] = f"{outcome.occupancy:.4f}"
    return list(rows.values())
