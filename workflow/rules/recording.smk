# A recording takes the place of measuring: its rows and metrics come out as they were measured.


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    play_recording,
    play_metrics,


rule play_recording:
    input:
        measurements=files.recording(file="measurements.csv.gz"),
        builds=files.recording(file="builds.csv"),
        environment=files.recording(file="environment.json"),
    output:
        measurements=files.measurements("recording/{name}"),
        builds=files.builds("recording/{name}"),
        environment=files.environment("recording/{name}"),
        device=files.device("recording/{name}"),
    log:
        files.log("play_recording", scope="recording/{name}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/play_recording.py"),
    script:
        "../scripts/measure/play_recording.py"


rule play_metrics:
    input:
        files.recording(file="metrics.csv.gz"),
    output:
        files.metrics("recording/{name}"),
    log:
        files.log("play_metrics", scope="recording/{name}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/play_metrics.py"),
    script:
        "../scripts/measure/play_metrics.py"
