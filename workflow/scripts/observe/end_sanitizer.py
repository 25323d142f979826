"""End a run of compute-sanitizer: show its summary on the terminal, and fail after an unexpected finding."""

from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.logs import logged
from kernelsweep.observe.sanitizer.report import read_result, unexpected

with logged(snakemake.log[0], is_answer=True):
    print(Path(snakemake.input.summary).read_text(encoding="utf-8"))
    bad = unexpected(read_result(Path(path)) for path in snakemake.input.results)
    if bad:
        kernels = sorted({result.name for result in bad})
        raise UserError(
            f"compute-sanitizer failed or found something in {', '.join(kernels)}: see {snakemake.input.summary}. "
            "After correcting a kernel, repeat the command; to retry a job that failed for another reason, use "
            "--forcerun sanitize_kernel."
        )
