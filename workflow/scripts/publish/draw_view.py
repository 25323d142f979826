"""Draw a view of the page's explorer as a PDF for a paper, and say where it is, with a caption."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.judge.data.study_data import read_study_data
from kernelsweep.publish.drawing.layout import save, texts_of
from kernelsweep.publish.view import draw_view

with logged(snakemake, is_answer=True):
    inputs, plan = snakemake.input, snakemake.params.plan
    data = read_study_data(
        snakemake.wildcards.study, plan.study, inputs.measurements, inputs.device, None, inputs.proofs, plan.edited
    )
    figure = draw_view(data, plan.view, plan.width, plan.gridded)
    save(figure, Path(snakemake.output[0]))
    print(f"  Figure   {snakemake.output[0]}\n  Caption  {texts_of(figure)['caption']}")
