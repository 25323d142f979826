"""Find each kernel's best configurations: as JSON for programs and as Markdown for readers."""

from pathlib import Path

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.proofs import failed_proofs, read_proofs
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.json_files import read_device
from kernelsweep.judge.best.best_file import best_json
from kernelsweep.judge.best.find import find_best
from kernelsweep.judge.best.report import best_text
from kernelsweep.logs import logged

with logged(snakemake.log[0]):
    params, studies = snakemake.params, snakemake.params.studies
    device = read_device(snakemake.input.device, studies)
    failed = failed_proofs(read_proofs(snakemake.input.proofs))
    found = []
    for name, study in studies.items():
        measurements = load_measurements([Path(path) for path in params.measurements[name]], name, unproven=failed)
        found += find_best(name, StudyData(study, measurements, device), params.gridded[name])
    Path(snakemake.output.json).write_text(best_json(found, list(studies), device), encoding="utf-8")
    Path(snakemake.output.md).write_text(best_text(found, studies, device), encoding="utf-8")
    print(f"{len(found)} kernels, sizes and kinds of points")
