"""End a run of the proofs: show them on the terminal, and fail after an unexpected finding."""

from kernelsweep.analysis.proofs import proof_errors, proof_summary, read_proofs
from kernelsweep.errors import UserError
from kernelsweep.logs import logged

with logged(snakemake.log[0]) as terminal:
    proofs = read_proofs([snakemake.input.proofs])
    print("\n" + "\n".join(proof_summary(proofs)), file=terminal)
    if errors := proof_errors(proofs):
        raise UserError("\n".join(errors))
