"""Gather compute-sanitizer's findings in all kernels: a summary as Markdown, and a row a kernel and tool."""

from pathlib import Path

from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.observe.sanitizer.report import SANITIZER_COLUMNS, read_result, rows, summary
from kernelsweep.results import write_rows

with logged(snakemake.log[0]):
    results = [read_result(Path(path)) for path in snakemake.input.results]
    device = read_device(snakemake.input.device)
    Path(snakemake.output.summary).write_text(summary(results, device["name"]), encoding="utf-8")
    write_rows(snakemake.output.rows, SANITIZER_COLUMNS, rows(results))
