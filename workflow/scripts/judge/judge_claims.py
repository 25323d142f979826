"""Judge the published claims about some studies, and the studies' own, by what was measured: a table and a page."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.step_metrics import load_metrics
from kernelsweep.judge.claims.claim import own_claims, published_claims
from kernelsweep.judge.claims.judge import Evidence, judge
from kernelsweep.judge.claims.report import CLAIM_COLUMNS, claim_row, claims_text
from kernelsweep.logs import logged
from kernelsweep.results import write_rows

with logged(snakemake.log[0]):
    params = snakemake.params
    metrics = load_metrics([Path(path) for path in (*snakemake.input.metrics, *params.found_metrics)])
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    published = published_claims(Path(snakemake.input.claims))

    judged = []
    for name, study in params.studies.items():
        claims = [claim for claim in published if claim.study == name] + own_claims(name, study["claims"])
        measurements = load_measurements([Path(path) for path in params.measurements[name]], name)
        of_study = metrics[metrics["study"] == name]
        judged += judge(claims, Evidence(study, measurements, of_study, params.uncertainties, device))
    write_rows(snakemake.output.csv, CLAIM_COLUMNS, map(claim_row, judged))
    titles = {name: study["title"] for name, study in params.studies.items()}
    Path(snakemake.output.md).write_text(claims_text(judged, titles, device), encoding="utf-8")
    print(f"{len(judged)} claims")
