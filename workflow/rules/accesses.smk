# Who accesses what in each step of a study's story: pictures, traced on the emulator.

from kernelsweep.sweep.kernels.units import EMULATOR

# One job draws all of a study's pictures: each takes less than a tenth of a second. A study has a rule of its own, because
# a rule names its outputs. It is less urgent than anything that the GPU waits for.
for study in PROJECT.studies:

    if drawn := for_users(inputs.drawn_accesses)(PROJECT, study):

        rule:
            name:
                f"draw_accesses_{study}"
            input:
                kernels=by_code(inputs.kernel_files, scope=scope_of(EMULATOR, study)),
                included=by_code(
                    lambda project, scope: [
                        file for kernel in project.kernels_of(scope) for file in inputs.included(project, *kernel)
                    ],
                    scope=scope_of(EMULATOR, study),
                ),
                emulator=for_job(inputs.emulator_files),
                problem=by_code(inputs.problem_files, study=study),
            output:
                drawn,
            log:
                log("draw_accesses", study, scope=EMULATOR),
            priority: -1
            localrule: True
            conda:
                "../../envs/kernelsweep.yaml"
            params:
                study=study,
                kernels=for_job(parameters.pictured_kernels, study=study),
                seed=config["seed"],
                timeout_seconds=config["measuring"]["timeout_seconds"],
            script:
                "../scripts/observe/draw_accesses.py"
