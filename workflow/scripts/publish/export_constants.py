"""Write the C++ header of a study's fastest configurations."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.judge.best.best_file import read_best
from kernelsweep.publish.share.best_constants import constants_header

with logged(snakemake):
    best, study = read_best(Path(snakemake.input.best)), snakemake.wildcards.study
    header = constants_header(best, study, snakemake.params.plan.value)
    Path(snakemake.output[0]).write_text(header, encoding="utf-8")
    print(f"{len(header.splitlines())} lines")
