"""Measure one kernel's sweep: run what the journal lacks in a worker process, and make the result rows."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.fingerprint import fingerprint
from kernelsweep.journal import Journal, journal_key
from kernelsweep.kernel_source import KernelSource
from kernelsweep.outcome import Outcome, combined, read_outcome
from kernelsweep.plans import PLANS
from kernelsweep.results import BUILD_COLUMNS, Row, time_columns
from kernelsweep.runner import KernelTask
from kernelsweep.sweep import Point, instantiation

# What a time depends on besides the binary, the point and the settings.
_MEASURING_MODULES = (
    "runner",
    "buffers",
    "plans",
    "sampling",
    "statistics",
    "energy",
    "problems.reduction",
    "problems.exchange",
    "problems.lanes",
    "problems.operations",
    "platforms.gpu",
    "platforms.monitor",
    "platforms.emulator",
    "platforms.emulated_library",
)

# What tells a kernel's variants apart in builds.csv.
_VARIANT_COLUMNS = ("block_size", "unroll", "dtype", "operation", "width", "arguments")

# How long a worker may take to start Python, PyCUDA and a context, and to load the kernel.
_START_SECONDS = 60.0


class Worker:
    """A worker process and the pipes to it, replaced after a crash or a hang."""

    def __init__(self, task: KernelTask, timeout_seconds: float) -> None:
        self._task = task
        self._timeout = timeout_seconds
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process: subprocess.Popen[str] | None = None
        self._prepared: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        """The process that has the device open; None where there is none."""
        return self._process.pid if self._process else None

    def run(self, point: Point, variant: str, check: bool = True, companions: Sequence[int] = ()) -> Outcome:
        """A point's outcome; launch_failed where the worker died over it, timed_out where it didn't answer.

        check, companions  as for runner.Runner.run

        Raises UserError where a worker can't even start.
        """
        request = {"point": asdict(point), "variant": variant, "check": check, "companions": list(companions)}
        process = self._asked(request) or self._asked(request)
        if process is None:
            return Outcome("launch_failed", "the worker process died twice before the point could be handed to it")
        answer = self._answer(process, self._timeout)
        if answer is None:
            self.stop()
            return Outcome("timed_out", f"no result within {self._timeout:g} s (measuring.timeout_seconds)")
        if not answer:
            return Outcome("launch_failed", f"the worker process died ({self._last_words(process)})")
        if answer["lost"]:
            self.stop()
        return read_outcome(answer["outcome"])

    def _asked(self, request: Mapping[str, Any]) -> subprocess.Popen[str] | None:
        """The worker, asked for a point; None where it has died since the point before, over nothing of this one's."""
        process = self._process or self._start()
        try:
            self._send(request)
        except BrokenPipeError:
            self.stop()
            return None
        return process

    def open(self) -> None:
        """Start the worker, if it isn't, and wait until it is ready. Raises UserError where it can't start."""
        if self._process is None:
            self._start()

    def rest(self) -> None:
        """Have the worker, where it is alive, give back its buffers and do nothing more."""
        if self._process is not None:
            try:
                self._send({"rest": True})
            except BrokenPipeError:
                self.stop()
            else:
                self._answer(self._process, self._timeout)

    def kill(self) -> None:
        """Have the worker ended, without waiting until it is: the driver takes its time to clear up after it."""
        for process in filter(None, (self._process, self._prepared)):
            process.kill()

    def stop(self) -> None:
        """End the worker, at once."""
        self.kill()
        for process in filter(None, (self._process, self._prepared)):
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None and not pipe.closed:
                    with contextlib.suppress(BrokenPipeError):  # What was still to be written has no reader.
                        pipe.close()
        self._process = self._prepared = None

    def prepare(self) -> None:
        """Start the process, which imports what it needs and waits; it touches the device only when run() asks."""
        self._messages.seek(0)
        self._messages.truncate()
        package = str(Path(__file__).resolve().parent.parent)
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        self._prepared = subprocess.Popen(
            [sys.executable, "-m", "kernelsweep.worker", self._task.platform],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def _start(self) -> subprocess.Popen[str]:
        if self._prepared is None:
            self.prepare()
        self._process, self._prepared = self._prepared, None
        assert self._process is not None
        with contextlib.suppress(BrokenPipeError):  # Then there's no answer either.
            self._send(asdict(self._task))
        answer = self._answer(self._process, _START_SECONDS)
        if not answer:
            words = "no answer" if answer is None else self._last_words(self._process)
            raise UserError(f"{self._task.platform}: the process that runs the points can't start ({words})")
        return self._process

    @staticmethod
    def _answer(process: subprocess.Popen[str], seconds: float) -> dict[str, Any] | None:
        """The worker's next answer; empty where it died, None where it said nothing for so long."""
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], seconds)[0]:
            return None
        line = process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line.endswith("\n") else {}
        return answer

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _last_words(self, process: subprocess.Popen[str]) -> str:
        """How a dead worker ended, and the last line it printed; all of it goes to standard error."""
        code = process.wait()
        self.stop()
        self._messages.seek(0)
        messages = self._messages.read()
        print(messages, file=sys.stderr, flush=True)
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return ": ".join([how, *messages.strip().splitlines()[-1:]])


