# Kernels under NVIDIA's compute-sanitizer: one job a kernel. Nothing is timed, so jobs share the GPU.

from kernelsweep.observe.sanitizer import TOOLS


# It takes the place of a job that measures, where none of these is ready; a study is published after it.
rule sanitize_kernel:
    input:
        kernel=code.kernel_file,
        included=code.included,
        build=inputs.observed_build,
        searched=inputs.searched_points,
        device=path("device"),
        problem=code.problem_files,
    output:
        path("sanitized_proofs"),
    log:
        log("sanitize_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    threads: len(TOOLS)
    resources:
        **AT_THE_DEVICE,
        measuring=lambda wildcards: int(kind_of(wildcards.platform).needs_gpu),
    params:
        plan=plan.sanitize,
    script:
        "../scripts/observe/sanitize_kernel.py"


# What the target `sanitize` says at its end.
use rule collect_proofs as judge_sanitized with:
    input:
        proofs=inputs(file="sanitized_proofs").of_kernels,
    output:
        answer=path("answer", folder="{platform}/sanitizer"),
    log:
        log("judge_sanitized"),
    localrule: True
