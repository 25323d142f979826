"""Draw a study's figures, each as SVG, PNG and PDF, as a PDF of each further width; and texts.json, what they say."""

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.published import load_published, load_published_metrics, load_published_outputs
from kernelsweep.analysis.reference import of_kernels, on_device
from kernelsweep.analysis.step_metrics import Metrics, load_metrics
from kernelsweep.drawing.style import TWO_COLUMNS, WIDTHS_IN, file_names, save, texts
from kernelsweep.logs import logged
from kernelsweep.publish.figures import FIGURES_OF_METRICS, FIGURES_WITH_RIVALS, TEXTS_FILE

with logged(snakemake.log[0]):
    study = snakemake.params.study
    of_study = load_measurements([Path(path) for path in snakemake.input.measurements], snakemake.wildcards.study)
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    directory = Path("resources/published")
    # An exchange's published figures are outputs, neither times nor metrics.
    exchanges = study["problem"] == "exchange"
    published = (load_published_outputs if exchanges else load_published)(study["published"], directory)
    rows = load_metrics([Path(path) for path in (*snakemake.input.metrics, *snakemake.params.found_metrics)])
    metrics = Metrics(
        rows[rows["study"] == snakemake.wildcards.study],
        snakemake.params.definitions,
        None if exchanges else load_published_metrics(study["published"], directory),
    )

    folder = Path(snakemake.output[0])
    said = {}
    for name in snakemake.params.figures:
        module = importlib.import_module(f"kernelsweep.publish.figures.{name}")
        further = (metrics,) if name in FIGURES_OF_METRICS else ()
        rows = (on_device if name in FIGURES_WITH_RIVALS else of_kernels)(study, of_study)
        for width in snakemake.params.widths:
            figure = module.draw(study, rows, device, published, *further, width_in=WIDTHS_IN[width])
            for file_name in file_names(name, width):
                save(figure, folder / file_name)
            if width == TWO_COLUMNS:
                said[name] = texts(figure)
    (folder / TEXTS_FILE).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
