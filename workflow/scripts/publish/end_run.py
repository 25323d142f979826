"""End a run: show its summary on the terminal, and fail where a point failed, rows are missing, or nothing was run."""

from pathlib import Path

from kernelsweep.analysis.completeness import planned_kernels
from kernelsweep.analysis.proofs import proof_errors, read_proofs
from kernelsweep.analysis.row_counts import row_counts
from kernelsweep.errors import UserError
from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.publish.summary import incomplete_run
from kernelsweep.results import each_row

with logged(snakemake.log[0]) as terminal:
    print("\n" + Path(snakemake.input.summary).read_text(encoding="utf-8"), file=terminal)
    print(f"All of it on one page: {snakemake.input.page}\n", file=terminal)
    device = read_device(snakemake.input.device)
    counted = row_counts(row for path in snakemake.input.measurements for row in each_row(path))
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
