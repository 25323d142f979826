"""Draw the memory accesses of one warp of each kernel of a study, step by step, as SVG, PNG and PDF."""

from pathlib import Path

from kernelsweep.drawing.layout import save
from kernelsweep.json_files import read_json
from kernelsweep.logs import logged
from kernelsweep.observe.counting.access_pattern import draw

with logged(snakemake.log[0]):
    traces = [read_json(path) for path in snakemake.input.traces]
    figure = draw(snakemake.params.title, traces)
    for path in snakemake.output:
        save(figure, Path(path))
