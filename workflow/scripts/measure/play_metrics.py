"""Unpack a recording's metrics into results: the same file that profiling would have written."""

import gzip
import shutil
from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.share.recording import check_content

with logged(snakemake.log[0]):
    check_content(Path(snakemake.input[0]).parent)
    with gzip.open(snakemake.input[0]) as packed, open(snakemake.output[0], "wb") as rows:
        shutil.copyfileobj(packed, rows)
