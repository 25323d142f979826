# kernelsweep: configuration, includes and targets. The rules are in workflow/rules/, one file a stage.

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/metrics.yaml"
configfile: "config/config.yaml"


# The introduction of Snakemake's own report (snakemake --report report.zip).
report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/build.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/baselines.smk"
include: "workflow/rules/recording.smk"
include: "workflow/rules/profile.smk"
include: "workflow/rules/count.smk"
include: "workflow/rules/sanitize.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/share.smk"


rule all:
    default_target: True
    input:
        [end_of_run(platform) for platform in PLATFORMS],
        [joined_metrics(platform) for platform in PLATFORMS],
        # Only if your own GPU is measured and there is another one, or a recording, to compare it with. Otherwise the page
        # would contain only recordings.
        ["results/devices/devices.md"] if MODELS and (len(MODELS) > 1 or recordings(ROOT)) else [],


# Each study is also a target: snakemake --cores 1 unrolling
for study in STUDIES:

    rule:
        name:
            study
        input:
            [end_of_run(platform, study) for platform in PLATFORMS],


# Everything that `all` makes, packed into one file a platform. The same tables and figures can be drawn from it on any
# machine.
rule archive:
    input:
        [f"results/archive/{platform}.tar.gz" for platform in PLATFORMS],


# Compare your own GPU with the recordings. It is measured first if it has no results.
rule devices:
    input:
        "results/devices/devices.md",


# A C++ header that reduces arrays with each size's best configuration, from the studies whose kernels leave one value by
# one launch. It needs times, from a GPU or from a recording with such kernels. Not part of `all`.
rule header:
    input:
        lambda wildcards: headers(),


# Only compile. On a machine without the GPU, name its architecture: --config arch=sm_90.
rule build:
    input:
        [binaries(study, kernel) for study in config["studies"] for kernel in STUDIES[study].kernels],


# Compare each kernel before and after an edit; the current measurements are brought up to date first. `compare` in
# config.yaml can name two other sweeps. Not part of `all`.
rule compare:
    input:
        lambda wildcards: comparison_verdict(),


# Collect hardware counters with NVIDIA's Nsight Compute. Needs a GPU and the CUDA toolkit. Part of `all` if config.yaml
# says profile: true.
rule profile:
    input:
        lambda wildcards: [f"results/{platform}/metrics.csv" for platform in to_profile("The target profile")],


# Count every kernel's memory accesses on the emulator, and find mistakes in them. Needs no GPU. Not part of `all`, which
# shows existing counts.
rule count:
    input:
        f"results/{EMULATOR}/metrics.csv",
        [
            f"results/{EMULATOR}/counts/{study}/access_pattern.svg"
            for study in config["studies"]
            if STUDIES[study].settings["problem"] == "reduction"
        ],


# Compare these counts with the recordings' hardware counters: a table in docs/. Needs no GPU.
rule counted_against_ncu:
    input:
        comparisons,


# Run every kernel under NVIDIA's compute-sanitizer. Needs a GPU and the CUDA toolkit. Not part of `all`.
rule sanitize:
    input:
        lambda wildcards: [
            f"results/{platform}/sanitizer/.verdict" for platform in watched_platforms(list(MODELS), PLATFORMS)
        ],
