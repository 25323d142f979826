"""Make a study's table, published figures beside ours, as Markdown, CSV and LaTeX."""

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.published import load_published, load_published_metrics, load_published_outputs
from kernelsweep.analysis.step_metrics import Metrics, load_metrics, step_metrics
from kernelsweep.logs import logged
from kernelsweep.publish.tables import (
    as_csv,
    as_latex,
    as_markdown,
    exchange_table,
    exchange_text,
    metrics_text,
    study_table,
    study_text,
    with_metrics,
)

with logged(snakemake.log[0]):
    params, name = snakemake.params, snakemake.wildcards.study
    study = params.study
    measurements = load_measurements([Path(path) for path in snakemake.input.measurements], name)
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    directory = Path("resources/published")

    if study["problem"] == "exchange":
        outputs = load_published_outputs(study["published"], directory)
        table = exchange_table(study, measurements, outputs)
        text = exchange_text(table, study, device, outputs)
    else:
        published = load_published(study["published"], directory)
        table = study_table(study, measurements, device, published)
        text = study_text(table, study, device, published)

        rows = load_metrics([Path(path) for path in (*snakemake.input.metrics, *params.found_metrics)])
        figures = load_published_metrics(study["published"], directory)
        metrics = Metrics(rows[rows["study"] == name], params.definitions, figures)
        found = step_metrics(study, metrics, measurements, device)
        table = with_metrics(table, study, found, metrics)
        text = replace(text, below=metrics_text(study, found, metrics, device))
    Path(snakemake.output.md).write_text(as_markdown(text), encoding="utf-8")
    Path(snakemake.output.csv).write_text(as_csv(table), encoding="utf-8")
    Path(snakemake.output.tex).write_text(as_latex(text), encoding="utf-8")
