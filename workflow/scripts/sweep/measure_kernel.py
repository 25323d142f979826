"""Run one kernel's sweep, every point checked and, on a GPU, timed: rows for measurements, samples and builds.

The emulator watches every access of every point, so that its sweep is the kernel's proof, too.

A kernel without a binary among the inputs is compiled here: for the emulator at once, and for a GPU unit by unit, while
those that are ready run.

A long sweep is cut into chunks, for each of which this is run, too: it leaves the points in the journals, and a list of
those that failed. Run for the kernel then, it finds all of them there, and makes the rows.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged, notifier
from kernelsweep.base.sandbox import is_untrusted
from kernelsweep.compile.binaries import new_report
from kernelsweep.compile.build import gpu_source
from kernelsweep.compile.builder import Builder, as_nvcc_decides, built_meanwhile, gpu_resources
from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.device.description import read_device
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.task import BuiltKernel, measuring_protocol
from kernelsweep.errors import StudyError
from kernelsweep.reasons import Reason
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, PROOF_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.study.kernel_sweep import KernelSweep, units
from kernelsweep.study.kernels.source import source_sha256, source_text
from kernelsweep.study.kernels.units import spread_units
from kernelsweep.study.study import kernel_of_job
from kernelsweep.sweep.against import read_against
from kernelsweep.sweep.candidate_job import others_go_on
from kernelsweep.sweep.chunks import points_of_chunk, read_failures, write_failures
from kernelsweep.sweep.editions import note_checks
from kernelsweep.sweep.identity import identities
from kernelsweep.sweep.journal import Journal, chunk_journal, journals_of
from kernelsweep.sweep.kernel_job import KernelJob
from kernelsweep.sweep.proof_rows import proof_rows
from kernelsweep.sweep.recorded import note_return
from kernelsweep.sweep.rows import build_rows, measurement_rows, sample_rows
from kernelsweep.sweep.tries import end_try
from kernelsweep.sweep.visits import outcomes_without_runs

with logged(snakemake) as terminal, others_go_on(snakemake), ExitStack() as building:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    kind = kind_of(wildcards.platform)
    chunk, chunks = int(wildcards.get("chunk", 0)), int(wildcards.get("chunks", 1))
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**plan.kernel)
    source = source_sha256(kernel_file, map(Path, snakemake.input.included))
    device = read_device(snakemake.input.device)
    store = UnitStore(Path(plan.store))
    binary: Path | None
    if not plan.build:
        binary, report_file = map(Path, snakemake.input.build)
        report = read_json(report_file)
    elif kind.has_clock:
        report, binary = new_report(plan.build["target"], ""), None
    else:
        with ThreadPoolExecutor(1) as beside:  # It ends before what has to be a fork of one thread.
            is_wanted = plan.decides and not is_untrusted()
            resources = beside.submit(gpu_resources, plan.build, kernel_file) if is_wanted else None
            built = built_meanwhile(plan.build, kernel_file, snakemake.threads, terminal)
            report, binary = building.enter_context(built)
            if plan.is_candidate:
                report = as_nvcc_decides(report, plan.build, kernel_file)
        if resources:
            name = text_name(wildcards.study, kernel.name, source, "registers")
            store.keep_text(name, json.dumps(resources.result()))

    sweep = KernelSweep(kernel, multiprocessors=device["multiprocessors"], target=report["target"], **plan.sweep)
    candidates = sweep.candidates() if plan.search and kind.has_clock else None
    # A search has a plan of what it proposes only.
    planned = sweep.planned() if candidates is None else []
    protocol = measuring_protocol(plan.measuring, plan.seed, kind)
    task = BuiltKernel(kernel, report, binary).task(kind.implementation, protocol)
    against = None
    if plan.against:
        against = read_against(plan.against, device, task, report["target"], store, building)
        task = replace(task, against=against.digest)
    if chunk:
        own = points_of_chunk([each.point for each in planned if not each.skipped], chunk, chunks, plan.seed)
        planned = [each for each in planned if each.point in own]

    name = f"{wildcards.study}/{kernel.name}" + (f" {chunk}/{chunks}" if chunk else "")
    of_kernel = Path(plan.journal)
    path = chunk_journal(of_kernel, chunk) if chunk else of_kernel
    others = [other for other in journals_of(of_kernel) if other != path]
    text = source_text(kernel_file, map(Path, snakemake.input.included))
    store.keep_text(text_name(wildcards.study, kernel.name, source), text)
    with Journal(path, notifier(terminal, name), others) as journal:
        builder = None
        if binary is None:
            files = gpu_source(kernel_file, kernel, plan.build["include"])
            # A core is left for the points.
            builder = building.enter_context(Builder(files, report["target"], store, max(1, snakemake.threads - 1)))
            builder.offer(spread_units(units(kernel, [each.point for each in planned if not each.skipped])))
        at_device = (wildcards.platform, device, journal, source)
        job = KernelJob(
            name, task, *at_device, builder, terminal, plan.processes, kernel, store, plan.margin, plan.decides, against
        )
        if candidates is not None:
            outcomes = job.search(candidates, sweep, plan.search["budget"], plan.search["by"])
        else:
            failed = read_failures(map(Path, snakemake.input.get("chunks", [])))
            without_runs = failed | outcomes_without_runs(planned, report)
            try:
                outcomes = job.sweep(planned, without_runs)
            except StudyError as mistake:  # The other studies' pages and tables wait for these rows.
                print(mistake)
                refused = Outcome("skipped", str(mistake), reason=Reason.STUDY_MISTAKE)
                outcomes = {each.point: without_runs.get(each.point, refused) for each in planned}

        if chunk:
            write_failures(Path(snakemake.output[0]), outcomes)
        else:
            report = builder.report() if builder else report
            known = {"study": wildcards.study, "kernel": kernel.name, "platform": wildcards.platform}
            identity_of = identities(task, device)
            rows = measurement_rows(
                kernel,
                report,
                outcomes,
                device,
                {**known, "source_sha256": source},
                plan.measuring["relative_precision"],
                identity_of,
            )
            note_return(journal, {row["identity_sha256"]: source for row in rows})
            write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
            write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(kernel, outcomes))
            write_rows(snakemake.output.builds, BUILD_COLUMNS, build_rows(kernel, report, outcomes, known))
            end_try(
                of_kernel, plan.number, outcomes.values(), protocol.visits if plan.decides and kind.has_clock else 0
            )
            if proofs := snakemake.output.get("proofs"):
                proven = {"study": wildcards.study, "kernel": kernel.name, "source_sha256": source}
                checked = proof_rows(kernel, outcomes, report, proven)
                note_checks(journal, source, checked)
                write_rows(proofs, PROOF_COLUMNS, checked)
        print(f"{len(outcomes)} points, {sum(outcome.status == 'ok' for outcome in outcomes.values())} ok")
