"""Run points of one kernel on the emulator, every access watched: rows of its proof beside a GPU, or of its metrics."""

from contextlib import ExitStack
from pathlib import Path

from kernelsweep.base.logs import logged, notifier
from kernelsweep.base.sandbox import is_untrusted
from kernelsweep.compile.builder import built_meanwhile
from kernelsweep.device.emulator import MULTIPROCESSORS, EmulatorPlatform
from kernelsweep.device.kinds import KINDS
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.task import BuiltKernel, measuring_protocol
from kernelsweep.errors import StudyError
from kernelsweep.observe.chosen_points import proven_points
from kernelsweep.observe.counting.run import count_rows
from kernelsweep.reasons import Reason
from kernelsweep.results import METRIC_COLUMNS, PROOF_COLUMNS, write_rows
from kernelsweep.study.kernel_sweep import KernelSweep
from kernelsweep.study.kernels.source import source_sha256
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import Point
from kernelsweep.study.study import kernel_of_job
from kernelsweep.sweep.candidate_job import others_go_on
from kernelsweep.sweep.editions import note_checks
from kernelsweep.sweep.full import sweep_points
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.proof_rows import proof_rows
from kernelsweep.sweep.tries import end_try
from kernelsweep.sweep.visits import outcomes_without_runs

with logged(snakemake) as terminal, others_go_on(snakemake), ExitStack() as running:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    kernel_file = Path(snakemake.input.kernel)
    kernel = kernel_of_job(**plan.kernel)
    report, binary = running.enter_context(built_meanwhile(plan.build, kernel_file, snakemake.threads))
    kind = KINDS[EMULATOR]

    sweep = KernelSweep(kernel, multiprocessors=MULTIPROCESSORS, target=report["target"], **plan.sweep)
    points = plan.points
    planned = sweep.planned(proven_points(sweep, plan.has_own_axes) if points is None else list(map(Point, points)))
    protocol = measuring_protocol(plan.measuring, plan.seed, kind)
    task = BuiltKernel(kernel, report, binary).task(kind.implementation, protocol)
    name = f"{wildcards.study}/{kernel.name}, {'proof' if points is None else 'counts'}"
    with Journal(Path(plan.journal), notifier(terminal, name)) as journal:
        device = EmulatorPlatform.describe(EMULATOR)
        try:
            outcomes = sweep_points(task, planned, outcomes_without_runs(planned, report), journal, device)
        except StudyError as mistake:
            if not is_untrusted():
                raise
            outcomes = {each.point: Outcome("skipped", str(mistake), reason=Reason.STUDY_MISTAKE) for each in planned}
        if points is None:
            source = source_sha256(kernel_file, map(Path, snakemake.input.included))
            known = {"study": wildcards.study, "kernel": kernel.name, "source_sha256": source}
            checked = proof_rows(kernel, outcomes, report, known)
            note_checks(journal, source, checked)
    end_try(Path(plan.journal), plan.number, outcomes.values())
    if points is None:
        write_rows(snakemake.output.proofs, PROOF_COLUMNS, checked)
    else:
        write_rows(snakemake.output[0], METRIC_COLUMNS, count_rows(wildcards.study, kernel, outcomes))
    print(f"{len(outcomes)} points, {sum(bool(outcome.mistakes) for outcome in outcomes.values())} with mistakes")
