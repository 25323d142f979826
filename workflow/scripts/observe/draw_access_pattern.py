"""Draw the memory accesses of one warp of each kernel of a study, step by step, as SVG, PNG and PDF."""

import json
from pathlib import Path

from kernelsweep.drawing.layout import save
from kernelsweep.logs import logged
from kernelsweep.observe.counting.access_pattern import draw

with logged(snakemake.log[0]):
    traces = [json.loads(Path(path).read_text(encoding="utf-8")) for path in snakemake.input.traces]
    figure = draw(snakemake.params.title, traces)
    for path in snakemake.output:
        save(figure, Path(path))
