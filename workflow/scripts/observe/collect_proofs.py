"""Join the kernels' proofs into proofs.csv, and say what they found. An unexpected finding is an error of the run."""

from kernelsweep.base.answer import Answer
from kernelsweep.base.logs import fitted, logged
from kernelsweep.home import COMMAND
from kernelsweep.judge.data.proofs import (
    expected_lines,
    proof_errors,
    proofs_in_words,
    read_proofs,
    tool_errors,
    unproven,
)
from kernelsweep.results import PROOF_COLUMNS, each_table, write_tables

with logged(snakemake):
    proofs = read_proofs(snakemake.input.proofs)
    if joined := snakemake.output.get("proofs"):
        write_tables(joined, PROOF_COLUMNS, (table for path in snakemake.input.proofs for table in each_table(path)))
    listed = [f"{title}: {entry}" for title, entries in unproven(proofs).items() for entry in entries]
    lines = [f"Checked: {proofs_in_words(proofs)}.", *listed, *expected_lines(proofs)]
    text = fitted("\n".join(lines))
    errors = [*proof_errors(proofs), *tool_errors(proofs)]
    next_command = "" if errors else f"every point, and the pages: {COMMAND}"
    Answer(text, errors, next=next_command).write(snakemake.output.answer)
