"""End a comparison: show its answer on the terminal.

Fail if results became wrong, if a kernel's proof failed, or if kernels became slower.
"""

from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.json_files import read_json
from kernelsweep.judge.comparison.text import answer_of
from kernelsweep.judge.comparison.verdicts import kernels_with_verdict
from kernelsweep.logs import logged
from kernelsweep.measure.pairs import SLOWER

with logged(snakemake.log[0], is_answer=True):
    answer, _, rest = answer_of(Path(snakemake.input.text).read_text(encoding="utf-8")).partition("\n")
    summary = read_json(snakemake.input.summary)
    proven = f"  proven: {summary['proven']}\n" if summary["proven"] else ""
    # The verdict stands below the tables, where the reader is.
    page = Path(snakemake.input.page).resolve().as_uri()
    print(f"{rest.strip()}\n\n{answer.removeprefix('# ')}\n{proven}\n  Page  {page}")
    errors = summary["failed_proofs"]
    if summary["failed"]:
        errors.append(f"Right before and not now: {', '.join(summary['failed'])}. See {snakemake.input.text}.")
    if errors:
        raise UserError("\n".join([*errors, "After correcting a kernel, repeat the command."]))
    slower = kernels_with_verdict(summary, SLOWER)
    if slower and snakemake.params.fail_on == SLOWER:
        raise UserError(f"Slower: {', '.join(slower)} (compare.fail_on is slower). See {snakemake.input.text}.")
