"""Copy one of a recording's results to the documents."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.logs import logged

with logged(snakemake.log[0]):
    shutil.copyfile(snakemake.input[0], snakemake.output[0])
