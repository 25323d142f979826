"""Compile the part of the emulator that every kernel's library contains."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.compile.emulated import compile_runtime

with logged(snakemake):
    compile_runtime(Path(snakemake.input.source).parent, Path(snakemake.output[0]))
