# Kernels under NVIDIA's Nsight Compute: their hardware counters, one job a kernel, never in a run that is timed.

from kernelsweep.project.project import Project


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    collect_metrics,


rule profile_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        binary=for_job(inputs.observed_build, suffix="bin"),
        report=for_job(inputs.observed_build, suffix="json"),
        searched=for_job(inputs.searched_points),
        device=files.device(),
    output:
        metrics=files.profiled_metrics(),
        # For Nsight Compute's window; empty where it gave no counters.
        reports=directory(files.profiles()),
    log:
        files.log("profile_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/profiling.yaml"
    resources:
        **at_the_device(resources.minutes_under_ncu),
    params:
        kernel_code=for_job(parameters.kernel_code),
        metrics=for_job(parameters.metric_definitions),
        profiling=config["profiling"],
        kernel=for_job(parameters.kernel_settings),
        study=for_job(
            lambda project, study: parameters.settings(project, study, "problem", "reference", "steps", "profiled")
        ),
        axes=for_job(parameters.axes),
        restrictions=for_job(parameters.restrictions),
        tied=for_job(parameters.setting, key="tied"),
        search=for_job(parameters.setting, key="search"),
        include=include_folders(Path.cwd()),
        store=files.unit_store(),
        compiler=for_job(parameters.measuring_compiler),
        target=for_job(Project.target),
        seed=config["seed"],
        code=code_of("observe/profile_kernel.py"),
    script:
        "../scripts/observe/profile_kernel.py"


rule collect_metrics:
    input:
        for_job(inputs.kernel_metrics),
    output:
        files.metrics(),
    log:
        files.log("collect_metrics"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/collect_metrics.py"),
    script:
        "../scripts/observe/collect_metrics.py"
