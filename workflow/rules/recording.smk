# A recording in place of measuring and profiling: the same files, unpacked.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    play_recording,
    play_metrics,


# A recording takes the place of measuring: its rows come out as they were measured.
rule play_recording:
    input:
        measurements="resources/recordings/{name}/measurements.csv.gz",
        builds="resources/recordings/{name}/builds.csv",
        environment="resources/recordings/{name}/environment.json",
    output:
        measurements="results/recording/{name}/measurements.csv",
        builds="results/recording/{name}/builds.csv",
        environment="results/recording/{name}/environment.json",
        device="results/recording/{name}/device.json",
    log:
        "results/recording/{name}/logs/play_recording.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/play_recording.py"),
    script:
        "../scripts/measure/play_recording.py"


# A recording's metrics come out as they were collected.
rule play_metrics:
    input:
        "resources/recordings/{name}/metrics.csv.gz",
    output:
        "results/recording/{name}/metrics.csv",
    log:
        "results/recording/{name}/logs/play_metrics.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/play_metrics.py"),
    script:
        "../scripts/measure/play_metrics.py"
