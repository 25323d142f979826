"""Run one kernel's sweep, every point checked and, on a GPU, timed: rows for measurements, samples and builds.

A long sweep is cut into chunks, for each of which this is run, too: it leaves the points in the journals, and a list of
those that failed. Run for the kernel then, it finds all of them there, and makes the rows.
"""

import json
from dataclasses import asdict
from pathlib import Path

from kernelsweep.measure.worker.process import WorkerProcess
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.problems.registry import PROBLEMS

kind = kind_of(snakemake.wildcards.platform)
started = WorkerProcess(kind.implementation)  # It imports what it needs while this process does.

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged, teller
from kernelsweep.measure.chunks import dealt, read_failures, write_failures
from kernelsweep.measure.journal import Journal, chunk_journal, journals_of
from kernelsweep.measure.progress import progress
from kernelsweep.measure.sampling import sampling, share
from kernelsweep.measure.task import kernel_task
from kernelsweep.measure.work import build_rows, do_work, find_work, measurement_rows, sample_rows
from kernelsweep.platforms.lease import leased_device
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.sweep.axes import axes_on_device
from kernelsweep.sweep.kernel_header import read_kernel
from kernelsweep.sweep.kernel_source import source_sha256
from kernelsweep.sweep.launch_plans import launched_points
from kernelsweep.sweep.points import instantiation, points, skip_reason

with logged(snakemake.log[0]) as terminal, started:
    wildcards, params = snakemake.wildcards, snakemake.params
    chunk, chunks = int(wildcards.get("chunk", 0)), int(wildcards.get("chunks", 1))
    kernel_file = Path(snakemake.input.kernel)
    kernel = read_kernel(kernel_file.resolve(), Path.cwd(), PROBLEMS[params.problem])
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    report = read_report(Path(snakemake.input.report))

    sweeps = [axes_on_device(axes, device["multiprocessors"]) for axes in params.axes]
    planned = [
        (point, instantiation(kernel, point), skip_reason(point, kernel, params.restrictions, report["target"]))
        for point in launched_points(kernel.plan, points(*sweeps))
    ]
    measuring = params.measuring
    repeated_runs = min(measuring["repeated_runs"], kind.most_repeated_runs or measuring["repeated_runs"])
    visits = measuring["visits"] if kind.has_clock else 1  # More would show nothing without a clock.
    task = kernel_task(
        kernel,
        report,
        snakemake.input.binary,
        platform=kind.implementation,
        longest=max(point["array_size"] for point, _, _ in planned),
        seed=params.seed,
        repeated_runs=repeated_runs,
        visits=visits,
        sampling=asdict(share(sampling(measuring), visits)),
    )
    if chunk:
        own = dealt([point for point, _, reason in planned if not reason], chunk, chunks, params.seed)
        planned = [entry for entry in planned if entry[0] in own]

    name = f"{wildcards.study}/{kernel.name}" + (f" {chunk}/{chunks}" if chunk else "")
    tell = teller(terminal, name)
    source = source_sha256(kernel_file, Path("kernels/include"))
    of_kernel = Path(params.journal)
    path = chunk_journal(of_kernel, chunk) if chunk else of_kernel
    others = [other for other in journals_of(of_kernel) if other != path]
    failed = read_failures(map(Path, snakemake.input.get("chunks", [])))
    known = {
        "study": wildcards.study,
        "kernel": kernel.name,
        "platform": wildcards.platform,
        "source_sha256": source,
    }

    def write_results() -> None:
        outcomes = work.results()
        if chunk:
            write_failures(Path(snakemake.output[0]), outcomes)
        else:
            rows = measurement_rows(kernel, report, outcomes, device, known)
            write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
            write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(kernel, outcomes))
            write_rows(snakemake.output.builds, BUILD_COLUMNS, build_rows(kernel, report, outcomes, known))
        print(f"{len(outcomes)} points, {sum(outcome.status == 'ok' for outcome in outcomes.values())} ok")

    # The journal before the GPU: who waits for another job's points holds up nobody. And nobody holds a GPU meanwhile
    # who only looks up what is missing, or makes rows of what is there. CUDA starts in do_work()'s workers.
    with Journal(path, tell, others) as journal:
        work = find_work(task, planned, report, journal, device, failed)
        if work.is_done:
            write_results()
        else:
            with leased_device(wildcards.platform, device, tell), progress(name, kernel.problem, terminal) as shown:
                do_work(work, task, journal, measuring["timeout_seconds"], shown.show, started, source, write_results)
