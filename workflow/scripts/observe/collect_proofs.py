"""Join the kernels' proofs into proofs.csv."""

from kernelsweep.logs import logged
from kernelsweep.results import PROOF_COLUMNS, each_row, write_rows

with logged(snakemake):
    write_rows(snakemake.output[0], PROOF_COLUMNS, (row for path in snakemake.input.proofs for row in each_row(path)))
