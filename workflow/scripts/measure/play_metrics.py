"""Unpack a recording's metrics into results: the same file that profiling would have written."""

import gzip
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.logs import logged

with logged(snakemake.log[0]), gzip.open(snakemake.input[0]) as packed, open(snakemake.output[0], "wb") as rows:
    shutil.copyfileobj(packed, rows)
