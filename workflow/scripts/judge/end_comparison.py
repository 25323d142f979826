"""End a comparison: show its verdict on the terminal.

Fail if results became wrong, if a kernel's proof failed, or if kernels became slower or, on the emulator, count more.
"""

import textwrap
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.json_files import read_json
from kernelsweep.judge.comparison.counts import MIXED, MORE
from kernelsweep.judge.comparison.text import VERDICT_LINES
from kernelsweep.judge.comparison.verdicts import kernels_with_verdict
from kernelsweep.logs import logged
from kernelsweep.measure.pairs import SLOWER

with logged(snakemake, is_answer=True):
    summary, page = read_json(snakemake.input.summary), Path(snakemake.input.page).resolve().as_uri()
    proven = [f"Checked: {summary['proven']}"] if summary["proven"] else []
    lines, more = summary["verdict"][:VERDICT_LINES], summary["verdict"][VERDICT_LINES:]
    for line in (*lines, *([f"... {len(more)} more lines are on the page."] if more else []), *proven):
        print(textwrap.fill(line, 80, subsequent_indent="  ", break_long_words=False))
    print(f"\n  Page  {page}")
    errors = summary["failed_proofs"]
    if summary["failed"]:
        errors.append(f"Right before and not now: {', '.join(summary['failed'])}. See {snakemake.input.text}.")
    if errors:
        raise UserError("\n".join([*errors, "After correcting a kernel, repeat the command."]))
    worse = {
        "Slower": kernels_with_verdict(summary, SLOWER),
        "Counts rose": [name for name, found in summary["counted"].items() if found["verdict"] in (MORE, MIXED)],
    }
    words = "; ".join(f"{what}: {', '.join(kernels)}" for what, kernels in worse.items() if kernels)
    if words and snakemake.params.fail_on == SLOWER:
        raise UserError(f"{words} (compare.fail_on is slower). See {snakemake.input.text}.")
