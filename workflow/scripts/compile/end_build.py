"""End a build: say how many kernels compile, and fail where one or some of its variants don't, with the reason."""

from pathlib import Path

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged
from kernelsweep.errors import UserError

with logged(snakemake, is_answer=True):
    target, refused = snakemake.wildcards.target, []
    for file in map(Path, snakemake.input.reports):
        report, kernel = read_json(file), f"{file.parent.name}/{file.stem}"
        if report["status"] != "ok":
            refused.append(f"{kernel} does not compile ({target}):\n{report['message']}")
        elif report["failed"]:
            (first, message), count = next(iter(report["failed"].items())), len(report["failed"])
            refused.append(f"{kernel}: {count} variants do not compile ({target}), such as {first}:\n{message}")
    total = len(snakemake.input.reports)
    print(f"Compiled ({target}): {total - len(refused)} of {total} kernels.")
    if refused:
        raise UserError("\n".join(refused))
