# The recordings, and what GPUs measured here, beside each other.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    compare_devices,


rule compare_devices:
    input:
        recordings=[
            f"resources/recordings/{name}/{file}"
            for name in recordings(ROOT)
            for file in ("measurements.csv.gz", "environment.json")
        ],
        own=[
            f"results/{platform}/{file}"
            for platform in MODELS
            for file in ("measurements.csv", "device.json", "claims.csv")
        ],
    output:
        page="results/devices/devices.md",
        rows="results/devices/devices.csv",
        claims="results/devices/claims.csv",
        figures=directory("results/devices/figures"),
    log:
        "results/devices/logs/compare_devices.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        measurements=lambda wildcards: compared_measurements(),
        claims=lambda wildcards: judged_claims(),
        hashes=lambda wildcards: [
            *(sha256_of(f"results/{platform}/measurements.csv") for platform in others_measured()),
            *(sha256_of(path) for platform, path in judged_claims().items() if platform not in MODELS),
        ],
        # An exchange has no bandwidth to compare.
        studies={
            study: STUDIES[study].settings
            for study in config["studies"]
            if STUDIES[study].settings["problem"] == "reduction"
        },
        widths=config["figure_widths"],
        code=code_of("compare_devices.py"),
    script:
        "../scripts/compare_devices.py"
