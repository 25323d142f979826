"""Run one kernel's sweep, every point checked and, on a GPU, timed: rows for measurements, samples and builds.

The emulator watches every access of every point, so that its sweep is the kernel's proof, too.

A kernel without a binary among the inputs is compiled here, unit by unit, while those that are ready run.

A long sweep is cut into chunks, for each of which this is run, too: it leaves the points in the journals, and a list of
those that failed. Run for the kernel then, it finds all of them there, and makes the rows.
"""

from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path

from kernelsweep.build.build import gpu_source
from kernelsweep.build.build_report import new_report, read_report
from kernelsweep.build.builder import Builder
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.json_files import read_device
from kernelsweep.logs import logged, notifier
from kernelsweep.measure.chunks import points_of_chunk, read_failures, write_failures
from kernelsweep.measure.identity import identities
from kernelsweep.measure.journal import Journal, chunk_journal, journals_of
from kernelsweep.measure.point.instances import Instances
from kernelsweep.measure.progress import progress
from kernelsweep.measure.proof_rows import proof_rows
from kernelsweep.measure.references import prepare_references
from kernelsweep.measure.rows import build_rows, measurement_rows, sample_rows
from kernelsweep.measure.search.search import Bench, search
from kernelsweep.measure.task import BuiltKernel, measuring_protocol
from kernelsweep.measure.tries import end_try
from kernelsweep.measure.work import begin_to_build, do_work, find_work, note_sweep, outcomes_without_runs
from kernelsweep.measure.worker.client import Workers
from kernelsweep.platforms.gpus import gpus_of
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.lease import free_gpus, leased_device
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, PROOF_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.sweep.candidates import axes_of_places
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.constants import hint_of_constants
from kernelsweep.sweep.kernels.source import source_sha256
from kernelsweep.sweep.kernels.units import spread_units
from kernelsweep.sweep.own_study import kernel_of_job
from kernelsweep.sweep.points import units
from kernelsweep.sweep.study_quantities import objective_of

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params
    kind = kind_of(wildcards.platform)
    chunk, chunks = int(wildcards.get("chunk", 0)), int(wildcards.get("chunks", 1))
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    source = source_sha256(kernel_file, map(Path, snakemake.input.included))
    device = read_device(snakemake.input.device)
    binary, *_ = [*map(Path, snakemake.input.get("binary", [])), None]
    report = read_report(Path(snakemake.input.report[0])) if binary else new_report(params.target, "")

    objective = objective_of(params.compared)
    conditions = (params.restrictions, report["target"], params.tied, bool(params.search))
    sweep = KernelSweep(kernel, params.axes, device["multiprocessors"], *conditions)
    candidates = sweep.candidates() if params.search and kind.has_clock else None
    # A search has a plan of what it proposes only.
    planned = sweep.planned() if candidates is None else []
    protocol = replace(measuring_protocol(params.measuring, params.seed, kind), racing=params.racing and kind.has_clock)
    built = BuiltKernel(kernel, report, binary)
    task = built.task(kind.implementation, [each.point for each in planned], protocol)
    if chunk:
        own = points_of_chunk([each.point for each in planned if not each.skipped], chunk, chunks, params.seed)
        planned = [each for each in planned if each.point in own]
    failed = read_failures(map(Path, snakemake.input.get("chunks", [])))
    known_outcomes = failed | outcomes_without_runs(planned, report)

    name = f"{wildcards.study}/{kernel.name}" + (f" {chunk}/{chunks}" if chunk else "")
    notify = notifier(terminal, name)
    of_kernel = Path(params.journal)
    path = chunk_journal(of_kernel, chunk) if chunk else of_kernel
    others = [other for other in journals_of(of_kernel) if other != path]
    # The journal comes before the GPU: a job that waits for another job's points keeps no GPU, and neither does a job
    # that only looks up what is missing or makes rows. CUDA starts in the workers.
    with Journal(path, notify, others) as journal, ExitStack() as building, ExitStack() as at_the_device:
        builder = None
        if binary is None:
            files = gpu_source(kernel_file, kernel, params.include)
            # A core is left for the points.
            workers = max(1, snakemake.threads - 1)
            builder = building.enter_context(Builder(files, params.target, UnitStore(Path(params.store)), workers))
            run = [each.point for each in planned if not each.skipped]
            builder.offer(spread_units(units(kernel, run)))

        @cache
        def prepare():
            checked = planned
            if candidates is not None:
                sizes = candidates.groups(axes_of_places(candidates, kernel.problem))
                checked = [sweep.plan(candidates[int(numbers[0])]) for numbers in sizes]
            prepare_references(task, checked, kind.has_clock, notify)

        @cache
        def lease():
            prepare()
            # A search runs on all that are free. The lease leaves one visible.
            gpus = [gpu.uuid for gpu in gpus_of(wildcards.platform)] if params.search and kind.needs_gpu else []
            at_the_device.enter_context(leased_device(wildcards.platform, device, notify))
            return gpus

        def open_device(phase):
            lease()
            shown = progress(f"{name} {phase}".strip(), kernel.problem, terminal, objective)
            return at_the_device.enter_context(shown).show

        if candidates is not None:
            bench = Bench(
                journal,
                device,
                open_device,
                sweep.plan,
                source,
                objective,
                lambda: free_gpus(lease()),
                builder,
                lambda point: units(kernel, [point]),
            )
            outcomes = search(task, candidates, params.search["budget"], bench)
        else:
            work = find_work(task, planned, known_outcomes, journal, device, builder)
            if not work.is_done:
                instances = Instances(task)
                instances.make_ahead(*work.checked_and_timed())
                workers = building.enter_context(Workers(task, work.visits, instances))
                prepare()
                if builder:  # After what forks this process, which has threads then.
                    begin_to_build(work, task, builder)
                shown = open_device("")
                # Before another job has the device: the ends of contexts would disturb its samples.
                at_the_device.callback(workers.stop)
                do_work(work, task, journal, workers, shown, source, builder)
            outcomes = work.results()
        at_the_device.close()
        if chunk:
            write_failures(Path(snakemake.output[0]), outcomes)
        else:
            report = builder.report() if builder else report
            known = {"study": wildcards.study, "kernel": kernel.name, "platform": wildcards.platform}
            known_of_rows = {**known, "source_sha256": source}
            precision = params.measuring["relative_precision"]
            rows = measurement_rows(
                kernel,
                report,
                outcomes,
                device,
                known_of_rows,
                precision,
                hint_of_constants(kernel),
                identities(task, device),
            )
            write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
            write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(kernel, outcomes))
            write_rows(snakemake.output.builds, BUILD_COLUMNS, build_rows(kernel, report, outcomes, known))
            identity_of = identities(task, device)
            sweep = []
            for point, row in zip(outcomes, rows, strict=True):
                binary = row["binary_sha256"]
                sweep.append((point, row["status"], identity_of(point, binary, None) if binary else None))
            note_sweep(journal, source, sweep)
            end_try(of_kernel, params.number, outcomes.values())
            if proofs := snakemake.output.get("proofs"):
                proven = {"study": wildcards.study, "kernel": kernel.name, "source_sha256": source}
                write_rows(proofs, PROOF_COLUMNS, proof_rows(kernel, outcomes, proven))
        print(f"{len(outcomes)} points, {sum(outcome.status == 'ok' for outcome in outcomes.values())} ok")
