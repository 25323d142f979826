"""Count one kernel's accesses to memory on the emulator: metrics, and one warp's requests in order."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.observe.counting.rows import count_rows
from kernelsweep.observe.counting.run import CountedPoint, CountingRunner
from kernelsweep.observe.counting.selection import DRAWN_BLOCK
from kernelsweep.observe.time_limit import within
from kernelsweep.problems.lanes import LANES
from kernelsweep.results import METRIC_COLUMNS, write_rows
from kernelsweep.sweep.own_study import kernel_of_job
from kernelsweep.sweep.points import Point, instantiation

# Requests of a drawn warp; the longest shipped kernel has 40.
MOST_TRACED = 200


def trace_warps(runner: CountingRunner, point: Point, variant: str) -> list[list[dict[str, Any]]]:
    """The requests of each warp of the first block."""
    warps = [runner.trace(point, variant, 0, warp, MOST_TRACED) for warp in range(DRAWN_BLOCK // LANES)]
    return [[asdict(request) for request in warp] for warp in warps]


with logged(snakemake.log[0]):
    wildcards, params = snakemake.wildcards, snakemake.params
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    report = read_report(Path(snakemake.input.report))
    counted, drawn = ([Point(values) for values in points] for points in params.points)
    runs, traces = [], []
    if report["status"] == "ok" and counted:
        built = BuiltKernel(kernel, report, Path(snakemake.input.binary))
        task = built.task("", [*counted, *drawn], Protocol(None, seed=params.seed))
        runner = CountingRunner(task, kernel_file.read_text(encoding="utf-8"))
        for point in counted:
            try:
                runs.append(within(params.timeout_seconds, partial(runner.count, point, instantiation(kernel, point))))
            except (TimeoutError, RuntimeError) as error:
                runs.append(CountedPoint(point, Outcome("timed_out", str(error)), {}))
        for point in drawn:
            try:
                warps = within(
                    params.timeout_seconds, partial(trace_warps, runner, point, instantiation(kernel, point))
                )
            except (TimeoutError, RuntimeError) as error:
                print(f"not drawn: {point}: {error}")
            else:
                traces.append({"point": dict(point), "warps": warps})
    for run in runs:
        print(f"{run.outcome.status}: {run.point}: {run.outcome.message}".rstrip(": "))
    write_rows(Path(snakemake.output.counts), METRIC_COLUMNS, count_rows(wildcards.study, kernel, runs))
    Path(snakemake.output.trace).write_text(
        json.dumps({"kernel": kernel.name, "traces": traces}) + "\n", encoding="utf-8"
    )
