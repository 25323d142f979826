"""Pack a platform's results with everything that is needed to draw them again."""

import json
from pathlib import Path

from kernelsweep.logs import logged
from kernelsweep.share.archive import archive

with logged(snakemake.log[0]):
    environment = json.loads(Path(snakemake.input.environment).read_text(encoding="utf-8"))
    packed = archive(Path(), snakemake.wildcards.platform, snakemake.params.configuration, environment)
    Path(snakemake.output[0]).write_bytes(packed)
