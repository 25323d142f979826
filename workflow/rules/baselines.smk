# What kernels are compared with: sums on the host, reductions by libraries, and the driver's copy and fill.


# The same sums on the host's processor, which tables set beside the kernels.
rule measure_host:
    input:
        source="workflow/scripts/kernelsweep/baselines/host_sums.cpp",
        device="results/{platform}/device.json",
    output:
        "results/{platform}/baselines/{study}.csv",
    log:
        "results/{platform}/logs/measure_host/{study}.log",
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
        code=code_of("measure/measure_host.py"),
    script:
        "../scripts/measure/measure_host.py"


# Libraries' reductions on the GPU, a job each.
rule measure_library:
    input:
        library=lambda wildcards: f"results/build/{build_target(wildcards.platform)}/cub.so",
        report=lambda wildcards: f"results/build/{build_target(wildcards.platform)}/cub.json",
        device="results/{platform}/device.json",
    output:
        points="results/{platform}/rivals/{study}/{rival}.csv",
        samples="results/{platform}/rivals/{study}/samples/{rival}.csv",
    log:
        "results/{platform}/logs/measure_library/{study}/{rival}.log",
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
                "measure/measure_library.py",
                "kernelsweep/baselines/library_platform.py",
                f"kernelsweep/baselines/{wildcards.rival}.py",
            )
        ],
    script:
        "../scripts/measure/measure_library.py"


# What the device's memory can do: the driver's copy and fill.
rule measure_driver:
    input:
        device="results/{platform}/device.json",
    output:
        "results/{platform}/limits/{study}.csv",
    log:
        "results/{platform}/logs/measure_driver/{study}.log",
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
        code=code_of("measure/measure_driver.py"),
    script:
        "../scripts/measure/measure_driver.py"
