"""Compile the part of the emulator that every kernel's library contains."""

from pathlib import Path

from kernelsweep.compile.emulated import compile_runtime
from kernelsweep.logs import logged

with logged(snakemake):
    compile_runtime(Path(snakemake.input.source).parent, Path(snakemake.output[0]))
