"""End a run: give its answer, and fail where a point failed, rows are missing, or nothing was run."""

from collections import Counter
from pathlib import Path

from kernelsweep.analysis.proofs import proof_errors, read_proofs
from kernelsweep.analysis.row_counts import PlannedKernel, row_counts
from kernelsweep.errors import UserError
from kernelsweep.json_files import read_device, read_json
from kernelsweep.judge.best.best_file import best_uses
from kernelsweep.judge.claims.claim import verdict_kind
from kernelsweep.logs import logged
from kernelsweep.publish.answer import answer_text, answers, places_text
from kernelsweep.publish.summary import failed_points, incomplete_run
from kernelsweep.results import each_row
from kernelsweep.sweep.settings import StudySettings

# The terminal shows this many failed points.
LISTED_POINTS = 10

with logged(snakemake, is_answer=True):
    studies = {name: StudySettings.of_job(study) for name, study in snakemake.params.studies.items()}
    device = read_device(snakemake.input.device, studies)
    rows = (row for path in snakemake.input.measurements for row in each_row(path))
    counted = row_counts(row for row in rows if row["study"] in studies)
    proofs = read_proofs(snakemake.input.proofs)
    found = answers(studies, best_uses(read_json(snakemake.input.best)), counted, proofs, snakemake.params.edited)
    claims = Counter(verdict_kind(row["verdict"]) for row in each_row(snakemake.input.claims))
    print(answer_text(found, device["provenance"], claims, proofs))
    print("".join(f"  {sentence}\n" for sentence in counted.differing()), end="")
    print(places_text(found, Path(snakemake.input.page)))
    errors = incomplete_run(counted, [PlannedKernel(**entry) for entry in snakemake.params.plan])
    errors += proof_errors(proofs)
    if failed := +counted.failures:
        kernels = ", ".join(sorted(f"{study}/{kernel}" for study, kernel in failed))
        _, _, *points = failed_points(counted)
        errors = [
            *(point.replace("**", "") for point in points[:LISTED_POINTS]),
            *errors,
            f"{failed.total()} points failed, of {kernels}: see {snakemake.input.summary}.",
        ]
    if counted.run_again:
        errors.append(f"The same command runs {counted.run_again} of them again: the machine may have been at fault.")
    if errors:
        raise UserError("\n".join(errors))
