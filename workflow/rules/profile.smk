# Kernels under NVIDIA's Nsight Compute: their hardware counters, one job a kernel, never in a run that is timed.


rule profile_kernel:
    input:
        kernel=code.kernel_file,
        included=code.included,
        build=inputs.observed_build,
        searched=inputs.searched_points,
        device=path("device"),
        problem=code.problem_files,
    output:
        metrics=path("profiled_metrics"),
        # For Nsight Compute's window; empty where it gave no counters.
        reports=directory(path("profiles")),
    log:
        log("profile_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/profiling.yaml"
    resources:
        **AT_THE_DEVICE,
    params:
        plan=plan.profile,
    script:
        "../scripts/observe/profile_kernel.py"


rule collect_metrics:
    input:
        metrics=inputs.kernel_metrics,
    output:
        path("metrics"),
    log:
        log("collect_metrics"),
    wildcard_constraints:
        platform=names.MEASURED,
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/observe/collect_metrics.py"
