"""Run a script of workflow/scripts/ on its own, without Snakemake around it.

    uv run python benchmarks/support/stand_in.py sweep/collect job.json

job.json says what the rule says: input, output and params (names with values, or a list), wildcards, and one log.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, Wildcards

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"
sys.path.append(str(SCRIPTS))  # where the library is; Snakemake does the same

from kernelsweep.base import made_from  # noqa: E402


def stand_in(job: dict[str, Any]) -> SimpleNamespace:
    """The object that the script finds as `snakemake`."""
    if "plan" in job["params"]:
        job["params"]["plan"] = SimpleNamespace(**job["params"]["plan"])
    # What reruns.smk adds.
    job["params"] = {**job["params"], made_from.PARAMETER: {"file": "made_from.json", "planned": {}}}
    job["input"] = {**job["input"], made_from.INPUT: ""}
    inputs = InputFiles()
    for name, files in job["input"].items():
        start = len(inputs)
        inputs.extend(files if isinstance(files, list) else [files])
        inputs._set_name(name, start, len(inputs) if isinstance(files, list) else None)
    kinds = {"output": OutputFiles, "params": Params, "wildcards": Wildcards}
    parts = {
        name: kind(fromdict=job[name]) if isinstance(job[name], dict) else kind(job[name])
        for name, kind in kinds.items()
    }
    return SimpleNamespace(**parts, input=inputs, log=Log([job["log"]]), threads=1)


def main() -> None:
    """Run the script that is named first for the job that is named second."""
    script, job = sys.argv[1:]
    described = json.loads(Path(job).read_text(encoding="utf-8"))
    runpy.run_path(str(SCRIPTS / f"{script}.py"), {"snakemake": stand_in(described)}, "__main__")


if __name__ == "__main__":
    main()
