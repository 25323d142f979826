"""Draw a view of the page's explorer as a PDF for a paper, with its LaTeX and its points, and say where they are."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.judge.data.study_data import read_study_data
from kernelsweep.publish.drawing.latex import figure_latex
from kernelsweep.publish.drawing.style import use_font
from kernelsweep.publish.view import draw_view

with logged(snakemake, is_answer=True):
    inputs, plan = snakemake.input, snakemake.params.plan
    data = read_study_data(
        snakemake.wildcards.study, plan.study, inputs.measurements, inputs.device, None, inputs.proofs, plan.edited
    )
    use_font(plan.font)
    drawing = draw_view(data, plan.view, plan.width, plan.gridded)
    picture, latex, points = map(Path, snakemake.output)
    drawing.save(picture)
    latex.write_text(figure_latex(drawing, picture, picture.stem, plan.view), encoding="utf-8")
    drawing.rows.to_csv(points, index=False, lineterminator="\n")
    print(f"  Figure   {picture}\n  LaTeX    {latex}\n  Points   {points}\n  Caption  {drawing.caption}")
