# Baselines for kernels on the same device: libraries' functions, the driver's copy and fill.

from kernelsweep.sweep.baselines.libraries import LIBRARIES
from kernelsweep.project.resources import BASELINES


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
    # Few points, but the library is started for each visit, which takes as long as a long kernel.
    priority: BASELINES
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
    priority: BASELINES
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
        measuring=1,
    params:
        plan=plan.driver,
    script:
        "../scripts/sweep/measure_driver.py"
