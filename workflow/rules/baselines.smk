# Baselines for kernels on the same device: libraries' functions, the driver's copy and fill.

from kernelsweep.baselines.libraries import LIBRARIES


# Libraries' functions on the GPU: one job a library.
rule measure_library:
    input:
        library=for_job(inputs.cub, suffix="so"),
        report=for_job(inputs.cub, suffix="json"),
        device=path("device"),
        problem=by_code(inputs.problem_files),
    output:
        points=path("rival"),
        samples=path("rival_samples"),
    log:
        log("measure_library", "{study}", "{rival}"),
    wildcard_constraints:
        platform=names.TIMED,
        rival="|".join(LIBRARIES),
    # Few points, but the library is started for each visit, which takes as long as a long kernel.
    priority: resources.first_priority(PROJECT) - 1
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
        measuring=1,
    params:
        journal=path("journal", kernel="{rival}"),
        problem=for_job(parameters.setting, key="problem"),
        call=for_job(lambda project, study, rival: project.studies[study].settings.rival_calls[rival].values()),
        sweep=for_job(parameters.sweep_beside_kernels),
        measuring=config["measuring"],
        seed=config["seed"],
    script:
        "../scripts/measure/measure_library.py"


# The bandwidth that the device's memory reaches: the driver's copy and fill.
rule measure_driver:
    input:
        device=path("device"),
        problem=by_code(inputs.problem_files),
    output:
        path("driver_limits"),
    log:
        log("measure_driver", "{study}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: resources.first_priority(PROJECT) - 1
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
        measuring=1,
    params:
        limits=for_job(inputs.driver_limits),
        problem=for_job(parameters.setting, key="problem"),
        reference=for_job(parameters.setting, key="reference"),
        sweep=for_job(parameters.sweep_beside_kernels),
        measuring=config["measuring"],
    script:
        "../scripts/measure/measure_driver.py"
