"""Time the driver's copy and fill at every size of a study: what the device's memory can do, as measurement rows."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.baselines.driver import limit_points, measure_limits
from kernelsweep.logs import logged, teller
from kernelsweep.measure.sampling import sampling
from kernelsweep.platforms.lease import leased_gpu
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params
    device = json.loads(Path(snakemake.input.device).read_text(encoding="utf-8"))
    with leased_gpu(wildcards.platform, teller(terminal, f"{wildcards.study}, limits")):
        # It starts CUDA, which sees the leased GPU alone.
        from kernelsweep.platforms.gpu import GpuPlatform

        platform = GpuPlatform()
        rows = measure_limits(
            platform,
            names=params.limits,
            planned=limit_points(params.axes, params.reference),
            sampling=sampling(params.measuring),
            peak_bandwidth_gbs=device["peak_bandwidth_gbs"],
            known={"study": wildcards.study, "platform": wildcards.platform, "device": device["name"]},
        )
        platform.close()
    write_rows(snakemake.output[0], MEASUREMENT_COLUMNS, rows)
    for row in rows:
        print(row["kernel"], row["array_size"], row["cache"], row["status"], row.get("bandwidth_gbs", ""))
