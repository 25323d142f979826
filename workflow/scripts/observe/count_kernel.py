"""Count one kernel's accesses to memory on the emulator: metrics, mistakes found, and one warp's requests in order."""

import json
from dataclasses import asdict
from pathlib import Path

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.observe.counting.rows import MISTAKE_COLUMNS, count_rows, mistake_rows
from kernelsweep.observe.counting.run import CountingRunner
from kernelsweep.observe.counting.selection import DRAWN_BLOCK
from kernelsweep.problems.lanes import LANES
from kernelsweep.results import METRIC_COLUMNS, write_rows
from kernelsweep.sweep.own_study import kernel_of_job
from kernelsweep.sweep.points import Point, instantiation

# Requests of a drawn warp; the longest shipped kernel has 40.
MOST_TRACED = 200

with logged(snakemake.log[0]):
    wildcards, params = snakemake.wildcards, snakemake.params
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    report = read_report(Path(snakemake.input.report))
    counted, checked, drawn = ([Point(values) for values in points] for points in params.points)
    counts, found, traces, failures = [], [], [], []
    if report["status"] != "ok":
        failures = [
            {"study": wildcards.study, "kernel": kernel.name, "mistake": "build_failed", "message": report["message"]}
        ]
    elif counted:
        built = BuiltKernel(kernel, report, Path(snakemake.input.binary))
        protocol = Protocol(None, seed=params.seed)
        task = built.task("", [*counted, *checked, *drawn], protocol)
        runner = CountingRunner(task, kernel_file.read_text(encoding="utf-8"))
        counts = [runner.count(point, instantiation(kernel, point), check=False) for point in counted]
        found = [runner.count(point, instantiation(kernel, point), check=True) for point in checked]
        for point in drawn:
            variant = instantiation(kernel, point)
            warps = [runner.trace(point, variant, 0, warp, MOST_TRACED) for warp in range(DRAWN_BLOCK // LANES)]
            traces.append({"point": dict(point), "warps": [[asdict(request) for request in warp] for warp in warps]})
    for run in (*counts, *found):
        print(f"{run.outcome.status}: {run.point}: {run.outcome.message}".rstrip(": "))
        for mistake in run.mistakes:
            print(f"  {mistake.message}")
    failures += mistake_rows(wildcards.study, kernel, [*counts, *found])
    write_rows(Path(snakemake.output.counts), METRIC_COLUMNS, count_rows(wildcards.study, kernel, counts))
    write_rows(Path(snakemake.output.findings), MISTAKE_COLUMNS, failures)
    Path(snakemake.output.trace).write_text(
        json.dumps({"kernel": kernel.name, "traces": traces}) + "\n", encoding="utf-8"
    )
