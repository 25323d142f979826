# The recordings, and what GPUs measured here, beside each other.


def own_gpu():
    """The GPU's platform where this run measures on it, as a list."""
    return [GPU.platform] if GPU and GPU.platform in PLATFORMS else []


def others_measured():
    """The platforms of GPUs that have results here from earlier runs: shown, but neither made nor renewed."""
    descriptions = [json.loads(path.read_text()) for path in sorted(Path("results").glob("*/device.json"))]
    return [
        device["platform"]
        for device in descriptions
        if device["kind"] == "gpu"
        and device["platform"] not in own_gpu()
        and os.path.isfile(f"results/{device['platform']}/measurements.csv")
    ]


def compared_measurements():
    """The measurements of every device by platform, this machine's first, then the newest recording's."""
    live = {platform: f"results/{platform}/measurements.csv" for platform in (*own_gpu(), *others_measured())}
    return live | {f"recording/{name}": f"resources/recordings/{name}/measurements.csv.gz" for name in recordings(ROOT)}


def judged_claims():
    """The claims that were judged before, by platform: shown, but neither made nor renewed."""
    files = {platform: f"results/{platform}/claims.csv" for platform in compared_measurements()}
    return {platform: path for platform, path in files.items() if os.path.isfile(path)}


rule compare_devices:
    input:
        recordings=[
            f"resources/recordings/{name}/{file}"
            for name in recordings(ROOT)
            for file in ("measurements.csv.gz", "environment.json")
        ],
        own=[f"results/{platform}/{file}" for platform in own_gpu() for file in ("measurements.csv", "device.json")],
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
            *map(sha256_of, judged_claims().values()),
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
