"""Join the kernels' points and builds into measurements.csv and builds.csv."""

from kernelsweep.logs import logged
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, join_files

with logged(snakemake.log[0]):
    join_files(snakemake.output.measurements, MEASUREMENT_COLUMNS, snakemake.input.points)
    join_files(snakemake.output.builds, BUILD_COLUMNS, snakemake.input.builds)
