"""Compile one kernel with every variant that its sweep needs, and write the build report.

A kernel that doesn't compile is shown on the terminal with the compiler's message; its points become rows with the
status build_failed. A missing compiler fails the job.
"""

from pathlib import Path

from kernelsweep.build.build import build
from kernelsweep.build.build_report import write_report
from kernelsweep.logs import logged

with logged(snakemake.log[0]) as terminal:
    report = build(
        kernel_file=Path(snakemake.input.kernel),
        binary=Path(snakemake.output.binary),
        target=snakemake.wildcards.target,
        names=snakemake.params.variants,
        include=Path(snakemake.params.include),
        emulator=Path(snakemake.params.emulator),
    )
    write_report(Path(snakemake.output.report), report)
    print(report["message"])
    if report["status"] != "ok":
        print(f"{snakemake.input.kernel} does not compile:\n{report['message']}", file=terminal)
