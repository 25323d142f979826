# Results for others: an archive of each platform, all devices side by side, and a C++ header of the best configurations.

from kernelsweep.share.archive import content_hash, project_files
from kernelsweep.share.reduce_header.offered import TEMPLATE as HEADER_TEMPLATE


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    archive_results,
    compare_devices,
    export_header,


rule archive_results:
    input:
        verdict="results/{platform}/.verdict",
        environment="results/{platform}/environment.json",
    output:
        "results/archive/{platform}.tar.gz",
    log:
        "results/{platform}/logs/archive_results.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        configuration=config,
        project=lambda wildcards: content_hash(ROOT, project_files(ROOT, wildcards.platform)),
        code=code_of("share/archive_results.py"),
    script:
        "../scripts/share/archive_results.py"


# Tables, figures and judgements of every platform that has measurements: what an archive's own README has its reader
# type. There no other rule is allowed, so that nothing is measured.
rule redraw:
    input:
        lambda wildcards: [
            path
            for folder in sorted([*Path("results").glob("*/"), *Path("results/recording").glob("*/")])
            if (folder / "measurements.csv").is_file()
            for path in published_files(folder.relative_to("results").as_posix(), config["studies"])
            + judgements(folder.as_posix())
        ],


# The recordings, and what GPUs measured here, beside each other.
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
        code=code_of("share/compare_devices.py"),
    script:
        "../scripts/share/compare_devices.py"


# Measurements to a C++ header for other programs: each size's best configuration of the kernels that leave one value.
rule export_header:
    input:
        measurements=exported_measurements,
        device="results/{platform}/device.json",
        environment=lambda wildcards: (
            [f"results/{wildcards.platform}/environment.json"] if is_recording(wildcards.platform) else []
        ),
        studies=[f"config/studies/{study}.yaml" for study in EXPORTED],
        sources=lambda wildcards: exported_sources(),
        template=str(HEADER_TEMPLATE.relative_to(ROOT)),
        licence="LICENSE",
    output:
        "results/{platform}/best/reduce.cuh",
    log:
        "results/{platform}/logs/export_header.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=EXPORTED,
        code=code_of("share/export_header.py"),
    script:
        "../scripts/share/export_header.py"
