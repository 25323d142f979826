"""Count one kernel's accesses to memory on the emulator."""

from functools import partial
from pathlib import Path

from kernelsweep.build.of_job import built_meanwhile
from kernelsweep.logs import logged
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.observe.counting.run import CountedPoint, CountingRunner, count_rows, within
from kernelsweep.results import METRIC_COLUMNS, write_rows
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation
from kernelsweep.sweep.study import kernel_of_job

wildcards, params, kernel_file = snakemake.wildcards, snakemake.params, Path(snakemake.input.kernel)
with logged(snakemake.log[0]), built_meanwhile(params.build, kernel_file, snakemake.threads) as (report, binary):
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    counted = [Point(values) for values in params.points]
    runs = []
    if report["status"] == "ok" and counted:
        task = BuiltKernel(kernel, report, binary).task("", Protocol(None, seed=params.seed))
        runner = CountingRunner(task, kernel_file.read_text(encoding="utf-8"))
        for point in counted:
            variant = instantiation(kernel, point)
            if message := report["failed"].get(variant):
                runs.append(CountedPoint(point, Outcome("build_failed", message), {}))
                continue
            try:
                runs.append(within(params.timeout_seconds, partial(runner.count, point, variant)))
            except (TimeoutError, RuntimeError) as error:
                runs.append(CountedPoint(point, Outcome("timed_out", str(error)), {}))
    for run in runs:
        print(f"{run.outcome.status}: {run.point}: {run.outcome.message}".rstrip(": "))
    write_rows(Path(snakemake.output[0]), METRIC_COLUMNS, count_rows(wildcards.study, kernel, runs))
