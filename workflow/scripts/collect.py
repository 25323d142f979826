"""Join the kernels' points and builds into measurements.csv and builds.csv."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.logs import logged
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, read_rows, write_rows

with logged(snakemake.log[0]):
    for parts, columns, path in (
        (snakemake.input.points, MEASUREMENT_COLUMNS, snakemake.output.measurements),
        (snakemake.input.builds, BUILD_COLUMNS, snakemake.output.builds),
    ):
        write_rows(path, columns, (row for part in parts for row in read_rows(part)))
