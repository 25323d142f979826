"""Describe the device of a live platform: what results are read against, and how they came about."""

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.device.kinds import kind_of, load

with logged(snakemake):
    platform = snakemake.wildcards.platform
    device = load(kind_of(platform).implementation).describe(platform)
    write_json(snakemake.output[0], {"platform": platform, **device})
