"""Make a study's table, published figures beside ours, as Markdown, CSV and LaTeX, and in short; and steps.md."""

from pathlib import Path

from kernelsweep.analysis.study_data import read_metrics, read_study_data
from kernelsweep.logs import logged
from kernelsweep.publish.steps.steps_page import steps_text
from kernelsweep.publish.tables.formats import as_csv, as_latex, as_markdown, as_short_latex
from kernelsweep.publish.tables.of_study import table_of
from kernelsweep.publish.tables.short import short_table

with logged(snakemake.log[0]):
    study, inputs, params = snakemake.wildcards.study, snakemake.input, snakemake.params
    metrics = read_metrics(study, [*inputs.metrics, *params.found_metrics], params.definitions)
    data = read_study_data(
        study, params.study, inputs.measurements, inputs.device, metrics, inputs.proofs, params.edited
    )
    table, text = table_of(data)
    Path(snakemake.output.md).write_text(as_markdown(text), encoding="utf-8")
    Path(snakemake.output.csv).write_text(as_csv(table), encoding="utf-8")
    Path(snakemake.output.tex).write_text(as_latex(text), encoding="utf-8")
    Path(snakemake.output.short).write_text(as_short_latex(short_table(table, data)), encoding="utf-8")
    sources = {Path(file).stem: Path(file).read_text(encoding="utf-8") for file in inputs.kernels}
    Path(snakemake.output.steps).write_text(steps_text(data, sources, params.accesses), encoding="utf-8")
