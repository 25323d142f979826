"""Compile one kernel with every variant that its sweep needs, and write the build report.

What doesn't compile is shown on the terminal with the compiler's message; its points become rows with the status
build_failed. A missing compiler fails the job.
"""

from pathlib import Path

from kernelsweep.build.build import Source, build
from kernelsweep.build.build_report import write_report
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.logs import logged
from kernelsweep.sweep.kernels.units import read_units

with logged(snakemake.log[0]) as terminal:
    params = snakemake.params
    source = Source(
        file=Path(snakemake.input.kernel),
        include=[Path(name) for name in params.include],
        emulator=Path(params.emulator),
        runtime=next(map(Path, snakemake.input.runtime), None),
        options=params.options,
        constants=params.constants,
    )
    binary = Path(snakemake.output.binary)
    store = UnitStore(Path(params.store))
    report = build(source, binary, snakemake.wildcards.target, read_units(params.units), snakemake.threads, store)
    write_report(Path(snakemake.output.report), report)
    print(report["message"])
    if report["status"] != "ok":
        print(f"{snakemake.input.kernel} does not compile:\n{report['message']}", file=terminal)
    elif report["failed"]:
        (first, message), count = next(iter(report["failed"].items())), len(report["failed"])
        print(f"{snakemake.input.kernel}: {count} variants do not compile, such as {first}:\n{message}", file=terminal)
