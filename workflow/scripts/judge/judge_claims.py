"""Judge the published claims about some studies, and the studies' own claims: a table and a page."""

from pathlib import Path

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.metric_rows import Metrics, load_metrics
from kernelsweep.analysis.proofs import failed_proofs, read_proofs
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.json_files import read_device
from kernelsweep.judge.claims.claim import own_claims, published_claims
from kernelsweep.judge.claims.judge import judge
from kernelsweep.judge.claims.report import CLAIM_COLUMNS, claim_row, claims_text
from kernelsweep.logs import logged
from kernelsweep.results import read_rows, write_rows

with logged(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    device = read_device(inputs.device, params.studies)
    metrics = load_metrics([Path(path) for path in (*inputs.metrics, *params.found_metrics)])
    published = [claim for path in inputs.get("claims", []) for claim in published_claims(Path(path))]
    sources = [row for path in inputs.get("sources", []) for row in read_rows(Path(path))]

    failed = failed_proofs(read_proofs(inputs.proofs))
    judged = []
    for name, study in params.studies.items():
        claims = [claim for claim in published if claim.study == name] + own_claims(name, study["claims"])
        measurements = load_measurements([Path(path) for path in params.measurements[name]], name, unproven=failed)
        data = StudyData(study, measurements, device, metrics=Metrics(metrics[metrics["study"] == name]))
        judged += judge(claims, data, params.uncertainties)
    write_rows(snakemake.output.csv, CLAIM_COLUMNS, map(claim_row, judged))
    titles = {name: study["title"] for name, study in params.studies.items()}
    Path(snakemake.output.md).write_text(claims_text(judged, titles, device, sources), encoding="utf-8")
    print(f"{len(judged)} claims")
