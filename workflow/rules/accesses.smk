# Who accesses what in each step of a study's story: pictures, traced on the emulator.


# One job draws all of a study's pictures: each takes less than a tenth of a second. It is less urgent than anything that
# the GPU waits for.
rule draw_accesses:
    input:
        kernels=code(platform=EMULATOR).kernel_files,
        included=code(platform=EMULATOR).included_by_kernels,
        emulator=inputs.emulator_runtime,
        problem=code.problem_files,
    output:
        directory(path("accesses")),
    log:
        log("draw_accesses", "{study}", scope=EMULATOR),
    priority: LAST
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.accesses,
    script:
        "../scripts/observe/draw_accesses.py"
