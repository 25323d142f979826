"""End the job of a study with a mistake in its files: the run has told it at its start, and tells it at its end."""

from kernelsweep.errors import UserError
from kernelsweep.logs import logged

with logged(snakemake, is_answer=True):
    raise UserError(snakemake.params.plan.value)
