"""Join the kernels' points and builds into measurements.csv and builds.csv; a failed proof flags a kernel's points."""

from pathlib import Path
from tempfile import TemporaryDirectory

from kernelsweep.analysis.proofs import failed_proofs, read_proofs
from kernelsweep.logs import logged
from kernelsweep.results import (
    BUILD_COLUMNS,
    MEASUREMENT_COLUMNS,
    PROOF_FAILED,
    each_row,
    join_files,
    write_rows,
)

with logged(snakemake.log[0]), TemporaryDirectory() as folder:
    failed = failed_proofs(read_proofs(snakemake.input.proofs))
    parts = []
    for number, part in enumerate(snakemake.input.points):
        study, kernel = Path(part).parts[-2:]
        if (study, Path(kernel).stem) in failed:
            flagged = ({**row, "flags": f"{row['flags']} {PROOF_FAILED}".strip()} for row in each_row(part))
            part = str(Path(folder, f"{number}.csv"))
            write_rows(part, MEASUREMENT_COLUMNS, flagged)
        parts.append(part)
    join_files(snakemake.output.measurements, MEASUREMENT_COLUMNS, parts)
    join_files(snakemake.output.builds, BUILD_COLUMNS, snakemake.input.builds)
