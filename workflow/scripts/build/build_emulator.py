"""Compile the part of the emulator that every kernel's library contains."""

from pathlib import Path

from kernelsweep.build.gcc import compile_runtime
from kernelsweep.logs import logged
from kernelsweep.sweep.kernels.build_targets import target_named

with logged(snakemake.log[0]):
    lanes = target_named(snakemake.wildcards.target).lanes
    compile_runtime(Path(snakemake.input.source).parent, Path(snakemake.output[0]), lanes=lanes)
