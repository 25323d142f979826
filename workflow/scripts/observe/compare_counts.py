"""Hold the emulator's counts against a recording's counters: a page of Markdown."""

from pathlib import Path

from kernelsweep.json_files import read_device
from kernelsweep.logs import logged
from kernelsweep.observe.counting.against_ncu import compare_counts, counts_page
from kernelsweep.results import read_rows

with logged(snakemake.log[0]):
    # In the order of the studies and their ladders; points that a study profiles besides come last.
    steps = {tuple(step): number for number, step in enumerate(snakemake.params.steps)}
    studies = {study for study, _, _ in steps}
    measured = [row for row in read_rows(snakemake.input.measured) if row["study"] in studies]
    measured.sort(key=lambda row: steps.get((row["study"], row["kernel"], int(row["unroll"])), len(steps)))
    compared = compare_counts(read_rows(snakemake.input.counted), measured)
    device = read_device(snakemake.input.device)
    page = counts_page(compared, device, snakemake.params.command)
    Path(snakemake.output[0]).write_text(page, encoding="utf-8")
    print(f"{len(compared)} values compared, {compared['is_within'].sum()} within the goals")
