# Problem files, before anything is built: their functions at a small point, and the names that kernels' arguments have.


rule check_problem:
    input:
        problem=code.problem_files,
    output:
        path("checked_problem"),
    log:
        log("check_problem", "{study}", scope="build"),
    # Before any build.
    priority: FIRST + 1
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.problem,
    script:
        "../scripts/sweep/check_problem.py"


# A study with a mistake in its files is left out. Its job fails, so that the run ends with the mistake and not with 0.
rule leave_out:
    output:
        path("left_out"),
    log:
        log("leave_out", "{study}", scope="build"),
    retries: 0
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.mistake,
    script:
        "../scripts/sweep/leave_out.py"
