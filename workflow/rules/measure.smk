# Binaries to measurements, one job a kernel; or the same files from a recording.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    collect,
    play_recording,


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
        code=code_of("describe_device.py"),
    script:
        "../scripts/describe_device.py"


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
        code=code_of("measure_kernel.py"),
    script:
        "../scripts/measure_kernel.py"


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


# The same sums on the host's processor, which tables set beside the kernels.
rule measure_baselines:
    input:
        source="workflow/baselines/sums.cpp",
        device="results/{platform}/device.json",
    output:
        "results/{platform}/baselines/{study}.csv",
    log:
        "results/{platform}/logs/measure_baselines/{study}.log",
    wildcard_constraints:
        platform=TIMED,
    conda:
        "../../envs/kernelsweep.yaml"
    # By itself: no build or drawing beside it shows in its times, and no GPU waits for others that it keeps from jobs.
    threads: lambda wildcards: workflow.cores or 1
    resources:
        **where_points_run(),
    params:
        baselines=lambda wildcards: STUDIES[wildcards.study].settings["baselines"],
        reference=lambda wildcards: STUDIES[wildcards.study].settings["reference"],
        measuring=config["measuring"],
        seed=config["seed"],
        code=code_of("measure_baselines.py"),
    script:
        "../scripts/measure_baselines.py"


# Libraries' reductions on the GPU, a job each.
rule measure_rival:
    input:
        library=lambda wildcards: f"results/build/{build_target(wildcards.platform)}/cub.so",
        report=lambda wildcards: f"results/build/{build_target(wildcards.platform)}/cub.json",
        device="results/{platform}/device.json",
    output:
        points="results/{platform}/rivals/{study}/{rival}.csv",
        samples="results/{platform}/rivals/{study}/samples/{rival}.csv",
    log:
        "results/{platform}/logs/measure_rival/{study}/{rival}.log",
    wildcard_constraints:
        platform=TIMED,
        rival="|".join(RIVALS),
    # Few points, but a library that is started for each visit: as long as a long kernel.
    priority: config["points_per_job"]
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **where_points_run(lambda wildcards: measuring_minutes(points_of_rival(wildcards), config["measuring"])),
    params:
        journal="results/{platform}/journal/{study}/{rival}.jsonl",
        axes=lambda wildcards: rival_axes(config, STUDIES[wildcards.study], wildcards.platform),
        restrictions=restrictions,
        measuring=config["measuring"],
        seed=config["seed"],
        code=lambda wildcards: [
            code_of(name)
            for name in (
                "measure_rival.py",
                "kernelsweep/platforms/rival.py",
                f"kernelsweep/rivals/{wildcards.rival}.py",
            )
        ],
    script:
        "../scripts/measure_rival.py"


# What the device's memory can do: the driver's copy and fill.
rule measure_limits:
    input:
        device="results/{platform}/device.json",
    output:
        "results/{platform}/limits/{study}.csv",
    log:
        "results/{platform}/logs/measure_limits/{study}.log",
    wildcard_constraints:
        platform=TIMED,
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **where_points_run(lambda wildcards: measuring_minutes(points_of_rival(wildcards), config["measuring"])),
    params:
        limits=lambda wildcards: driver_limits(wildcards.study),
        reference=lambda wildcards: STUDIES[wildcards.study].settings["reference"],
        axes=lambda wildcards: rival_axes(config, STUDIES[wildcards.study], wildcards.platform),
        measuring=config["measuring"],
        code=code_of("measure_limits.py"),
    script:
        "../scripts/measure_limits.py"


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
        code=code_of("collect.py"),
    script:
        "../scripts/collect.py"


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
        code=code_of("describe_environment.py"),
    script:
        "../scripts/describe_environment.py"


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
        code=code_of("play_recording.py"),
    script:
        "../scripts/play_recording.py"
