"""Make a study's table and its figures, and what the text on its steps takes from data.

The table is written as Markdown and CSV, and in short as LaTeX. Figures have the sweep's formats, and are PDFs of
further widths; each PDF has its LaTeX beside it. texts.json has their texts for the page.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.judge.data.study_data import Metrics, load_metrics, read_study_data
from kernelsweep.publish.drawing.figure_formats import file_names, narrow_name
from kernelsweep.publish.drawing.layout import PHONE, TWO_COLUMNS, WIDTHS
from kernelsweep.publish.drawing.style import use_font
from kernelsweep.publish.figure_files import TEXTS_FILE
from kernelsweep.publish.figures import DRAWERS
from kernelsweep.publish.steps.findings import story_data
from kernelsweep.publish.tables.formats import as_latex, as_markdown
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import best_table, counters_table, short_text, table_text
from kernelsweep.publish.view import labelled


def draw_files(name: str) -> dict[str, dict[str, str]]:
    """Draw a figure's files. Returns its texts by its name; nothing where it isn't drawn over two columns."""
    texts = {}
    for width_name, width in widths.items():
        drawing = DRAWERS[name](shown, width)
        for file in (folder / file_name for file_name in file_names(name, width_name, plan.formats)):
            drawing.save(file)
            if file.suffix == ".pdf" and not drawing.missing:
                latex = drawing.latex(file, f"{study}-{file.stem}")
                file.with_suffix(".tex").write_text(latex, encoding="utf-8")
        if width == TWO_COLUMNS:
            narrow = DRAWERS[name](shown, PHONE)
            narrow.save(folder / narrow_name(name))
            texts[name] = drawing.texts | {"narrow_caption": narrow.caption}
    return texts


with logged(snakemake):
    study, inputs, plan = snakemake.wildcards.study, snakemake.input, snakemake.params.plan
    metric_files = [*inputs.metrics, *plan.found_metrics]
    metrics = Metrics(load_metrics(list(map(Path, metric_files)), study), plan.definitions)
    data = read_study_data(
        study, plan.study, inputs.measurements, inputs.device, metrics, inputs.proofs, plan.edited, plan.gridded
    )
    markdown, csv, latex, best, counters, story, folder = map(Path, snakemake.output)
    folder.mkdir(exist_ok=True)
    use_font(plan.font)
    shown = labelled(data)
    widths = {name: WIDTHS.get(name, name) for name in plan.widths}
    texts: dict[str, dict[str, str]] = {}
    table = study_table(data)
    # Forks, which have data and table: a figure is drawn by Python code, of which a process runs one line at a time.
    with ProcessPoolExecutor(snakemake.threads, get_context("fork")) as processes:
        drawn = processes.map(draw_files, plan.figures)
        text = table_text(table, data)
        markdown.write_text(as_markdown(text), encoding="utf-8")
        csv.write_text(table.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
        latex.write_text(as_latex(short_text(table, data)), encoding="utf-8")
        best.write_text(as_latex(best_table(data)), encoding="utf-8")
        counters.write_text(as_latex(counters_table(data)), encoding="utf-8")
        write_json(story, story_data(data, plan.named, plan.accesses))
        for of_figure in drawn:
            texts |= of_figure
    write_json(folder / TEXTS_FILE, texts)
