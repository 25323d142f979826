# Who accesses what in each step of a study's story: pictures, traced on the emulator.

from kernelsweep.project.inputs import drawn_accesses
from kernelsweep.study.kernels.units import EMULATOR

# One job draws all of a study's pictures: each takes less than a tenth of a second. A study has a rule of its own, because
# a rule names its outputs. It is less urgent than anything that the GPU waits for.
for study in PROJECT.studies:

    if drawn := for_users(drawn_accesses)(PROJECT, study):

        rule:
            name:
                f"draw_accesses_{study}"
            input:
                kernels=code(scope=scope_of(EMULATOR, study)).kernel_files,
                included=code(scope=scope_of(EMULATOR, study)).included_by_kernels,
                emulator=inputs.emulator_files,
                problem=code(study=study).problem_files,
            output:
                drawn,
            log:
                log("draw_accesses", study, scope=EMULATOR),
            priority: -1
            localrule: True
            conda:
                "../../envs/kernelsweep.yaml"
            params:
                plan=plan(study=study).accesses,
            script:
                "../scripts/observe/draw_accesses.py"
