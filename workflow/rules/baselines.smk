# Baselines for kernels on the same device: the host's sums, libraries' functions, the driver's copy and fill.

from kernelsweep.baselines.libraries import LIBRARIES


rule measure_host:
    input:
        source=of_home("workflow/scripts/kernelsweep/baselines/host_sums.cpp", Path.cwd()),
        problem=for_job(inputs.problem_files),
    output:
        path("baselines"),
    log:
        log("measure_host", "{study}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: resources.first_priority(PROJECT) + 1
    conda:
        "../../envs/kernelsweep.yaml"
    # Run alone (all cores), so that builds and figures don't disturb the host's times; and first, so that nothing has to
    # wait until all cores are free.
    threads: CORES or 1
    resources:
        **at_the_device(resources.shortest_minutes),
    params:
        baselines=for_job(parameters.setting, key="baselines"),
        reference=for_job(parameters.setting, key="reference"),
        problem=for_job(parameters.setting, key="problem"),
        measuring=config["measuring"],
        seed=config["seed"],
        code=code_of("measure/measure_host.py"),
    script:
        "../scripts/measure/measure_host.py"


# Libraries' functions on the GPU: one job a library.
rule measure_library:
    input:
        library=for_job(inputs.cub, suffix="so"),
        report=for_job(inputs.cub, suffix="json"),
        device=path("device"),
        problem=for_job(inputs.problem_files),
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
        **at_the_device(resources.minutes_of_library),
        measuring=1,
    params:
        journal=path("journal", kernel="{rival}"),
        problem=for_job(parameters.setting, key="problem"),
        call=for_job(lambda project, study, rival: project.studies[study].settings.rival_calls[rival].values()),
        sweep=for_job(parameters.sweep_beside_kernels),
        measuring=config["measuring"],
        seed=config["seed"],
        code=code_of(
            "measure/measure_library.py",
            *(f"kernelsweep/{name}" for name in MEASURING),
            "kernelsweep/baselines/library_platform.py",
        ),
    script:
        "../scripts/measure/measure_library.py"


# The bandwidth that the device's memory reaches: the driver's copy and fill.
rule measure_driver:
    input:
        device=path("device"),
        problem=for_job(inputs.problem_files),
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
        **at_the_device(resources.minutes_of_library),
        measuring=1,
    params:
        limits=for_job(inputs.driver_limits),
        problem=for_job(parameters.setting, key="problem"),
        reference=for_job(parameters.setting, key="reference"),
        sweep=for_job(parameters.sweep_beside_kernels),
        measuring=config["measuring"],
        code=code_of("measure/measure_driver.py"),
    script:
        "../scripts/measure/measure_driver.py"
