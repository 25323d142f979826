# kernelsweep: configuration, includes, targets. The rules are in workflow/rules/, one file a stage.

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/metrics.yaml"
configfile: "config/config.yaml"


# The introduction to Snakemake's own report: snakemake --report report.zip
report: "workflow/report/workflow.rst"


include: "workflow/rules/project.smk"
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
        targets.everything(PROJECT),


# Each study is a target of its own: snakemake --cores 1 unrolling
for study in PROJECT.studies:

    rule:
        name:
            study
        input:
            targets.study(PROJECT, study),


# Compile only. On a machine without the GPU, name its architecture: --config arch=sm_90
rule build:
    input:
        targets.build(PROJECT),


# Hardware counters of every kernel, under NVIDIA's Nsight Compute. It comes with the CUDA toolkit and needs a GPU. `all`
# includes this if config.yaml says profile: true.
rule profile:
    input:
        for_job(targets.profile),


# Each kernel's accesses to memory, and mistakes in them, counted on the emulator. `all` shows counts that exist.
rule count:
    input:
        targets.count(PROJECT),


# The counts compared with the counters of the recordings' GPUs: a table in docs/. Needs no GPU.
rule counted_against_ncu:
    input:
        for_job(targets.counted_against_ncu),


# Every kernel under NVIDIA's compute-sanitizer, which comes with the CUDA toolkit and needs a GPU. Not part of `all`.
rule sanitize:
    input:
        for_job(targets.sanitize),


# The effect of an edit on each kernel: the current measurements, brought up to date first, compared with those before
# it; or two other sweeps, as `compare` in config.yaml names them. Not part of `all`.
rule compare:
    input:
        for_job(targets.compare),


# The recordings and your own GPU beside each other; its measurements are made first if they don't exist.
rule devices:
    input:
        files.devices("devices.md"),


# Everything that `all` makes, to be kept or published: one file a platform, from which the same tables and figures can
# be drawn again on any machine.
rule archive:
    input:
        targets.archive(PROJECT),


# A C++ header that reduces arrays of each size by the best configuration. It needs times, from a GPU or from a recording,
# of studies whose kernels leave one value after one launch. Not part of `all`.
rule header:
    input:
        for_job(targets.header),
