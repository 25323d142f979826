"""Count one kernel's accesses to memory on the emulator."""

from functools import partial
from pathlib import Path

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.observe.counting.rows import count_rows
from kernelsweep.observe.counting.run import CountedPoint, CountingRunner
from kernelsweep.observe.time_limit import within
from kernelsweep.results import METRIC_COLUMNS, write_rows
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation
from kernelsweep.sweep.study import kernel_of_job

with logged(snakemake.log[0]):
    wildcards, params = snakemake.wildcards, snakemake.params
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    report = read_report(Path(snakemake.input.report))
    counted = [Point(values) for values in params.points]
    runs = []
    if report["status"] == "ok" and counted:
        built = BuiltKernel(kernel, report, Path(snakemake.input.binary))
        task = built.task("", Protocol(None, seed=params.seed))
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
