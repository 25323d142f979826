"""End a run of proofs: show them on the terminal, and fail after an unexpected finding, or where a tool has failed."""

from kernelsweep.analysis.proofs import proof_errors, proof_summary, proofs_in_words, read_proofs, tool_errors
from kernelsweep.errors import UserError
from kernelsweep.logs import logged

with logged(snakemake, is_answer=True):
    proofs = read_proofs(snakemake.input.proofs)
    print("\n".join([f"Checked: {proofs_in_words(proofs)}.", *proof_summary(proofs)]))
    if errors := [*proof_errors(proofs), *tool_errors(proofs)]:
        raise UserError("\n".join(errors))
