# Kernels under NVIDIA's Nsight Compute: their hardware counters, one job a kernel, never in a run that is timed.


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    collect_metrics,


rule profile_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        build=for_job(inputs.observed_build),
        searched=for_job(inputs.searched_points),
        device=path("device"),
        problem=by_code(inputs.problem_files),
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
        metrics=for_job(parameters.metric_definitions),
        profiling=config["profiling"],
        kernel=for_job(parameters.kernel_settings),
        study=for_job(
            lambda project, study: parameters.settings(project, study, "problem", "reference", "steps", "profiled")
        ),
        sweep=for_job(parameters.sweep),
        build=for_job(lambda project, platform: building.compiler(project, project.target(platform))),
        seed=config["seed"],
    script:
        "../scripts/observe/profile_kernel.py"


rule collect_metrics:
    input:
        metrics=for_job(inputs.kernel_metrics),
    output:
        path("metrics"),
    log:
        log("collect_metrics"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/observe/collect_metrics.py"
