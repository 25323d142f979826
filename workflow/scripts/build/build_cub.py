"""Compile one of CUB's functions to a library for ctypes, and write a build report."""

from pathlib import Path

from kernelsweep.baselines.libraries import headers, why_missing
from kernelsweep.build import nvcc
from kernelsweep.build.build_report import new_report, write_report
from kernelsweep.errors import BuildError
from kernelsweep.logs import logged

with logged(snakemake.log[0]) as terminal:
    library, target, name = Path(snakemake.output.library), snakemake.wildcards.target, snakemake.wildcards.library
    source = Path(snakemake.input.source)
    report = new_report(target, nvcc.version())
    missing = why_missing(name)
    try:
        if missing:
            raise BuildError(missing)
        nvcc.compile_library(source, library, target, headers(name)[0], snakemake.params.options)
    except BuildError as error:
        report.update(status="build_failed", message=str(error))
        library.write_bytes(b"")
        if not missing:  # Its points say why they are skipped.
            print(f"{source} does not compile:\n{error}", file=terminal)
    write_report(Path(snakemake.output.report), report)
