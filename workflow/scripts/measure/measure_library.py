"""Measure a library's reduction at every size, type and operation of a study, checked and timed as kernels are."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.baselines.libraries import as_kernel, planned_points, rival_report
from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged, teller
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.progress import progress
from kernelsweep.measure.sampling import sampling, share
from kernelsweep.measure.task import kernel_task
from kernelsweep.measure.work import measure, measurement_rows, sample_rows
from kernelsweep.platforms.choose import check_driver
from kernelsweep.platforms.lease import leased_gpu
from kernelsweep.results import MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params
    library = Path(snakemake.input.library)
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    rival = as_kernel(wildcards.rival)
    planned = planned_points(rival, params.axes, params.restrictions)
    built = read_report(Path(snakemake.input.report))
    report = rival_report(wildcards.rival, library, built, planned)
    measuring = params.measuring
    task = kernel_task(
        rival,
        report,
        library,
        emulated=False,
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
        leased_gpu(wildcards.platform, tell) as gpu,
        progress(name, rival.problem, terminal) as shown,
    ):
        check_driver(gpu, device)
        print(f"on {gpu.name}, {gpu.uuid}", flush=True)
        timeout = measuring["timeout_seconds"]
        outcomes = measure(replace(task, platform="rival"), planned, report, journal, device, timeout, shown.show)

    known = {"study": wildcards.study, "kernel": rival.name, "platform": wildcards.platform}
    rows = measurement_rows(rival, report, outcomes, device, known)
    # How many launches of which grids it makes is its own affair.
    rows = [{**row, "launches": None, "grid_size": None} for row in rows]
    write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
    write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(rival, outcomes))
    print(f"{len(rows)} points, {sum(row['status'] == 'ok' for row in rows)} ok")
