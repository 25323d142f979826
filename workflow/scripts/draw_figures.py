"""Draw a study's figures, each as SVG, PNG and PDF."""

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.figures.style import FORMATS, save
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

    folder = Path(snakemake.output[0])
    for name in snakemake.params.figures:
        module = importlib.import_module(f"kernelsweep.figures.{name}")
        figure = module.draw(study, measurements, device, published)
        for suffix in FORMATS:
            save(figure, folder / f"{name}{suffix}")
