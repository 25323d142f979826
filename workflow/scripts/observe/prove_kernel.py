"""Prove one kernel beside a GPU: its points on the emulator, checked with every access watched. Rows for proofs.csv."""

from contextlib import ExitStack
from pathlib import Path

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged, notifier
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.proof_rows import proof_rows
from kernelsweep.measure.task import BuiltKernel, measuring_protocol
from kernelsweep.measure.tries import end_try
from kernelsweep.measure.work import do_work, find_work, outcomes_without_runs
from kernelsweep.measure.worker.client import Workers
from kernelsweep.observe.chosen_points import proven_points
from kernelsweep.platforms.emulator import MULTIPROCESSORS, EmulatorPlatform
from kernelsweep.platforms.kinds import KINDS
from kernelsweep.results import PROOF_COLUMNS, write_rows
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.kernels.source import source_sha256
from kernelsweep.sweep.study import kernel_of_job

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**params.kernel, path=kernel_file.resolve(), root=Path.cwd(), study=wildcards.study)
    report = read_report(Path(snakemake.input.report))
    kind = KINDS[EMULATOR]

    conditions = (params.restrictions, report["target"], params.tied, bool(params.search))
    sweep = KernelSweep(kernel, params.axes, MULTIPROCESSORS, *conditions)
    planned = sweep.planned(proven_points(sweep, params.has_own_axes))
    protocol = measuring_protocol(params.measuring, params.seed, kind)
    task = BuiltKernel(kernel, report, Path(snakemake.input.binary)).task(kind.implementation, protocol)
    name = f"{wildcards.study}/{kernel.name}, proof"
    with Journal(Path(params.journal), notifier(terminal, name)) as journal, ExitStack() as running:
        device = EmulatorPlatform.describe(EMULATOR)
        work = find_work(task, planned, outcomes_without_runs(planned, report), journal, device)
        if not work.is_done:
            do_work(work, task, journal, running.enter_context(Workers(task, work.visits)))
        outcomes = work.results()
    source = source_sha256(kernel_file, map(Path, snakemake.input.included))
    end_try(Path(params.journal), params.number, outcomes.values())
    known = {"study": wildcards.study, "kernel": kernel.name, "source_sha256": source}
    write_rows(snakemake.output[0], PROOF_COLUMNS, proof_rows(kernel, outcomes, known))
    print(f"{len(outcomes)} points, {sum(bool(outcome.mistakes) for outcome in outcomes.values())} with mistakes")
