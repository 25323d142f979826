"""Compile one kernel with every variant that its sweep needs, and write the build report.

What doesn't compile is shown on the terminal with the compiler's message; its points become rows with the status
build_failed. A missing compiler fails the job.
"""

from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.compile.builder import build_of_job

with logged(snakemake) as terminal:
    kernel, binary = Path(snakemake.input.kernel), Path(snakemake.output.binary)
    report = build_of_job(snakemake.params.plan.build, kernel, binary, snakemake.threads, terminal)
    write_json(snakemake.output.report, report)
