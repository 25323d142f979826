"""Draw one of a study's figures, as SVG, PNG and PDF."""

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.figures.style import save
from kernelsweep.logs import logged
from kernelsweep.measurements import load_measurements, of_kernels
from kernelsweep.published import load_published, load_published_outputs

with logged(snakemake.log[0]):
    study = snakemake.params.study
    measurements = load_measurements([Path(path) for path in snakemake.input.measurements])
    measurements = of_kernels(study, measurements[measurements["study"] == snakemake.wildcards.study])
    device = json.loads(Path(snakemake.input.device).read_text())
    # An exchange's published figures are outputs, not times.
    load = load_published_outputs if study["problem"] == "exchange" else load_published
    published = load(study["published"], Path("resources/published"))

    module = importlib.import_module(f"kernelsweep.figures.{snakemake.wildcards.figure}")
    figure = module.draw(study, measurements, device, published)
    for path in snakemake.output:
        save(figure, Path(path))
