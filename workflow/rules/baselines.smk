# Baselines for kernels on the same device: libraries' functions, the driver's copy and fill.

from kernelsweep.sweep.baselines.libraries import LIBRARIES


# Libraries' functions on the GPU: one job a library.
rule measure_library:
    input:
        library=inputs(suffix="so").cub,
        report=inputs(suffix="json").cub,
        device=path("device"),
        problem=code.problem_files,
    output:
        points=path("rival"),
        samples=path("rival_samples"),
    log:
        log("measure_library", "{study}", "{rival}"),
    wildcard_constraints:
        platform=names.TIMED,
        rival="|".join(LIBRARIES),
    priority: resources.priority
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
        measuring=1,
    params:
        plan=plan.library,
    script:
        "../scripts/sweep/measure_library.py"


# The bandwidth that the device's memory reaches: the driver's copy and fill.
rule measure_driver:
    input:
        device=path("device"),
        problem=code.problem_files,
    output:
        path("driver_limits"),
    log:
        log("measure_driver", "{study}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: resources.priority
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
        measuring=1,
    params:
        plan=plan.driver,
    script:
        "../scripts/sweep/measure_driver.py"
