"""Write environment.json: all that a reader needs to know to measure the same again."""

from pathlib import Path

from kernelsweep.base.json_files import read_json, write_json
from kernelsweep.base.logs import logged
from kernelsweep.compile.build import compiler_of
from kernelsweep.device.description import read_device
from kernelsweep.sweep.environment import describe_environment

with logged(snakemake):
    plan = snakemake.params.plan
    # Kernels that were compiled while they were measured have no reports.
    reports = [read_json(Path(path))["compiler"] for path in snakemake.input.reports]
    compilers = sorted(set(reports)) or [compiler_of(plan.target)]
    device = read_device(snakemake.input.device)
    environment = describe_environment(device, compilers, plan.configuration, plan.kernel_codes)
    write_json(snakemake.output[0], environment)
