"""Sum a study's reference array on the host's processor, by each of the study's baselines."""

from pathlib import Path

from kernelsweep.baselines.host import measure_baselines
from kernelsweep.logs import logged, notifier
from kernelsweep.measure.sampling import sampling_settings
from kernelsweep.platforms.lease import leased_host
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows

with logged(snakemake.log[0]) as terminal:
    wildcards, params = snakemake.wildcards, snakemake.params

    # No GPU is used, but jobs that use one would disturb the host's times.
    with leased_host(wildcards.platform, notifier(terminal, f"{wildcards.study}, on the host")):
        rows = measure_baselines(
            names=params.baselines,
            problem=problem_of(params.problem, Path.cwd()),
            reference=params.reference,
            source=Path(snakemake.input.source),
            seed=params.seed,
            sampling=sampling_settings(params.measuring),
            known={"study": wildcards.study, "platform": wildcards.platform},
        )
    write_rows(snakemake.output[0], MEASUREMENT_COLUMNS, rows)
    for row in rows:
        print(row["kernel"], row["status"], row.get("time_us", ""), row["message"] or "")
