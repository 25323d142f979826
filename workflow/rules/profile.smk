# Kernels under NVIDIA's Nsight Compute: their hardware counters, one job a kernel, in none of the runs that are timed.


# On a cluster, too, this runs where Snakemake does: it is little work.
localrules:
    collect_metrics,


rule profile_kernel:
    input:
        kernel=kernel_file,
        included=included,
        binary=built("bin"),
        report=built("json"),
        device="results/{platform}/device.json",
    output:
        metrics="results/{platform}/metrics/{study}/{kernel}.csv",
        # For Nsight Compute's window; empty where it gave no counters.
        reports=directory("results/{platform}/profiles/{study}/{kernel}"),
    log:
        "results/{platform}/logs/profile_kernel/{study}/{kernel}.log",
    wildcard_constraints:
        platform=LIVE,
    conda:
        "../../envs/profiling.yaml"
    resources:
        **where_points_run(lambda wildcards: profiling_minutes(profiled_points(wildcards), config["profiling"])),
    params:
        metrics=lambda wildcards: metric_definitions(wildcards.study),
        profiling=config["profiling"],
        study=lambda wildcards: {
            key: STUDIES[wildcards.study].settings[key] for key in ("problem", "reference", "ladder", "profiled")
        },
        axes=axes,
        restrictions=restrictions,
        seed=config["seed"],
        code=code_of("observe/profile_kernel.py"),
    script:
        "../scripts/observe/profile_kernel.py"


rule collect_metrics:
    input:
        lambda wildcards: metric_parts(wildcards.platform, config["studies"]),
    output:
        "results/{platform}/metrics.csv",
    log:
        "results/{platform}/logs/collect_metrics.log",
    wildcard_constraints:
        platform=LIVE,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/collect_metrics.py"),
    script:
        "../scripts/observe/collect_metrics.py"
