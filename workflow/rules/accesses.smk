# Who accesses what in each step of a study's story: pictures, traced on the emulator.


# One job draws all of a study's pictures: each takes less than a tenth of a second. A study has a rule of its own, because
# a rule names its outputs.
for study in PROJECT.studies:

    if inputs.drawn_accesses(PROJECT, study):

        # Less urgent than anything that the GPU waits for.
        rule:
            name:
                f"draw_accesses_{study}"
            input:
                kernels=by_code(inputs.pictured_sources, study=study),
                included=by_code(inputs.pictured_includes, study=study),
                binaries=inputs.pictured_builds(PROJECT, study, "bin"),
                reports=inputs.pictured_builds(PROJECT, study, "json"),
                problem=inputs.problem_files(PROJECT, study),
            output:
                inputs.drawn_accesses(PROJECT, study),
            log:
                files.log("draw_accesses", study, scope=EMULATOR),
            priority: -1
            localrule: True
            conda:
                "../../envs/kernelsweep.yaml"
            params:
                kernel_codes=for_job(parameters.pictured_codes, study=study),
                study=study,
                steps=for_job(parameters.plain_accesses, study=study),
                kernels=for_job(parameters.all_kernel_settings, study=study),
                seed=config["seed"],
                timeout_seconds=config["measuring"]["timeout_seconds"],
                code=code_of("observe/draw_accesses.py"),
            script:
                "../scripts/observe/draw_accesses.py"
