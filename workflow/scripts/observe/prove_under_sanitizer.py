"""Turn compute-sanitizer's findings in one kernel into rows for proofs.csv."""

from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.observe.sanitizer.report import proof_row, read_result
from kernelsweep.results import PROOF_COLUMNS, write_rows
from kernelsweep.sweep.kernels.source import source_sha256

with logged(snakemake.log[0]):
    source = source_sha256(Path(snakemake.input.kernel), map(Path, snakemake.input.included))
    rows = [{**proof_row(read_result(Path(path))), "source_sha256": source} for path in snakemake.input.results]
    write_rows(snakemake.output[0], PROOF_COLUMNS, rows)
