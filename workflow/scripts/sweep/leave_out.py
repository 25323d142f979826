"""End the job of a study with a mistake in its files: the run has told it at its start, and tells it at its end."""

from kernelsweep.base.logs import logged
from kernelsweep.errors import UserError

with logged(snakemake, is_answer=True):
    raise UserError(snakemake.params.plan.value)
