"""Judge a scope's results: which claims hold, which configurations are the best, and how many points came out how.

Claims are the published ones about its studies, and the studies' own. The summary names the points that failed.
"""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.description import read_device
from kernelsweep.judge.best.best_file import best_json
from kernelsweep.judge.best.best_words import best_text
from kernelsweep.judge.best.find import find_best, find_uses
from kernelsweep.judge.claims.claim import NEEDS_COUNTERS, NEEDS_COUNTS, UNMEASURED, own_claims, published_claims
from kernelsweep.judge.claims.judge import judge
from kernelsweep.judge.claims.report import claim_row, claims_text
from kernelsweep.judge.comparison.source import since_right
from kernelsweep.judge.data.measurements import as_measurements, frame
from kernelsweep.judge.data.proofs import failed_proofs, read_proofs
from kernelsweep.judge.data.published import OUTPUT, SPEEDUP
from kernelsweep.judge.data.reference import flagged_kernels
from kernelsweep.judge.data.row_counts import PlannedKernel, RowCounts
from kernelsweep.judge.data.steps import ladder_steps
from kernelsweep.judge.data.study_data import Metrics, StudyData, load_metrics
from kernelsweep.judge.data.words import limit_kernel
from kernelsweep.publish.answer import answers, run_answer, status_text
from kernelsweep.publish.figures.claims import draw_files
from kernelsweep.publish.summary import failures, incomplete_run, summary_text
from kernelsweep.results import (
    CLAIM_COLUMNS,
    CONTRACT_COLUMNS,
    MEASUREMENT_COLUMNS,
    PROOF_FAILED,
    each_row,
    each_table,
    read_rows,
    write_rows,
)
from kernelsweep.study.settings import StudySettings

with logged(snakemake):
    inputs, plan, output = snakemake.input, snakemake.params.plan, snakemake.output
    studies = {name: StudySettings.of_job(study) for name, study in plan.studies.items()}
    device, proofs = read_device(inputs.device, studies), read_proofs(inputs.proofs)
    metric_files = [*inputs.metrics, *plan.found_metrics]
    metrics, failed = load_metrics(list(map(Path, metric_files))), failed_proofs(proofs)
    published = [claim for path in inputs.claims for claim in published_claims(Path(path))]
    sources = [row for path in inputs.sources for row in read_rows(Path(path))]

    counted, planned = RowCounts(), [PlannedKernel(**entry) for entry in plan.kernels]
    judged, entries, beside, uses, compared, flagged = [], [], [], [], {}, {}
    # Studies with files of their own are in memory one after another; a recording's are in one file.
    of_files: dict[tuple[str, ...], list[str]] = {}
    for name in studies:
        of_files.setdefault(tuple(plan.measurements[name]), []).append(name)
    for paths, names in of_files.items():
        tables = (table for path in paths for table in each_table(path, CONTRACT_COLUMNS, studies=studies))
        rows = frame(counted.count(tables), MEASUREMENT_COLUMNS)
        for name in names:
            study, claims = studies[name], [claim for claim in published if claim.study == name]
            measurements = as_measurements(rows[rows["study"] == name], ", ".join(paths), failed)
            of_study = Metrics(metrics[metrics["study"] == name])
            data = StudyData(study, measurements, device, metrics=of_study, gridded=plan.gridded[name])
            flagged[name] = sorted(flagged_kernels(measurements, PROOF_FAILED))
            judged += judge(claims + own_claims(name, study.claims), data, plan.uncertainties)
            if study.compares == "times":
                compared[name] = study
                entries += find_best(name, data)
                beside += find_best(name, data, [*data.measured_libraries, *map(limit_kernel, study.limits)])
                uses += find_uses(name, data)
        del rows, measurements, data
    write_rows(output.claims_csv, CLAIM_COLUMNS, map(claim_row, judged))
    stories = {name: [step.name for step in ladder_steps(study, device)] for name, study in studies.items()}
    draw_files(Path(output.claims_csv), device, Path(output.claims_figure), stories)
    titles = {name: study.title for name, study in studies.items()}
    causes = {name: study.causes for name, study in studies.items()}
    Path(output.claims).write_text(claims_text(judged, titles, device, sources, causes), encoding="utf-8")
    Path(output.best_json).write_text(best_json(entries, uses, list(compared), device), encoding="utf-8")
    Path(output.best).write_text(best_text(entries, uses, compared, device), encoding="utf-8")

    shown_proofs = proofs if inputs.proofs else None
    of_metrics = (row for path in metric_files for row in each_row(path) if row["study"] in studies)
    text = summary_text(counted, device["provenance"], of_metrics, planned, shown_proofs)
    Path(output.summary).write_text(text, encoding="utf-8")
    errors = incomplete_run(counted, planned)
    needs = NEEDS_COUNTERS if metric_files else NEEDS_COUNTS
    lacking = [one.verdict == UNMEASURED and one.claim.quantity not in (SPEEDUP, OUTPUT) for one in judged]
    verdicts = [needs if lacks else one.verdict for one, lacks in zip(judged, lacking, strict=True)]
    kinds = [claim_row(one) | {"verdict": verdict} for one, verdict in zip(judged, verdicts, strict=True)]
    own = {name: device["by_study"].get(name, {}) for name in studies}
    provenances = {name: of.get("provenance", device["provenance"]) for name, of in own.items()}
    of_studies = answers(studies, uses, counted, proofs, plan.edited, kinds, provenances, flagged)
    folder, store = Path(inputs.device).parent, UnitStore(Path(plan.store))
    failed_kernels = failures(
        counted, planned, studies, lambda row: since_right(dict(row), folder, store), store, proofs
    )
    files = {name: [Path(path).relative_to(folder).as_posix() for path in plan.measurements[name]] for name in studies}
    found = counted, proofs, failed_kernels
    status = status_text(device, of_studies, entries, beside, len(errors), files, *found)
    Path(output.status).write_text(status, encoding="utf-8")
    answer = run_answer(of_studies, device, proofs, counted, failed_kernels, errors, output.summary, plan.page)
    answer.write(output.answer)
    print(f"{len(judged)} claims; {len(entries)} kernels, sizes and kinds of points")