def measure(
    task: KernelTask,
    planned: Sequence[tuple[Point, str, str | None]],
    report: Mapping[str, Any],
    journal: Journal,
    device: Mapping[str, Any],
    timeout_seconds: float,
    progress: Callable[[int, int, Point, Outcome], None] | None = None,
) -> dict[Point, Outcome]:
    """The outcome of every planned point.

    planned   points in the results' order, each with its variant's C++ name and the reason it is skipped, or None
    report    the kernel's build report; where the build failed, so do all points that aren't skipped
    device    its name and driver are part of what determines a point
    progress  told after each point: how many are done, of how many, the point and its outcome

    A point is visited task.visits times, each time by a fresh worker and in another order, shuffled by the task's seed:
    so drift does not fall on one variant, and what differs from process to process shows in the samples. The first
    visit checks the result. Visits that the journal has are not repeated; the others are recorded as they finish. A
    failed point is not visited again in this run, but in the next.
    """
    outcomes = {point: Outcome("skipped", reason) for point, _, reason in planned if reason}
    if report["status"] != "ok":
        return {point: outcomes.get(point) or Outcome("build_failed", report["message"]) for point, _, _ in planned}
    code = fingerprint(Path(__file__).parent, _MEASURING_MODULES)
    visited: dict[Point, dict[int, Outcome]] = {point: {} for point, _, reason in planned if not reason}
    missing: list[list[tuple[Point, str, str]]] = [[] for _ in range(task.visits)]
    for (point, variant, reason), visit in itertools.product(planned, range(task.visits)):
        if reason:
            continue
        key = journal_key(
            {
                "binary": task.variants[variant]["binary_sha256"],
                "point": point.values,
                "sampling": task.sampling,
                "repeated_runs": task.repeated_runs,
                "seed": task.seed,
                "code": code,
                "device": device["name"],
                "driver": device.get("driver"),
                "visit": visit,
            }
        )
        known = journal.get(key)
        if known:
            visited[point][visit] = read_outcome(known["outcome"])
        else:
            missing[visit].append((point, variant, key))

    total = sum(map(len, missing))
    done = 0
    failed: set[Point] = set()
    visits = [visit for visit, of_visit in enumerate(missing) if of_visit]
    workers = {visit: Worker(task, timeout_seconds) for visit in visits}
    try:
        for visit, following in itertools.zip_longest(visits, visits[1:]):
            if following is not None:
                workers[following].prepare()  # Imports take as long as a context; they disturb no measurement.
            workers[visit].open()
            companions = [worker.pid for other, worker in workers.items() if other != visit and worker.pid]
            for point, variant, key in _shuffled(missing[visit], random.Random(f"{task.seed} {visit}")):
                done += 1
                if point in failed:
                    continue
                outcome = workers[visit].run(point, variant, visit == 0, companions)
                visited[point][visit] = outcome
                if outcome.status == "ok":
                    journal.add(key, {"measured": time.strftime("%FT%TZ", time.gmtime()), "outcome": asdict(outcome)})
                else:
                    failed.add(point)
                if progress:
                    progress(done, total, point, outcome)
            # It stays, without its buffers, so that the next one's context lies elsewhere in the memory.
            workers[visit].rest()
    finally:
        for worker in workers.values():
            worker.kill()
        for worker in workers.values():
            worker.stop()
    for point, of_point in visited.items():
        outcomes[point] = combined([of_point[visit] for visit in sorted(of_point)])
    return {point: outcomes[point] for point, _, _ in planned}


def _shuffled(missing: Sequence[tuple[Point, str, str]], generator: random.Random) -> list[tuple[Point, str, str]]:
    """The points in random order, but those of one input after another: each change of it costs up to a second."""
    of_input: dict[tuple[str, str], list[tuple[Point, str, str]]] = {}
    for entry in missing:
        of_input.setdefault((entry[0].dtype, entry[0].operation), []).append(entry)
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
                **point.values,
                "device": device["name"],
                "launches": len(launches),
                "grid_size": launches[0].grid,
                "status": outcome.status,
                "message": " ".join(outcome.message.split()),
                "flags": " ".join(_flags(kernel, outcome)),
                "binary_sha256": report["variants"].get(instantiation(kernel, point), {}).get("binary_sha256"),
                **_times(point, outcome, device),
                "relative_error": None if outcome.relative_error is None else f"{outcome.relative_error:.4g}",
                "bit_identical": {None: "", True: "yes", False: "no"}[outcome.bit_identical],
                "output": outcome.output,
            }
        )
    return rows


def _flags(kernel: KernelSource, outcome: Outcome) -> list[str]:
    """The remarks on a point, in the order in which results.MEASUREMENT_COLUMNS explains them."""
    remarks = {
        "noisy": any(not visit.settled for visit in outcome.visits),
        "undefined_behaviour": bool(kernel.undefined_behaviour),
        "throttled": any(not visit.clean for visit in outcome.visits),
        "other_processes": any(visit.other_processes for visit in outcome.visits),
    }
    return [name for name, holds in remarks.items() if holds]


def _times(point: Point, outcome: Outcome, device: Mapping[str, Any]) -> Row:
    """The columns that only a timed point has."""
    visits = outcome.visits
    if outcome.status != "ok" or not visits:
        return {}
    size = point.array_size * np.dtype(point.dtype).itemsize
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
        "seconds": f"{sum(visit.seconds for visit in visits):.4f}",
        "busy_seconds": f"{sum(visit.busy_seconds for visit in visits):.4f}",
    }


def sample_rows(kernel: KernelSource, outcomes: Mapping[Point, Outcome]) -> list[Row]:
    """The kernel's rows of samples/<study>/<kernel>.csv."""
    return [
        {
            **point.values,
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
    ]


def build_rows(
    kernel: KernelSource, report: Mapping[str, Any], outcomes: Mapping[Point, Outcome], known: Mapping[str, Any]
) -> list[Row]:
    """The kernel's rows of builds.csv: one for each variant that some point runs."""
    rows: dict[tuple[Any, ...], Row] = {}
    for point, outcome in outcomes.items():
        variant = {name: point.values[name] for name in _VARIANT_COLUMNS}
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
