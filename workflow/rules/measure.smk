# Binaries to measurements, one job a kernel.


# On a cluster, too, this runs where Snakemake does: it is little work.
localrules:
    collect,


rule describe_device:
    output:
        "results/{platform}/device.json",
    log:
        "results/{platform}/logs/describe_device.log",
    wildcard_constraints:
        platform=LIVE,
    priority: FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **where_points_run(),
    params:
        driver=lambda wildcards: MODELS[wildcards.platform].driver if wildcards.platform in MODELS else None,
        code=code_of("measure/describe_device.py"),
    script:
        "../scripts/measure/describe_device.py"


rule measure_kernel:
    input:
        kernel=kernel_file,
        included=included,
        binary=built("bin"),
        report=built("json"),
        device="results/{platform}/device.json",
        chunks=chunks_of_kernel,
    output:
        points="results/{platform}/points/{study}/{kernel}.csv",
        samples="results/{platform}/samples/{study}/{kernel}.csv",
        builds="results/{platform}/builds/{study}/{kernel}.csv",
    log:
        "results/{platform}/logs/measure_kernel/{study}/{kernel}.log",
    wildcard_constraints:
        platform=LIVE,
    # The longest first, or a GPU would end with one when the others have nothing left to do.
    priority: points_of_job
    conda:
        "../../envs/kernelsweep.yaml"
    # The emulator uses every core by itself.
    threads: lambda wildcards: workflow.cores if wildcards.platform == EMULATOR else 1
    resources:
        **where_points_run(lambda wildcards: measuring_minutes(points_of_job(wildcards), config["measuring"])),
    params:
        # Not an output: Snakemake deletes those before a job starts, and the journal is what survives.
        journal="results/{platform}/journal/{study}/{kernel}.jsonl",
        axes=axes,
        restrictions=restrictions,
        measuring=config["measuring"],
        problem=lambda wildcards: STUDIES[wildcards.study].settings["problem"],
        seed=config["seed"],
        code=code_of("measure/measure_kernel.py"),
    script:
        "../scripts/measure/measure_kernel.py"


# A long kernel's sweep is cut into chunks, a job each, which leave their points in the kernel's journals.
use rule measure_kernel as measure_chunk with:
    input:
        kernel=kernel_file,
        included=included,
        binary=built("bin"),
        report=built("json"),
        device="results/{platform}/device.json",
    output:
        temp("results/{platform}/chunks/{study}/{kernel}/{chunk}-of-{chunks}.json"),
    log:
        "results/{platform}/logs/measure_kernel/{study}/{kernel}/{chunk}-of-{chunks}.log",


rule collect:
    input:
        points=lambda wildcards: parts("points", wildcards.platform, config["studies"]),
        builds=lambda wildcards: parts("builds", wildcards.platform, config["studies"]),
    output:
        measurements="results/{platform}/measurements.csv",
        builds="results/{platform}/builds.csv",
    log:
        "results/{platform}/logs/collect.log",
    wildcard_constraints:
        platform=LIVE,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/collect.py"),
    script:
        "../scripts/measure/collect.py"


rule describe_environment:
    input:
        measurements="results/{platform}/measurements.csv",
        device="results/{platform}/device.json",
        reports=lambda wildcards: [
            f"results/build/{build_target(wildcards.platform)}/{study}/{kernel}.json"
            for study in config["studies"]
            for kernel in STUDIES[study].kernels
        ],
    output:
        "results/{platform}/environment.json",
    log:
        "results/{platform}/logs/describe_environment.log",
    wildcard_constraints:
        platform=LIVE,
    conda:
        "../../envs/kernelsweep.yaml"
    # It says which processor the GPU's host has.
    resources:
        **where_points_run(),
    params:
        configuration={
            "config": config,
            "studies": {study: STUDIES[study].settings for study in config["studies"]},
        },
        code=code_of("measure/describe_environment.py"),
    script:
        "../scripts/measure/describe_environment.py"
