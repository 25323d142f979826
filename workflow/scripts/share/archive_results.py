"""Pack a platform's results with everything that is needed to draw them again."""

from pathlib import Path

from kernelsweep.json_files import read_json
from kernelsweep.logs import logged
from kernelsweep.share.archive import archive

with logged(snakemake.log[0]):
    environment = read_json(snakemake.input.environment)
    packed = archive(Path(), snakemake.wildcards.platform, snakemake.params.configuration, environment)
    Path(snakemake.output[0]).write_bytes(packed)
