"""Draw a view of the page's explorer as a PDF for a paper, with its LaTeX and its points, and say where they are."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.errors import UserError
from kernelsweep.judge.best.best_words import use_rows
from kernelsweep.judge.best.find import reference_uses
from kernelsweep.judge.data.measurements import covering
from kernelsweep.judge.data.study_data import read_study_data
from kernelsweep.publish.drawing.style import use_font
from kernelsweep.publish.page.explorer import explorer_data
from kernelsweep.publish.view import draw_view
from kernelsweep.publish.view_address import whole_address
from kernelsweep.results import rows_in

with logged(snakemake, is_answer=True):
    inputs, plan, study = snakemake.input, snakemake.params.plan, snakemake.wildcards.study
    data = read_study_data(study, plan.study, inputs.measurements, inputs.device, None, inputs.proofs, plan.edited)
    use_font(plan.font)
    # What the page opens at the address.
    uses = use_rows(reference_uses(data), data.settings)
    known = {**plan.study, "names": data.kernel_names, "gridded": plan.gridded, "uses": uses}
    if not (explored := explorer_data({study: known}, rows_in(covering(inputs.measurements, [study])))):
        raise UserError(f"view: {study} has no timed point.")
    view = whole_address(plan.view, explored[study])
    drawing = draw_view(data, view, plan.width, plan.gridded)
    picture, latex, points = map(Path, snakemake.output)
    drawing.save(picture)
    latex.write_text(drawing.latex(picture, picture.stem, view), encoding="utf-8")
    drawing.rows.to_csv(points, index=False, lineterminator="\n")
    print(f"{picture}\n{latex}\n{points}\n\n  Caption  {drawing.caption}")
