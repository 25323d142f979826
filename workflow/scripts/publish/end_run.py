"""End a run: show its summary on the terminal, and fail where a point did that must not."""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.errors import UserError
from kernelsweep.logs import logged
from kernelsweep.publish.summary import is_failure
from kernelsweep.results import each_row

with logged(snakemake.log[0]) as terminal:
    print("\n" + Path(snakemake.input.summary).read_text(), file=terminal)
    print(f"All of it on one page: {snakemake.input.page}\n", file=terminal)
    rows = (row for path in snakemake.input.measurements for row in each_row(path))
    failed = Counter(f"{row['study']}/{row['kernel']}" for row in rows if is_failure(row))
    if failed:
        raise UserError(
            f"{failed.total()} points failed, of {', '.join(sorted(failed))}: see {snakemake.input.summary}. "
            "After mending a kernel, type the same command again."
        )
