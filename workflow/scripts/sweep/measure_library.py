"""Measure a library's function at every size of a study, checked and timed like a kernel."""

from pathlib import Path

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged, notifier
from kernelsweep.device.description import read_device
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.task import BuiltKernel, measuring_protocol
from kernelsweep.results import MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import Rival
from kernelsweep.sweep.baselines.libraries import IMPLEMENTATION, NOT_COMPILED, as_kernel, library_report, planned_calls
from kernelsweep.sweep.identity import identities
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.kernel_job import KernelJob
from kernelsweep.sweep.rows import measurement_rows, sample_rows
from kernelsweep.sweep.visits import outcomes_without_runs

with logged(snakemake) as terminal:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    library, report_file = (next(map(Path, files), None) for files in (snakemake.input.library, snakemake.input.report))
    device = read_device(snakemake.input.device)
    rival = as_kernel(wildcards.rival, problem_of(plan.problem, Path.cwd()), Rival.of_job(plan.call))
    planned = planned_calls(rival, **plan.sweep)
    built = read_json(report_file) if report_file else NOT_COMPILED
    report = library_report(rival, library, built, planned)
    protocol = measuring_protocol(plan.measuring, plan.seed, kind_of(wildcards.platform))
    task = BuiltKernel(rival, report, library or Path()).task(IMPLEMENTATION, protocol)

    name = f"{wildcards.study}/{rival.name}"
    known_outcomes = outcomes_without_runs(planned, report)
    with Journal(Path(plan.journal), notifier(terminal, name)) as journal:
        job = KernelJob(name, task, wildcards.platform, device, journal, "", None, terminal)
        outcomes = job.sweep(planned, known_outcomes)

    known = {"study": wildcards.study, "kernel": rival.name, "platform": wildcards.platform}
    precision = plan.measuring["relative_precision"]
    rows = measurement_rows(rival, report, outcomes, device, known, precision, identity_of=identities(task, device))
    # The library's launches and grid sizes are unknown.
    rows = [{**row, "launches": None, "grid_size": None} for row in rows]
    write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
    write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(rival, outcomes))
    print(f"{len(rows)} points, {sum(row['status'] == 'ok' for row in rows)} ok")
