"""Measure a library's reduction at every size, type and operation of a study, checked and timed as kernels are."""

import json
from dataclasses import asdict
from pathlib import Path

from kernelsweep.baselines.libraries import IMPLEMENTATION, as_kernel, library_report, planned_calls
from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged, teller
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.progress import progress
from kernelsweep.measure.sampling import sampling, share
from kernelsweep.measure.task import kernel_task
from kernelsweep.measure.work import measure, measurement_rows, sample_rows
from kernelsweep.platforms.lease import leased_device
from kernelsweep.results import MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params
    library = Path(snakemake.input.library)
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    rival = as_kernel(wildcards.rival)
    planned = planned_calls(wildcards.rival, params.axes, params.restrictions)
    built = read_report(Path(snakemake.input.report))
    report = library_report(wildcards.rival, library, built, planned)
    measuring = params.measuring
    task = kernel_task(
        rival,
        report,
        library,
        platform=IMPLEMENTATION,
        longest=max(point["array_size"] for point, _, _ in planned),
        seed=params.seed,
        repeated_runs=measuring["repeated_runs"],
        visits=measuring["visits"],
        sampling=asdict(share(sampling(measuring), measuring["visits"])),
    )

    name = f"{wildcards.study}/{rival.name}"
    tell = teller(terminal, name)
    with (
        Journal(Path(params.journal), tell) as journal,
        leased_device(wildcards.platform, device, tell),
        progress(name, rival.problem, terminal) as shown,
    ):
        timeout = measuring["timeout_seconds"]
        outcomes = measure(task, planned, report, journal, device, timeout, shown.show)

    known = {"study": wildcards.study, "kernel": rival.name, "platform": wildcards.platform}
    rows = measurement_rows(rival, report, outcomes, device, known)
    # How many launches of which grids it makes is its own affair.
    rows = [{**row, "launches": None, "grid_size": None} for row in rows]
    write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
    write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(rival, outcomes))
    print(f"{len(rows)} points, {sum(row['status'] == 'ok' for row in rows)} ok")
