"""Tell each kernel's best time over its versions, from the journals: a page and rows."""

from pathlib import Path

from kernelsweep.analysis.places import place_axes
from kernelsweep.json_files import read_device
from kernelsweep.judge.history.report import HISTORY_COLUMNS, TIME_COLUMNS, headline, history_rows, history_text
from kernelsweep.judge.history.versions import judged, kernel_versions
from kernelsweep.judge.records import read_records
from kernelsweep.logs import logged
from kernelsweep.measure.journal import journals_of
from kernelsweep.results import ALL_POINT_COLUMNS, write_rows
from kernelsweep.sweep.settings import StudySettings

with logged(snakemake.log[0], is_answer=True):
    params = snakemake.params
    device = read_device(snakemake.input.device)
    studies = {name: StudySettings.of_job(study) for name, study in params.studies.items()}
    places = {name: {axis: study.reference[axis] for axis in place_axes(study)} for name, study in studies.items()}
    found = []
    for kernel, (_, journal) in params.kernels.items():
        records = read_records(journals_of(Path(journal)))
        found += kernel_versions(kernel, records, places[kernel.partition("/")[0]])
    versions = judged(found, params.margin)
    text = history_text(versions, device["provenance"], places)
    Path(snakemake.output.text).write_text(text, encoding="utf-8")
    columns = (*HISTORY_COLUMNS, *ALL_POINT_COLUMNS, *TIME_COLUMNS)
    write_rows(snakemake.output.rows, columns, history_rows(versions))
    worse = [line for line in text.splitlines() if "| **slower**" in line or "| **broken**" in line]
    print("\n".join([*worse, *([""] if worse else []), headline(versions)]))
    print(f"\n  All of it  {snakemake.output.text}")
