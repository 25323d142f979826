"""Turn compute-sanitizer's findings in one kernel into rows for proofs.csv."""

from pathlib import Path

from kernelsweep.logs import logged, notifier
from kernelsweep.observe.sanitizer.report import proof_row, read_result
from kernelsweep.results import NOT_CHECKED, PROOF_COLUMNS, write_rows
from kernelsweep.sweep.kernels.source import source_sha256
from kernelsweep.sweep.study import kernel_of_job

with logged(snakemake.log[0]) as terminal:
    file, study = Path(snakemake.input.kernel), snakemake.wildcards.study
    kernel = kernel_of_job(**snakemake.params.kernel, path=file.resolve(), root=Path.cwd(), study=study)
    source = source_sha256(file, map(Path, snakemake.input.included))
    rows = [{**proof_row(read_result(Path(path)), kernel), "source_sha256": source} for path in snakemake.input.results]
    for row in rows:
        if row["finding"] not in ("", NOT_CHECKED) and not row["expected"]:
            notifier(terminal, f"{study}/{kernel.name}, {row['tool']}")(f"{row['finding']}: {row['message']}")
    write_rows(snakemake.output[0], PROOF_COLUMNS, rows)
