"""Join the kernels' metrics into metrics.csv, and say what they show, and why some of them are empty."""

from kernelsweep.base.logs import fitted, logged
from kernelsweep.home import COMMAND
from kernelsweep.publish.summary import missing_metrics, sectors_in_words, used_in_words
from kernelsweep.results import METRIC_COLUMNS, read_rows, write_rows

with logged(snakemake, is_answer=True):
    rows = [row for part in snakemake.input.metrics for row in read_rows(part)]
    write_rows(snakemake.output[0], METRIC_COLUMNS, rows)
    missing = [f"{title}: {entry}" for title, entries in missing_metrics(rows).items() for entry in entries]
    found = sum(row["value"] != "" for row in rows)
    known = f"Counters: {found:,} values{f' of {len(rows):,}' * (found < len(rows))}, in {snakemake.output[0]}."
    print(*(fitted(line) for line in [*used_in_words(rows), *sectors_in_words(rows), known, *missing]), sep="\n")
    print(f"\n  Next  see them beside the kernels: {COMMAND}")
