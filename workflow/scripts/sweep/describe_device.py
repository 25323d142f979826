"""Describe the device of a live platform: what results are read against, and how they came about."""

import json
from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.device.kinds import kind_of, load

with logged(snakemake):
    platform = snakemake.wildcards.platform
    device = load(kind_of(platform).implementation).describe(platform)
    Path(snakemake.output[0]).write_text(
        json.dumps({"platform": platform, **device}, indent=1) + "\n", encoding="utf-8"
    )
