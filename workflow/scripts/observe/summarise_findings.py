"""Gather what compute-sanitizer found in all kernels: a summary for readers, and a row a kernel and tool."""

import json
from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.observe.sanitizer.report import COLUMNS, read_result, rows, summarise
from kernelsweep.results import write_rows

with logged(snakemake.log[0]):
    results = [read_result(Path(path)) for path in snakemake.input.results]
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    Path(snakemake.output.summary).write_text(summarise(results, device["name"]), encoding="utf-8")
    write_rows(snakemake.output.rows, COLUMNS, rows(results))
