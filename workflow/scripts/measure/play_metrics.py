"""Unpack a recording's metrics into results: the same file that profiling would have written."""

import gzip
import shutil

from kernelsweep.logs import logged

with logged(snakemake.log[0]), gzip.open(snakemake.input[0]) as packed, open(snakemake.output[0], "wb") as rows:
    shutil.copyfileobj(packed, rows)
