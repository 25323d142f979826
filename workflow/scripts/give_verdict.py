"""End a run: show its summary on the terminal, and fail where a point did that must not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.errors import UserError
from kernelsweep.logs import logged
from kernelsweep.results import read_rows
from kernelsweep.summary import failures

with logged(snakemake.log[0]) as terminal:
    print("\n" + Path(snakemake.input.summary).read_text(), file=terminal)
    print(f"All of it on one page: {snakemake.input.page}\n", file=terminal)
    rows = [row for path in snakemake.input.measurements for row in read_rows(path)]
    failed = failures(rows)
    if failed:
        kernels = sorted({f"{row['study']}/{row['kernel']}" for row in failed})
        raise UserError(
            f"{len(failed)} points failed, of {', '.join(kernels)}: see {snakemake.input.summary}. "
            "After mending a kernel, type the same command again."
        )
