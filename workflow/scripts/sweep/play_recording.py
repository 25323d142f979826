"""Unpack a recording into results: the same files that measuring would have written, with intervals for readers."""

import shutil
from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.judge.data.measurements import covering
from kernelsweep.publish.share.recording import note_played, read_environment, recorded_device, unpack
from kernelsweep.results import MEASUREMENT_COLUMNS, METRIC_COLUMNS, each_table, write_rows, write_tables

with logged(snakemake):
    played = {Path(file).name: file for file in snakemake.output}
    write_rows(snakemake.output.metrics, METRIC_COLUMNS, [])  # A recording may have none.
    for file in (snakemake.input.measurements, *snakemake.input.metrics):
        unpack(Path(file), Path(played[Path(file).stem]))
    measurements = played["measurements.csv"]
    columns = next(iter(each_table(measurements)), dict.fromkeys(MEASUREMENT_COLUMNS))
    write_tables(measurements, [*columns], covering([measurements]))
    shutil.copy(snakemake.input.builds, snakemake.output.builds)
    shutil.copy(snakemake.input.environment, snakemake.output.environment)
    environment = read_environment(Path(snakemake.input.environment).parent)
    device = recorded_device(environment, snakemake.wildcards.name)
    write_json(snakemake.output.device, device)
    note_played(Path(measurements).parent, Path(snakemake.input.measurements))
