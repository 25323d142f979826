"""Gather what compute-sanitizer found in all kernels: a summary for readers, and a row a kernel and tool."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.logs import logged
from kernelsweep.observe.sanitizer.report import COLUMNS, read_result, rows, summarise
from kernelsweep.results import write_rows

with logged(snakemake.log[0]):
    results = [read_result(Path(path)) for path in snakemake.input.results]
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    Path(snakemake.output.summary).write_text(summarise(results, device["name"]), encoding="utf-8")
    write_rows(snakemake.output.rows, COLUMNS, rows(results))
