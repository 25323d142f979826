"""End a run: show its answer on the terminal, and fail where a point failed, rows are missing, or nothing was run."""

from collections import Counter
from pathlib import Path

from kernelsweep.analysis.completeness import planned_kernels
from kernelsweep.analysis.proofs import proof_errors, read_proofs
from kernelsweep.analysis.row_counts import row_counts
from kernelsweep.errors import UserError
from kernelsweep.json_files import read_device
from kernelsweep.judge.best.best_file import read_best
from kernelsweep.logs import logged
from kernelsweep.publish.answer import answer_text, answers
from kernelsweep.publish.summary import incomplete_run
from kernelsweep.results import each_row

with logged(snakemake.log[0]) as terminal:
    device, studies = read_device(snakemake.input.device), snakemake.params.studies
    rows = (row for path in snakemake.input.measurements for row in each_row(path))
    counted = row_counts(row for row in rows if row["study"] in studies)
    found = answers(studies, read_best(snakemake.input.best), counted, device)
    claims = Counter(row["verdict"] for row in each_row(snakemake.input.claims))
    if +counted.failures:
        print("\n" + Path(snakemake.input.summary).read_text(encoding="utf-8"), file=terminal)
    print(f"\n{answer_text(found, studies, device['provenance'])}", file=terminal)
    if claims:
        print(f"  claims: {', '.join(f'{count} {verdict}' for verdict, count in claims.most_common())}", file=terminal)
    print(f"\nSummary: {snakemake.input.summary}\nPage:    {snakemake.input.page}\n", file=terminal)
    errors = incomplete_run(counted, planned_kernels(snakemake.params.plan, device["multiprocessors"]))
    errors += proof_errors(read_proofs(snakemake.input.proofs))
    if failed := +counted.failures:
        kernels = ", ".join(sorted(f"{study}/{kernel}" for study, kernel in failed))
        errors.append(
            f"{failed.total()} points failed, of {kernels}: see {snakemake.input.summary}. "
            "After mending a kernel, type the same command again."
        )
    if errors:
        raise UserError("\n".join(errors))
