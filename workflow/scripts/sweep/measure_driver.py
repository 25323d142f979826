"""Time the driver's copy and fill at every size of a study, which are limits of the device's memory."""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.device.description import read_device
from kernelsweep.device.lease import leased_device
from kernelsweep.device.sampling import sampling_settings
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.sweep.baselines.driver import driver_points, measure_driver

with logged(snakemake) as terminal:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    device = read_device(snakemake.input.device)
    problem = problem_of(plan.problem, Path.cwd())
    with leased_device(wildcards.platform, device, f"{wildcards.study}, limits", terminal):
        # This import starts CUDA, which then sees only the leased GPU.
        from kernelsweep.device.gpu import GpuPlatform

        platform = GpuPlatform()
        rows = measure_driver(
            platform,
            names=plan.limits,
            problem=problem,
            planned=driver_points(problem, reference=plan.reference, **plan.sweep),
            sampling=sampling_settings(plan.measuring),
            peak_bandwidth_gbs=device["peak_bandwidth_gbs"],
            known={"study": wildcards.study, "platform": wildcards.platform, "device": device["name"]},
        )
        platform.close()
    write_rows(snakemake.output[0], MEASUREMENT_COLUMNS, rows)
    for row in rows:
        print(
            row["kernel"],
            row.get("array_size"),
            row["parameters"],
            row["cache"],
            row["status"],
            row.get("bandwidth_gbs", ""),
        )
