# kernelsweep: configuration, includes, targets. The rules are in workflow/rules/, one file a stage.

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/metrics.yaml"
configfile: "config/config.yaml"


# The opening words of Snakemake's own report, snakemake --report report.zip.
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
        # Where your own GPU is measured, and there is another or a recording to set it beside. Otherwise nothing in it would
        # be yours.
        ["results/devices/devices.md"] if MODELS and (len(MODELS) > 1 or recordings(ROOT)) else [],


# Each study is a target of its own: snakemake --cores 1 unrolling
for study in STUDIES:

    rule:
        name:
            study
        input:
            [end_of_run(platform, study) for platform in PLATFORMS],


# Everything that `all` makes, packed to be kept or published: one file a platform, from which the same tables and figures
# can be drawn again on any machine.
rule archive:
    input:
        [f"results/archive/{platform}.tar.gz" for platform in PLATFORMS],


# The recordings and your own GPU, which is measured first where it hasn't been, beside each other.
rule devices:
    input:
        "results/devices/devices.md",


# A C++ header that reduces arrays by each size's best configuration, from the studies whose kernels leave one value by one
# launch. Needs times: a GPU's, or those of a recording that has such kernels. Not part of `all`.
rule header:
    input:
        lambda wildcards: headers(),


# Only compile: on a machine without the GPU, name its architecture by --config arch=sm_90.
rule build:
    input:
        [binaries(study, kernel) for study in config["studies"] for kernel in STUDIES[study].kernels],


# What an edit did to each kernel: the measurements of now, brought up to date first, against those before it; or two other
# sweeps, as `compare` in config.yaml names them. Not part of `all`.
rule compare:
    input:
        lambda wildcards: comparison_verdict(),


# Every kernel's hardware counters, under NVIDIA's Nsight Compute, which comes with the CUDA toolkit and needs a GPU. Part
# of `all` where config.yaml says profile: true.
rule profile:
    input:
        lambda wildcards: [f"results/{platform}/metrics.csv" for platform in to_profile("The target profile")],


# What every kernel does to memory, counted on the emulator, and mistakes in it. Needs no GPU. Not part of `all`, which
# shows what has been counted.
rule count:
    input:
        f"results/{EMULATOR}/metrics.csv",
        [
            f"results/{EMULATOR}/counts/{study}/access_pattern.svg"
            for study in config["studies"]
            if STUDIES[study].settings["problem"] == "reduction"
        ],


# The same counts held against a GPU's counters, those of the recordings: a table in docs/. Needs no GPU.
rule counted_against_ncu:
    input:
        comparisons,


# Every kernel under NVIDIA's compute-sanitizer, which comes with the CUDA toolkit and needs a GPU. Not part of `all`.
rule sanitize:
    input:
        lambda wildcards: [
            f"results/{platform}/sanitizer/.verdict" for platform in watched_platforms(list(MODELS), PLATFORMS)
        ],
