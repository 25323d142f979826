"""Join the kernels' proofs into proofs.csv."""

from kernelsweep.logs import logged
from kernelsweep.results import PROOF_COLUMNS, join_files

with logged(snakemake.log[0]):
    join_files(snakemake.output[0], PROOF_COLUMNS, snakemake.input)
