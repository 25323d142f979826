# Each kernel's accesses to memory, counted on the emulator: one job a kernel.

from kernelsweep.sweep.kernels.build_targets import EMULATOR


rule count_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        emulator=for_job(inputs.emulator_files),
        problem=for_job(inputs.problem_files),
    output:
        path("counts", platform=EMULATOR),
    log:
        log("count_kernel", "{study}", "{kernel}", scope=EMULATOR),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernel_code=for_job(parameters.kernel_code),
        points=for_job(lambda project, study, kernel: [*map(dict, observed.counted(project, study, kernel))]),
        build=for_job(building.build_settings),
        kernel=for_job(parameters.kernel_settings),
        seed=config["seed"],
        timeout_seconds=config["measuring"]["timeout_seconds"],
        code=code_of("observe/count_kernel.py"),
    script:
        "../scripts/observe/count_kernel.py"
