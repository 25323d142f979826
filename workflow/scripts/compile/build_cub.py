"""Compile one of CUB's functions to a library for ctypes, and write a build report."""

from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.compile import nvcc
from kernelsweep.compile.binaries import new_report
from kernelsweep.errors import BuildError

with logged(snakemake) as terminal:
    library, target = Path(snakemake.output.library), snakemake.wildcards.target
    source = Path(snakemake.input.source)
    report = new_report(target, nvcc.version())
    try:
        nvcc.compile_library(source, library, target, snakemake.params.plan.options)
    except BuildError as error:
        report.update(status="build_failed", message=str(error))
        library.write_bytes(b"")
        print(f"{source} does not compile:\n{error}", file=terminal)
    write_json(snakemake.output.report, report)
