"""Count a run's points by how they came out, for readers and for the page of all pages; name those that failed."""

from pathlib import Path

from kernelsweep.analysis.completeness import PlannedKernel
from kernelsweep.analysis.proofs import read_proofs
from kernelsweep.analysis.row_counts import row_counts
from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.publish.index.statuses import status_text
from kernelsweep.publish.summary import incomplete_run, summary_text
from kernelsweep.results import each_row

with logged(snakemake.log[0]):
    rows = (row for path in snakemake.input.measurements for row in each_row(path))
    counted = row_counts(row for row in rows if row["study"] in snakemake.params.studies)
    metrics = (row for path in (*snakemake.input.metrics, *snakemake.params.found_metrics) for row in each_row(path))
    metrics = (row for row in metrics if row["study"] in snakemake.params.studies)
    device = read_device(snakemake.input.device, snakemake.params.studies)
    planned = [PlannedKernel(**entry) for entry in snakemake.params.plan]
    proofs = read_proofs(snakemake.input.proofs)
    text = summary_text(counted, device["provenance"], metrics, planned, proofs if snakemake.input.proofs else None)
    Path(snakemake.output.text).write_text(text, encoding="utf-8")
    errors = len(incomplete_run(counted, planned))
    status = status_text(
        device["provenance"], counted, proofs, snakemake.params.studies, errors, snakemake.params.edited
    )
    Path(snakemake.output.status).write_text(status, encoding="utf-8")
