"""Join the kernels' metrics into metrics.csv, and print on the terminal why some of them are empty."""

from kernelsweep.base.logs import logged
from kernelsweep.base.templates import sections
from kernelsweep.publish.summary import missing_metrics
from kernelsweep.results import METRIC_COLUMNS, read_rows, write_rows

with logged(snakemake) as terminal:
    rows = [row for part in snakemake.input.metrics for row in read_rows(part)]
    write_rows(snakemake.output[0], METRIC_COLUMNS, rows)
    if text := sections(missing_metrics(rows)):
        print(f"\n{text}", file=terminal)
    print(f"{len(rows)} rows, {sum(row['value'] != '' for row in rows)} with a value")
