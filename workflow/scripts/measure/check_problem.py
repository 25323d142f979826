"""Check a study's problem file: its functions at a small point, and the arguments of each kernel's launches.

A mistake ends the run before anything is built. What the problem's check of results could not see is told on the
terminal, and in the output: one sentence a line.
"""

from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.measure.arguments import check_arguments
from kernelsweep.sweep.own_study import kernel_of_job
from kernelsweep.sweep.points import Point

with logged(snakemake.log[0]) as terminal:
    doubts = []
    for each in snakemake.params.kernels:
        kernel = kernel_of_job(
            **each["kernel"], path=Path(each["file"]).resolve(), root=Path.cwd(), study=snakemake.wildcards.study
        )
        point = Point(each["point"])
        check_arguments(kernel, point, snakemake.params.seed, f"config/studies/{snakemake.wildcards.study}.yaml")
        doubts += kernel.problem.doubts(point, snakemake.params.seed)
    told = "".join(f"{doubt}\n" for doubt in dict.fromkeys(doubts))
    print(told, end="", file=terminal)
    Path(snakemake.output[0]).write_text(told, encoding="utf-8")
