"""Hold the counts of warps of 64 lanes against what omniperf printed: a page of Markdown for docs/."""

from pathlib import Path

from kernelsweep.analysis.published import load_published
from kernelsweep.logs import logged
from kernelsweep.observe.counting.against_omniperf import compare_with_omniperf, omniperf_page
from kernelsweep.results import read_rows

with logged(snakemake.log[0]):
    params = snakemake.params
    file = Path(snakemake.input.published[0])
    published = load_published(params.published, file.parent)
    counted = [row for path in snakemake.input.counted for row in read_rows(path)]
    steps = compare_with_omniperf(counted, published, [entry["name"] for entry in params.kernels])
    Path(snakemake.output[0]).write_text(
        omniperf_page(steps, params.title, published, params.command), encoding="utf-8"
    )
    print(f"{len(steps)} steps compared")
