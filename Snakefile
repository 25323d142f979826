# kernelsweep: configuration, includes and targets. The rules are in workflow/rules/, one file a stage.

from snakemake.utils import min_version

min_version("9.20")


include: "workflow/rules/library.smk"
include: "workflow/rules/forked_scripts.smk"
include: "workflow/rules/stop.smk"
include: "workflow/rules/start.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/check.smk"
include: "workflow/rules/compile.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/baselines.smk"
include: "workflow/rules/recording.smk"
include: "workflow/rules/profile.smk"
include: "workflow/rules/accesses.smk"
include: "workflow/rules/prove.smk"
include: "workflow/rules/sanitize.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/grade.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/publish.smk"


rule all:
    default_target: True
    input:
        targets.everything,


# The targets, a line each: the run's last words (start.smk).
rule help:
    input:
        [],


# Each study is also a target: snakemake --cores 1 unrolling
for study in [*PROJECT.studies, *PROJECT.mistakes]:

    rule:
        name:
            study
        input:
            targets(name=study).study,


# A C++ header of constants for each of the run's studies: its best configurations. It needs times, from a GPU or from a
# recording. Not part of `all`.
rule header:
    input:
        targets.header,


# A view of the page's explorer as a PDF, its LaTeX and its points: --config view='<the page's address>' width=3.3. Not
# part of `all`.
rule figure:
    input:
        targets.figure,


# Only compile. On a machine without the GPU, name its architecture: --config arch=sm_90.
rule build:
    input:
        targets.build,


# Compare each kernel before and after an edit; the current measurements are brought up to date first. `compare` in
# config.yaml can name another sweep to compare with. Not part of `all`.
rule compare:
    input:
        targets.compare,


# Judge untrusted kernels for a study: --config candidate=<file> study=<study>. Not part of `all`.
rule grade:
    input:
        targets.grade,


# Collect hardware counters with NVIDIA's Nsight Compute. Needs a GPU and the CUDA toolkit. Part of `all` if config.yaml
# says profile: true.
rule profile:
    input:
        targets.profile,


# Prove every kernel: small and ragged points with races, barriers, bounds and uninitialised reads watched. Part of `all`.
rule prove:
    input:
        targets.prove,


# Count every kernel's memory accesses on the emulator, and prove the kernels. Needs no GPU. Not part of `all`, which
# shows existing counts.
rule count:
    input:
        targets.count,


# Run every kernel under NVIDIA's compute-sanitizer. Needs a GPU and the CUDA toolkit. Not part of `all`.
rule sanitize:
    input:
        targets.sanitize,


include: "workflow/rules/reruns.smk"
