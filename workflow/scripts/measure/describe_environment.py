"""Write environment.json: all that a reader needs to know to measure the same again."""

import json
from pathlib import Path

from kernelsweep.build.build_report import read_report
from kernelsweep.logs import logged
from kernelsweep.measure.environment import describe_environment

with logged(snakemake.log[0]):
    compilers = sorted({read_report(Path(path))["compiler"] for path in snakemake.input.reports})
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    environment = describe_environment(device, compilers, snakemake.params.configuration)
    Path(snakemake.output[0]).write_text(json.dumps(environment, indent=1) + "\n", encoding="utf-8")
