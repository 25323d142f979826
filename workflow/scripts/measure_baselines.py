"""Sum a study's reference array on the host's processor, in each way that the study names: rows for measurements."""

import json
import sys
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.baselines import measure_baselines
from kernelsweep.lease import lease
from kernelsweep.logs import logged
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows
from kernelsweep.sampling import Sampling

with logged(snakemake.log[0]):
    wildcards, params = snakemake.wildcards, snakemake.params
    device = json.loads(Path(snakemake.input.device).read_text())
    # The GPU isn't used, but what its jobs do on the host would show in the times.
    with lease(device.get("uuid", device["name"])):
        rows = measure_baselines(
            names=params.baselines,
            reference=params.reference,
            source=Path(snakemake.input.source),
            seed=params.seed,
            sampling=Sampling(**{field.name: params.measuring[field.name] for field in fields(Sampling)}),
            known={"study": wildcards.study, "platform": wildcards.platform},
        )
    write_rows(snakemake.output[0], MEASUREMENT_COLUMNS, rows)
    for row in rows:
        print(row["kernel"], row["status"], row.get("time_us", ""), row["message"] or "")
