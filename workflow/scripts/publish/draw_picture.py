"""Draw a picture of a study's accesses as a PDF for a paper, with its LaTeX, and say where they are."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.publish.drawing.access_picture import read_picture
from kernelsweep.publish.drawing.style import use_font

with logged(snakemake, is_answer=True):
    study, name = snakemake.wildcards.study, snakemake.wildcards.name
    use_font(snakemake.params.plan.value)
    drawing = read_picture(Path(snakemake.input.accesses) / f"{name}.svg")
    picture, latex = map(Path, snakemake.output)
    drawing.save(picture)
    latex.write_text(drawing.latex(picture, f"{study}-{name}"), encoding="utf-8")
    print(f"{picture}\n{latex}\n\n  Caption  {drawing}")
