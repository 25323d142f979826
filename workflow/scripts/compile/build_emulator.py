"""Compile the part of the emulator that every kernel's library contains."""

import shutil
from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.compile.emulated import compiled_runtime

with logged(snakemake):
    for file in compiled_runtime(Path(snakemake.input.source).parent).parent.iterdir():
        shutil.copyfile(file, Path(snakemake.output[0]).with_name(file.name))
