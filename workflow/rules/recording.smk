# A recording takes the place of measuring: its rows and metrics come out as they were measured.


rule play_recording:
    input:
        measurements=path("recorded", file="measurements.csv.gz"),
        builds=path("recorded", file="builds.csv"),
        environment=path("recorded", file="environment.json"),
        metrics=lambda wildcards: [
            *filter(os.path.isfile, [path("recorded", name=wildcards.name, file="metrics.csv.gz")])
        ],
    output:
        measurements=path("measurements", platform="recording/{name}"),
        builds=path("builds", platform="recording/{name}"),
        environment=path("environment", platform="recording/{name}"),
        device=path("device", platform="recording/{name}"),
        metrics=path("metrics", platform="recording/{name}"),
    log:
        log("play_recording", scope="recording/{name}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/sweep/play_recording.py"
