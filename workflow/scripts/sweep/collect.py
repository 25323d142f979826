"""Join the kernels' points and builds into measurements.csv and builds.csv; a failed proof flags a kernel's points."""

from kernelsweep.base.logs import logged
from kernelsweep.judge.data.proofs import failed_proofs, read_proofs
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, PROOF_FAILED, each_row, write_rows

with logged(snakemake):
    failed = failed_proofs(read_proofs(snakemake.input.proofs))
    rows = (row for path in snakemake.input.points for row in each_row(path))
    flagged = (
        {**row, "flags": f"{row['flags']} {PROOF_FAILED}".strip()} if (row["study"], row["kernel"]) in failed else row
        for row in rows
    )
    write_rows(snakemake.output.measurements, MEASUREMENT_COLUMNS, flagged)
    builds = (row for path in snakemake.input.builds for row in each_row(path))
    write_rows(snakemake.output.builds, BUILD_COLUMNS, builds)
