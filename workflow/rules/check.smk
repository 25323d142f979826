# Problem files, before anything is built: their functions at a small point, and the names that kernels' arguments have.


localrules:
    check_problem,


rule check_problem:
    input:
        problem=for_job(inputs.problem_files),
    output:
        path("checked_problem"),
    log:
        log("check_problem", "{study}", scope="build"),
    # Before any build, and before the host's times, which take all cores.
    priority: resources.build_priority(PROJECT) + 2
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernels=for_job(parameters.checked_kernels),
        rivals=for_job(
            lambda project, study: {
                name: call.values() for name, call in project.studies[study].settings.rival_calls.items()
            }
        ),
        seed=config["seed"],
        seconds=config["measuring"]["timeout_seconds"],
        code=code_of("measure/check_problem.py"),
    script:
        "../scripts/measure/check_problem.py"
