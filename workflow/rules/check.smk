# Problem files, before anything is built: their functions at a small point, and the names that kernels' arguments have.


localrules:
    check_problem,


rule check_problem:
    input:
        problem=for_job(inputs.problem_files),
    output:
        files.checked_problem(),
    log:
        files.log("check_problem", "{study}", scope="build"),
    # Before any build, and more than as many jobs together as would fit on the cores that it takes.
    priority: (CORES or 1) * resources.build_priority(PROJECT) + 1
    conda:
        "../../envs/kernelsweep.yaml"
    # Alone, so that nothing runs beside it with the mistake that it finds.
    threads: CORES or 1
    params:
        kernels=for_job(parameters.checked_kernels),
        rivals=for_job(parameters.setting, key="rival_calls"),
        seed=config["seed"],
        code=code_of("measure/check_problem.py"),
    script:
        "../scripts/measure/check_problem.py"
